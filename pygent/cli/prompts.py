"""The prompt of a headless run: from the command line, from standard input, or from both."""

from __future__ import annotations

import os
import select
import sys

from ..errors import ConfigError
from . import streams

__all__ = ["read_prompt"]

LIMIT = 10 * 1024 * 1024
_PATIENCE = 2.0


def read_prompt(given: str | None) -> str:
    """Return what was asked for; empty if nothing was.

    Without a prompt, or with ``-``, it is what standard input says, which is appended otherwise,
    unless it is a terminal.
    """
    if sys.stdin.isatty() and given != "-":
        return given or ""
    piped = _piped().strip("\n")
    if given is None or given == "-":
        return piped.strip()
    return f"{given}\n\n{piped}" if piped.strip() else given


def _piped() -> str:
    number = sys.stdin.fileno()
    if not select.select([number], [], [], _PATIENCE)[0]:
        streams.tell("reading standard input to its end (</dev/null skips it)")
    pieces = bytearray()
    while piece := os.read(number, 1 << 16):
        pieces += piece
        if len(pieces) > LIMIT:
            raise ConfigError(
                f"standard input has more than {LIMIT >> 20} MB: name a file in the prompt instead"
            )
    return pieces.decode("utf-8", "replace")
