"""Signals end the work once: by an exception, or by cancelling an agent that is at work.

An exception can come between any two lines, also between the start of a command and the moment
where somebody feels responsible for it. Cancelling cannot, and is what is tried first.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

__all__ = ["Ended", "cancelling", "tidy_signals"]

_PATIENCE = 3
_GRACE = 3.0
_AGAIN = 0.05


class Ended(KeyboardInterrupt):
    """A signal asked the process to end. Whatever stops for Ctrl-C stops for this."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def tidy_signals() -> AbstractContextManager[None]:
    """Turn SIGTERM and SIGHUP into `Ended` within a ``with`` block.

    What comes while the first one is seen to is ignored; who insists gets an end at once.
    """
    return _once((signal.SIGTERM, signal.SIGHUP))


@contextmanager
def cancelling(cancel: Callable[[], None]) -> Generator[None]:
    """Have ``cancel`` called at a signal within a ``with`` block, which then ends with `Ended`.

    Work that does not heed it gets the exception in its midst after a moment.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch = _Watch(cancel)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {n: signal.signal(n, watch.handle) for n in _heeded(numbers)}
    try:
        yield
    finally:
        watch.close()
        # After a signal the end is under way: those that follow are not to break it.
        for number, handler in before.items() if not watch.received else ():
            signal.signal(number, handler)
    if watch.received:
        raise Ended(watch.received[0])


class _Watch:
    """Calls a function in a thread of its own at the first signal: handlers must not take locks."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self.received: list[int] = []
        self._cancel = cancel
        self._insisting = False
        self._over = threading.Event()
        self._read, self._write = os.pipe()
        self._main = threading.get_ident()
        self._thread = threading.Thread(target=self._run, name="pygent-signals", daemon=True)
        self._thread.start()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take a signal; the first one wakes the thread."""
        self.received.append(number)
        if self._insisting:
            self._insisting = False
            raise Ended(self.received[0])
        if len(self.received) == 1:
            os.write(self._write, b"!")
        elif len(self.received) > _PATIENCE:
            os._exit(128 + number)

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        os.write(self._write, b".")
        self._thread.join()
        os.close(self._read)
        os.close(self._write)

    def _run(self) -> None:
        if os.read(self._read, 1) != b"!":
            return
        # The turn may not have begun yet: it is told again until it is over.
        until = time.monotonic() + _GRACE
        while time.monotonic() < until and not self._over.is_set():
            self._cancel()
            self._over.wait(_AGAIN)
        if not self._over.is_set():
            self._insisting = True
            signal.pthread_kill(self._main, self.received[0])


@contextmanager
def _once(numbers: Iterable[int]) -> Generator[None]:
    """Raise `Ended` at the first of some signals, and ignore those that follow."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            raise Ended(number)
        if count > _PATIENCE:
            os._exit(128 + number)

    before = {number: signal.signal(number, handle) for number in _heeded(numbers)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded(numbers: Iterable[int]) -> list[int]:
    """Leave out what the parent had ignored (nohup): it stays ignored."""
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
