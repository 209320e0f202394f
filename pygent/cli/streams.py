"""Standard streams that always take what is written to them, or end the program quietly."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

__all__ = ["finish", "prepare", "tell", "width", "write"]


def prepare() -> None:
    """Make the standard streams usable, however the program was started.

    A closed one becomes /dev/null, or the next file that is opened would take its place. What a
    stream's encoding cannot say is escaped.
    """
    for number, mode in enumerate(("r", "w", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        name = ("stdin", "stdout", "stderr")[number]
        if getattr(sys, name) is None:
            # It stays open until the process ends.
            setattr(sys, name, open(number, mode, closefd=False, encoding="utf-8"))  # noqa: SIM115
    for stream, errors in (
        (sys.stdin, "replace"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def write(text: str) -> None:
    """Write on standard output at once; `BrokenPipeError` when nobody reads it any more."""
    sys.stdout.write(text)
    sys.stdout.flush()


def tell(line: str) -> None:
    """Write a line on standard error; when nobody reads that, nothing is lost."""
    try:
        sys.stderr.write(line.rstrip("\n") + "\n")
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr, 2)


def width(stream: TextIO) -> int:
    """Return how long a line may be that is to stay one; 100 where that is nobody's screen."""
    try:
        return max(20, os.get_terminal_size(stream.fileno()).columns) if stream.isatty() else 100
    except (OSError, ValueError):
        return 100


def finish() -> None:
    """Flush, and let what cannot be written go, so that Python's own end is quiet."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            _silence(stream, number)


def _silence(stream: TextIO, number: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, number)
        stream.flush()
    except (OSError, ValueError):
        pass  # It is not on that descriptor; there is nothing more to try.
    finally:
        os.close(null)
