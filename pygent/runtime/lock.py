"""One lock for each workspace: who changes files there does so alone, across runtimes."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from ..cancel import CancelScope
from .paths import PathLike

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
def workspace_lock(path: PathLike) -> Generator[None]:
    """Hold the lock of the workspace at a path within a ``with`` block.

    Whoever holds it already, in this context or one copied from it, goes straight on. Waiting
    ends when the current `CancelScope` does.
    """
    real = os.path.realpath(path)
    with _guard:
        lock = _locks.setdefault(real, _PathLock())
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
