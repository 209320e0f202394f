"""Around every command: streams that work, and signals that end it tidily."""

from __future__ import annotations

from collections.abc import Sequence

from . import streams
from .app import app
from .guard import guarded
from .signals import tidy_signals

__all__ = ["enter"]


def enter(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    streams.prepare()
    try:
        with tidy_signals():
            return guarded(lambda: _dispatch(arguments))
    finally:
        streams.finish()


def _dispatch(arguments: Sequence[str]) -> int:
    try:
        app(list(arguments), prog_name="pygent")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0
