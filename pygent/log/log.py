"""`Log`: the one writer of a session.

`append` writes the event, folds it into the state and tells the subscribers, in that order.
Nothing else records anything.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ..errors import StoreError
from ..events import Delta, Event, HistoryEdited, MessageAdded, event_from_dict, event_to_dict
from ..messages import History
from ..store import LoadReport, Store
from .files import Follower, plain
from .state import State

__all__ = ["Log"]

E = TypeVar("E", bound=Event)
Listener = Callable[[Event | Delta], None]


class Log:
    """An append-only list of events, in memory or in a store.

    Without a ``store`` nothing is left on disk. With one, the session is created at the first
    append; `Log.load` opens a session that is there.
    """

    def __init__(
        self,
        store: Store | None = None,
        session: str | None = None,
        *,
        parent: str | None = None,
        title: str | None = None,
        workspace: str | Path | None = None,
    ) -> None:
        self.store = store
        self.session = session or new_session_id()
        self.parent = parent
        self.title = title
        self.workspace = None if workspace is None else str(workspace)
        self.epoch = 0
        self.turn = 0
        self.report = LoadReport()
        self.state = State()
        self.state.history = History(self._user_appended, self._user_edited)
        self._followers: list[Follower] = []
        self._events: list[Event] = []
        self._listeners: list[Listener] = []
        self._lock = threading.RLock()
        self._writing: Event | None = None
        self._creating = False
        self._told = 0

    @classmethod
    def load(cls, store: Store, session: str) -> Log:
        """Return the log of a session in ``store``, ready to go on.

        Its ``report`` names what was damaged and could not be read.
        """
        log = cls(store, session)
        log.epoch = store.open(session)
        for raw in store.read(session, report=log.report):
            log._fold(event_from_dict(raw))
        # The number of an event that was lost counts as taken.
        log.state.seq = max(log.state.seq, store.last_seq(session))
        log.turn = log.state.turn
        return log

    @property
    def history(self) -> History:
        """The conversation so far: assistant entries are messages, all others dictionaries."""
        return self.state.history

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield what was recorded after event number ``after``, oldest first."""
        if self.store is None:
            yield from self._events[after:]
        elif self.epoch:
            yield from map(event_from_dict, self.store.read(self.session, after))

    def append(self, event: E, *, sync: bool = False) -> E:
        """Record an event and return it with its envelope; ``sync`` waits for the disk."""
        # On one line, so that no interrupt comes between the body and the lock's release.
        with self._lock: return self._append(event, sync=sync)  # fmt: skip  # noqa: E701

    def begin_turn(self) -> None:
        """Count a new turn: what is recorded from now on belongs to it."""
        self.turn = max(self.turn, self.state.turn) + 1

    def publish(self, delta: Delta) -> None:
        """Show a piece of something unfinished to who listens; it is not recorded."""
        stamped = replace(delta, session=self.session, after=self.state.seq)
        for listener in tuple(self._listeners):
            self._tell(listener, stamped)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event and delta from now on; returns how to stop that.

        A listener that fails is dropped, and the failure logged: what happened has happened.
        """
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def follow(self, follower: Follower, *, have: int = 0) -> None:
        """Have a file follow the conversation; it has the first ``have`` messages already.

        A file that does so already is not followed twice.
        """
        with self._lock:
            if any(type(f) is type(follower) and f.path == follower.path for f in self._followers):
                return
            for entry in self.history[have:]:
                follower.append(0, plain(entry))
            self._followers.append(follower)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody sees what happens while it happens."""
        return bool(self._listeners)

    def close(self) -> None:
        """Release the files that follow this log; the store stays open, it is not ours."""
        with self._lock:
            while self._followers:
                self._followers.pop().close()

    def _append(self, event: E, *, sync: bool) -> E:
        self._finish_interrupted()
        at = time.time()
        if self.store is not None and not self.epoch:
            self._create(self.store, at)
        stamped = event.stamped(
            session=self.session,
            seq=self.state.seq + 1,
            epoch=self.epoch,
            at=at,
            turn=event.turn or self.turn,
            parent=self.parent,
        )
        self._writing = stamped
        if self.store is not None:
            self.store.append(self.session, event_to_dict(stamped), sync=sync)
        self._fold(stamped)
        self._writing = None
        return stamped

    def _create(self, store: Store, at: float) -> None:
        interrupted, self._creating = self._creating, True
        try:
            self.epoch = store.create(
                self.session,
                at=at,
                parent=self.parent,
                title=self.title,
                workspace=self.workspace,
            )
        except StoreError:
            self._creating = False
            if not interrupted:
                raise
            self.epoch = store.epoch(self.session)  # we made it, and were cut short

    def _finish_interrupted(self) -> None:
        """Complete an append that a signal cut short after the event was written."""
        event = self._writing
        if event is None:
            return
        if self.store is None or self.store.has(self.session, event.seq):
            self._fold(event)
            for follower in self._followers:  # who may have it already, or half of it
                follower.rewrite([plain(entry) for entry in self.history])
        self._writing = None

    def _fold(self, event: Event) -> None:
        """Take an event in; whatever of that was done before is not done again."""
        if self.store is None and len(self._events) < event.seq:
            self._events.append(event)
        self.state.apply(event)
        for follower in self._followers:
            self._pass_on(follower, event)
        if self._told < event.seq:
            self._told = event.seq
            for listener in tuple(self._listeners):
                self._tell(listener, event)

    def _pass_on(self, follower: Follower, event: Event) -> None:
        history = self.history
        if isinstance(event, HistoryEdited):
            follower.rewrite([plain(entry) for entry in history])
        elif history and getattr(history[-1], "seq_", 0) == event.seq:
            follower.append(event.seq, plain(history[-1]))

    def _tell(self, listener: Listener, event: Event | Delta) -> None:
        try:
            listener(event)
        except Exception:
            import logging

            if listener in self._listeners:
                self._listeners.remove(listener)
            logging.getLogger("pygent").exception("a listener failed and was dropped")

    def _user_appended(self, entry: Any) -> None:
        self.append(MessageAdded(message=plain(entry)))

    def _user_edited(self) -> None:
        self.append(HistoryEdited(messages=[plain(entry) for entry in self.history]))


def new_session_id() -> str:
    """Return a name that sorts by time and that no other session has."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(4).hex()}"
