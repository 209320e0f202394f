"""Calling code that may not know how to stop."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..cancel import CancelScope
from ..errors import Cancelled

__all__ = ["invoke"]

T = TypeVar("T")


def invoke(func: Callable[[], T], scope: CancelScope, *, honours_cancel: bool) -> T:
    """Call ``func`` with ``scope`` current.

    Code that honours its scope runs in this thread, and so does what the main thread calls without
    a deadline: there Ctrl-C interrupts it where it is. Other code runs in a thread of its own,
    and is left behind when the scope ends: Python cannot kill it. What it returns then is dropped.
    """
    if honours_cancel or (scope.deadline is None and _is_main()):
        with scope.active():
            return func()
    with scope.active():
        worker = _Worker(func)
    with scope.stopping(worker.wake):
        worker.wait()
    return worker.outcome(scope)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


class _Worker(Generic[T]):
    """One call in a thread of its own."""

    def __init__(self, func: Callable[[], T]) -> None:
        self._func = func
        self._woken = threading.Event()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="pygent-call", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._func()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is read
            self._error = error
        self._done = True
        self._woken.set()

    def wake(self) -> None:
        """Stop waiting for the call."""
        self._woken.set()

    def wait(self) -> None:
        """Wait until the call is done, or until `wake`."""
        self._woken.wait()

    def outcome(self, scope: CancelScope) -> T:
        """Return what the call returned, or raise what it raised, or say that it was left."""
        if not self._done:
            # Code that does honour its scope is just on its way out: give it a moment.
            self._thread.join(0.2)
        if self._error is not None:
            raise self._error
        if self._done:
            result: T = self._result
            return result
        try:
            scope.check()
        except Cancelled as error:
            error.abandoned = True
            raise
        raise AssertionError("the wait ended with the scope still open")
