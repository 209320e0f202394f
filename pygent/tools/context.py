"""What a running tool can know of the call that it answers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

__all__ = ["CallContext"]

_current: ContextVar[CallContext | None] = ContextVar("pygent_call", default=None)


@dataclass(frozen=True)
class CallContext:
    """The call, the agent that makes it, and how output is shown while it is produced."""

    call_id: str
    agent: Any
    show: Callable[[str], None]

    @classmethod
    def current(cls) -> CallContext | None:
        """Return the call that the calling code answers; None outside of any."""
        return _current.get()

    @contextmanager
    def active(self) -> Generator[CallContext]:
        """Make this the current call within a ``with`` block."""
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)
