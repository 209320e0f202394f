"""What a headless run shows: the answer and its progress, or one event per line."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Protocol

from ..display import printable
from ..events import (
    Delta,
    Event,
    ModelReplied,
    SandboxChosen,
    SessionStarted,
    TaskEnded,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    event_to_dict,
)
from . import streams
from .endings import Ending

__all__ = ["JsonOutput", "Output", "TextOutput"]

_LABEL = re.compile(r"\[(error|refused)\] *")
_BRACKETED = re.compile(r"\[(.*)\]")
_ENDED_BADLY = re.compile(r"\[(exit code|killed by|timeout|stopped|cancelled)")


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
                if line := _progress(item):
                    streams.tell(printable(line, getattr(sys.stderr, "encoding", None)))

    def finish(self, ending: Ending, *, session: str | None, seq: int, text: str) -> None:
        """Say what went wrong, if anything did."""
        self._end_of_piece()
        if ending.error:
            streams.tell(f"pygent: {ending.error}")

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


def _progress(event: Event | Delta) -> str:
    """Return the line that tells of an event; empty for those that nobody waits for."""
    line = ""
    match event:
        case SessionStarted():
            line = f"session {event.session}"
        case SandboxChosen(isolated=False, asked_for=None):
            line = (
                f"sandbox {event.tier}: commands are NOT isolated: they run on this machine, as you "
                f"(--sandbox {event.tier} says that you mean it)"
            )
        case SandboxChosen(isolated=False):
            line = f"sandbox {event.tier}: commands are not isolated ({event.asked_for})"
        case SandboxChosen():
            line = f"sandbox {event.tier}"
        case ToolStarted():
            line = _cut(f"> {event.name} {_arguments(event.arguments)}")
        case ToolFinished():
            what = _failure(event)
            line = _cut(f"! {event.name}: {what}") if what else ""
        case TaskStarted():
            line = _cut(f"> task {event.task} started: {event.prompt}")
        case TaskEnded():
            line = f"> task {event.task} {event.status}"
    return line


def _failure(event: ToolFinished) -> str:
    """Return what went wrong in a call, in one line; empty if nothing did."""
    lines = str(event.content).strip().split("\n")
    if event.name == "bash" and lines[0].startswith("$ "):
        # The last line tells how the command ended, the one before it mostly why.
        *printed, last = lines[1:] or [""]
        end = _BRACKETED.fullmatch(last)
        if end is None or (event.outcome == "ok" and not _ENDED_BADLY.match(last)):
            return ""
        why = next((line.strip() for line in reversed(printed) if line.strip()), "")
        return f"{end[1]}: {why}" if why else end[1]
    if event.outcome == "ok":
        return ""
    text = lines[-1] if event.outcome in ("timeout", "cancelled") else lines[0]
    return _BRACKETED.sub(r"\1", _LABEL.sub("", text))


def _arguments(text: str) -> str:
    """Return the arguments of a call for people: the one that says most, or all."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        return text
    if not isinstance(given, dict):
        return text
    for name in ("cmd", "path", "pattern", "prompt", "task_id"):
        if isinstance(given.get(name), str):
            return str(given[name])
    return json.dumps(given) if given else ""


def _cut(line: str) -> str:
    line = " ".join(line.split())
    width = streams.width(sys.stderr)
    return line if len(line) <= width else f"{line[: width - 3]}..."
