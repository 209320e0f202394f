"""Around every command: streams that work, signals that end it tidily, errors in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import PygentError
from . import streams
from .endings import ending_of
from .signals import tidy_signals

__all__ = ["enter", "guarded"]


def enter(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    streams.prepare()
    try:
        with tidy_signals():
            return guarded(lambda: _dispatch(arguments))
    finally:
        streams.finish()


def guarded(work: Callable[[], int]) -> int:
    """Return the exit code of some work; an error that is to be expected is told in one line."""
    try:
        return work()
    except (PygentError, OSError, KeyboardInterrupt) as error:
        ending = ending_of(error)
        if ending.error:
            streams.tell(f"pygent: {ending.error}")
        return ending.code


def _dispatch(arguments: Sequence[str]) -> int:
    from .app import app

    try:
        app(list(arguments), prog_name="pygent")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0
