"""Errors in one line."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import PygentError
from . import streams
from .endings import ending_of

__all__ = ["guarded"]


def guarded(work: Callable[[], int]) -> int:
    """Return the exit code of some work; an error that is to be expected is told in one line."""
    try:
        return work()
    except (PygentError, OSError, KeyboardInterrupt) as error:
        ending = ending_of(error)
        if ending.error:
            streams.tell(f"pygent: {ending.error}")
        return ending.code
