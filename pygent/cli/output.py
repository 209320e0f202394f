"""What a headless run shows: the answer and its progress, or one event per line."""

from __future__ import annotations

import json
import sys
from typing import Any, Protocol

from ..display import printable
from ..events import Delta, Event, ModelReplied, event_to_dict
from . import streams
from .endings import Ending
from .progress import progress

__all__ = ["JsonOutput", "Output", "TextOutput"]


class Output(Protocol):
    """Shows a run while it goes on, and how it ended."""

    def show(self, item: Event | Delta) -> None:
        """Show one event, or a piece of the answer."""

    def finish(self, ending: Ending, *, session: str | None, seq: int, text: str) -> None:
        """Say how the run ended."""


class TextOutput:
    """The answer on standard output; the session, the sandbox and the tools on standard error."""

    def __init__(self) -> None:
        self._streamed = ""
        # A terminal obeys what it is sent; a file gets every byte.
        self._safe = sys.stdout.isatty()

    def show(self, item: Event | Delta) -> None:
        """Show what a reader wants to see of it."""
        match item:
            case Delta(what="text"):
                self._answer(item.text)
                self._streamed += item.text
            case Delta():
                pass
            case ModelReplied():
                self._reply(item)
            case _:
                self._end_of_piece()
                if line := progress(item, streams.width(sys.stderr)):
                    streams.tell(printable(line, getattr(sys.stderr, "encoding", None)))

    def finish(self, ending: Ending, *, session: str | None, seq: int, text: str) -> None:
        """Say what went wrong, if anything did."""
        self._end_of_piece()
        if ending.error:
            streams.tell(f"pygent: {ending.error}")
        elif ending.subtype == "interrupted" and sys.stderr.isatty():
            streams.tell("\npygent: interrupted")  # on a line of its own, not behind the ^C

    def _reply(self, item: ModelReplied) -> None:
        content = item.message.get("content")
        if not self._streamed and isinstance(content, str) and content.strip():
            self._answer(content)
            self._streamed = content
        self._end_of_piece()

    def _answer(self, text: str) -> None:
        streams.write(printable(text, sys.stdout.encoding) if self._safe else text)

    def _end_of_piece(self) -> None:
        if self._streamed and not self._streamed.endswith("\n"):
            streams.write("\n")
        self._streamed = ""


class JsonOutput:
    """Every event as a line of JSON on standard output, and one last line of type ``result``.

    The result is no event of the log; its ``seq`` is the number after the last one.
    """

    def show(self, item: Event | Delta) -> None:
        """Write an event; the pieces of an answer are none."""
        if isinstance(item, Event):
            _write(event_to_dict(item))

    def finish(self, ending: Ending, *, session: str | None, seq: int, text: str) -> None:
        """Write the result, and what went wrong on standard error too."""
        _write(
            {
                "type": "result",
                "session": session,
                "seq": seq + 1,
                "subtype": ending.subtype,
                "exit_code": ending.code,
                "text": text,
                "error": ending.error,
            }
        )
        if ending.error:
            streams.tell(f"pygent: {ending.error}")


def _write(line: dict[str, Any]) -> None:
    # Only ASCII: the line means the same whatever the encoding of the stream is.
    streams.write(json.dumps(line, default=str) + "\n")
