"""One lock for each workspace: who changes files there does so alone, across runtimes."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from ..cancel import CancelScope

__all__ = ["workspace_lock"]

_POLL = 0.05


class _PathLock:
    """A lock that knows by which call chain it is held."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holder: object | None = None


_guard = threading.Lock()
_locks: weakref.WeakValueDictionary[str, _PathLock] = weakref.WeakValueDictionary()
_held: ContextVar[Mapping[str, object]] = ContextVar(
    "pygent_workspace_locks",
    default=MappingProxyType({}),
)


@contextmanager
def workspace_lock(real: str) -> Generator[None]:
    """Hold the lock of the workspace at a real path within a ``with`` block.

    Whoever holds it already, in this context or one copied from it, goes straight on. Waiting
    ends when the current `CancelScope` does.
    """
    with _guard:
        lock = _locks.get(real)
        if lock is None:
            _locks[real] = lock = _PathLock()
    held = _held.get()
    token = held.get(real)
    if token is not None and lock.holder is token:
        yield
        return
    scope = CancelScope.current()
    scope.check()
    while not lock.lock.acquire(timeout=_POLL):
        scope.check()
    lock.holder = token = object()
    var = _held.set({**held, real: token})
    try:
        yield
    finally:
        _held.reset(var)
        lock.holder = None
        lock.lock.release()
