"""A store that lives and dies with its process, and costs next to nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import StoreError
from .protocol import LoadReport, SessionInfo
from .record import envelope_of, preview_of
from .refusals import exists_already, no_session, number_taken, taken_over

__all__ = ["MemoryStore"]


class _Session:
    """One session; its last event is the last of ``events``, whatever interrupts a writer."""

    __slots__ = ("created", "epoch", "events", "parent", "preview", "title", "workspace")

    def __init__(
        self, created: float, parent: str | None, title: str | None, workspace: str | None
    ) -> None:
        self.created, self.parent, self.title, self.workspace = created, parent, title, workspace
        self.epoch = 1
        self.events: dict[int, Mapping[str, Any]] = {}
        self.preview: str | None = None

    @property
    def updated(self) -> float:
        if not self.events:
            return self.created
        return float(self.events[next(reversed(self.events))].get("at", 0.0))


class MemoryStore:
    """Keeps what it is given in memory. It keeps the mappings themselves: do not change them."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._blobs: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def _find(self, session: str) -> _Session:
        found = self._sessions.get(session)
        if found is None:
            raise no_session(session)
        return found

    def create(
        self,
        session: str,
        *,
        at: float,
        parent: str | None = None,
        title: str | None = None,
        workspace: str | None = None,
    ) -> int:
        """Begin a session."""
        new = _Session(at, parent, title, workspace)
        if self._sessions.setdefault(session, new) is not new:
            raise exists_already(session)
        return 1

    def open(self, session: str) -> int:
        """Raise the epoch: older writers are refused from now on."""
        found = self._find(session)
        with self._lock: found.epoch += 1  # fmt: skip  # noqa: E701 - see `_append`
        return found.epoch

    def append(self, session: str, event: Mapping[str, Any], *, sync: bool = False) -> None:
        """Keep one event; there is no disk to ``sync`` to."""
        # On one line, so that nothing can interrupt between the body and the lock's release.
        with self._lock: self._append(session, event)  # fmt: skip  # noqa: E701

    def _append(self, session: str, event: Mapping[str, Any]) -> None:
        found = self._find(session)
        seq, epoch, _, _ = envelope_of(event)
        if epoch < found.epoch:
            raise taken_over(session, epoch, found.epoch)
        events = found.events
        if events and seq <= next(reversed(events)):
            if events.get(seq) == event:
                return
            raise number_taken(session, seq)
        found.epoch = epoch
        events[seq] = event

    def has(self, session: str, seq: int) -> bool:
        """Return whether the event is there."""
        return seq in self._find(session).events

    def last_seq(self, session: str) -> int:
        """Return the number of the last event."""
        return next(reversed(self._find(session).events), 0)

    def epoch(self, session: str) -> int:
        """Return the session's epoch."""
        return self._find(session).epoch

    def read(
        self,
        session: str,
        after: int = 0,
        limit: int | None = None,
        *,
        report: LoadReport | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the events numbered above ``after``, in order."""
        events = self._find(session).events
        chosen = [seq for seq in list(events) if seq > after][:limit]
        return _yield(session, events, chosen, after, report)

    def sessions(
        self, *, workspace: str | None = None, limit: int | None = None, offset: int = 0
    ) -> list[SessionInfo]:
        """Return the sessions, the one that was last written to first."""
        found = [
            (kept.updated, name, kept)
            for name, kept in list(self._sessions.items())
            if workspace is None or kept.workspace == workspace
        ]
        found.sort(key=lambda entry: entry[:2], reverse=True)
        end = None if limit is None else offset + limit
        return [_info(name, kept) for _, name, kept in found[offset:end]]

    def rename(self, session: str, title: str | None) -> None:
        """Give a session another title."""
        self._find(session).title = title

    def delete(self, session: str) -> None:
        """Forget a session."""
        if self._sessions.pop(session, None) is None:
            raise no_session(session)

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes under their SHA-256."""
        import hashlib

        digest = hashlib.sha256(data).hexdigest()
        self._blobs[digest] = bytes(data)
        return digest

    def get_blob(self, digest: str) -> bytes:
        """Return what was put."""
        try:
            return self._blobs[digest]
        except KeyError:
            raise StoreError(f"no blob {digest!r} in memory") from None

    def close(self) -> None:
        """Nothing to let go of: memory goes with the object."""


def _info(name: str, kept: _Session) -> SessionInfo:
    if kept.preview is None:
        said = (preview_of(event) for event in list(kept.events.values()))
        kept.preview = next((text for text in said if text is not None), None)
    return SessionInfo(
        name,
        kept.created,
        kept.updated,
        len(kept.events),
        kept.title,
        kept.parent,
        kept.workspace,
        kept.preview,
    )


def _yield(
    session: str,
    events: Mapping[int, Mapping[str, Any]],
    chosen: list[int],
    after: int,
    report: LoadReport | None,
) -> Iterator[dict[str, Any]]:
    report = report if report is not None else LoadReport()
    for seq in chosen:
        report.lose_between(session, after, seq)
        report.read += 1
        after = seq
        yield dict(events[seq])
