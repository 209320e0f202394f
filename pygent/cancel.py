"""Deadlines and cancellation for code that runs in threads.

A `CancelScope` is current around each blocking call. Whatever blocks (a process, a request)
registers with `CancelScope.stopping` how it is interrupted; the scope calls that when it is
cancelled, from any thread, and when its deadline passes, from one alarm thread that the whole
process shares.
"""

from __future__ import annotations

import heapq
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import Cancelled, TimedOut

__all__ = ["CancelScope"]

_DAY = 86_400.0

_current: ContextVar[CancelScope | None] = ContextVar("pygent_cancel_scope", default=None)


class CancelScope:
    """A stretch of work with one deadline and one way to stop it.

    Scopes nest: a child ends with its parent, and never later than it.
    """

    __slots__ = ("_cancelled", "_deadline", "_lock", "_parent", "_stops", "timeout")

    def __init__(self, timeout: float | None = None, parent: CancelScope | None = None) -> None:
        self.timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._parent = parent
        self._lock = threading.Lock()
        self._cancelled = False
        self._stops: dict[int, Callable[[], None]] = {}

    @classmethod
    def current(cls) -> CancelScope:
        """Return the scope the calling code runs in; a fresh, endless one outside of any."""
        return _current.get() or cls()

    @contextmanager
    def active(self) -> Generator[CancelScope]:
        """Make this the current scope within a ``with`` block, if there is time left."""
        self.check()
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def cancel(self) -> None:
        """Stop the work, from any thread."""
        with self._lock:
            self._cancelled = True
            stops = list(self._stops.values())
        for stop in stops:
            stop()

    @property
    def cancelled(self) -> bool:
        """Whether this scope, or one around it, was cancelled."""
        return any(scope._cancelled for scope in self._chain())

    @property
    def deadline(self) -> float | None:
        """The earliest deadline that holds here, on the monotonic clock."""
        deadlines = [s._deadline for s in self._chain() if s._deadline is not None]
        return min(deadlines, default=None)

    def remaining(self) -> float | None:
        """Return the seconds left, or None when there is no deadline."""
        deadline = self.deadline
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether the work should no longer go on."""
        return self.cancelled or self.remaining() == 0.0

    def check(self) -> None:
        """Raise if the work should no longer go on."""
        if self.cancelled:
            raise Cancelled("cancelled")
        now = time.monotonic()
        # Outermost first: when the whole turn is over, it is the turn's limit that is named.
        for scope in reversed(list(self._chain())):
            if scope._deadline is not None and now >= scope._deadline:
                limit = f"{scope.timeout:g}" if scope.timeout is not None else "?"
                raise TimedOut(f"timeout after {limit}s", seconds=scope.timeout)

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Generator[None]:
        """Call ``stop`` if the scope is cancelled or runs out while the ``with`` block runs.

        ``stop`` may be called from another thread, and more than once.
        """
        key = next(_keys)
        scopes = list(self._chain())
        deadline = self.deadline
        alarm = None if deadline is None else _alarm.set(deadline, stop)
        try:
            for scope in scopes:
                with scope._lock:
                    scope._stops[key] = stop
            if self.over:
                stop()
            yield
        finally:
            for scope in scopes:
                with scope._lock:
                    scope._stops.pop(key, None)
            if alarm is not None:
                _alarm.unset(alarm)

    def _chain(self) -> Iterator[CancelScope]:
        scope: CancelScope | None = self
        while scope is not None:
            yield scope
            scope = scope._parent


class _Alarm:
    """One thread that calls functions at their time; it starts with the first of them."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._due: list[tuple[float, int]] = []
        self._calls: dict[int, Callable[[], None]] = {}
        self._thread: threading.Thread | None = None
        self._asleep_until = math.inf

    def set(self, when: float, call: Callable[[], None]) -> int:
        """Have ``call`` called at ``when``; returns what `unset` wants."""
        key = next(_keys)
        with self._wake:
            self._calls[key] = call
            heapq.heappush(self._due, (when, key))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="pygent-alarm", daemon=True)
                self._thread.start()
            elif when < self._asleep_until:
                self._wake.notify()
        return key

    def unset(self, key: int) -> None:
        """Forget a call; once this returns it is not called any more."""
        with self._wake:
            self._calls.pop(key, None)
            while self._due and self._due[0][1] not in self._calls:
                heapq.heappop(self._due)

    def _run(self) -> None:
        with self._wake:
            while True:
                now = time.monotonic()
                while self._due and self._due[0][0] <= now:
                    call = self._calls.pop(heapq.heappop(self._due)[1], None)
                    if call is not None:
                        _ring(call)
                # What is further away than a day is looked at again then: no clock waits for ever.
                soon = min(self._due[0][0], now + _DAY) if self._due else math.inf
                self._asleep_until = soon
                self._wake.wait(soon - now if self._due else None)


def _ring(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception:
        import logging

        # One broken call must not silence all later deadlines of the process.
        logging.getLogger("pygent").exception("a deadline could not be enforced")


_keys = itertools.count()
_alarm = _Alarm()


def _after_fork() -> None:
    global _alarm
    _alarm = _Alarm()


os.register_at_fork(after_in_child=_after_fork)
