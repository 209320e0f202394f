"""One line for what happens beside the answer."""

from __future__ import annotations

import json
import re

from ..events import (
    Delta,
    Event,
    SandboxChosen,
    SessionStarted,
    TaskEnded,
    TaskStarted,
    ToolFinished,
    ToolStarted,
)

__all__ = ["progress"]

_BRACKETED = re.compile(r"\[(.*)\]")
_LABEL = re.compile(r"\[(error|refused)\] *")
_ENDED_BADLY = re.compile(r"\[(exit code|killed by|timeout|cancelled|stopped|error)\b")
_SAYS_MOST = ("cmd", "path", "pattern", "prompt", "task_id")


def progress(event: Event | Delta, width: int) -> str:
    """Return the line that tells of an event; empty for those that nobody waits for."""
    line = ""
    match event:
        case SessionStarted():
            return f"session {event.session}"  # the whole of it, however narrow the screen is
        case SandboxChosen():
            return _sandbox(event)
        case ToolStarted():
            line = f"> {event.name} {_arguments(event.arguments)}"
        case ToolFinished():
            what = _command(event) if event.name == "bash" else _failure(event)
            line = f"! {event.name}: {what}" if what else ""
        case TaskStarted():
            line = f"> task {event.task} started: {event.prompt}"
        case TaskEnded():
            line = f"> task {event.task} {event.status}"
    return _cut(line, width)


def _sandbox(event: SandboxChosen) -> str:
    if event.isolated:
        return f"sandbox {event.tier}"
    if event.asked_for is not None:
        return f"sandbox {event.tier}: commands are not isolated ({event.asked_for})"
    return (
        f"sandbox {event.tier}: commands are NOT isolated; --sandbox {event.tier} says that "
        "you mean it"
    )


def _command(event: ToolFinished) -> str:
    """Return how a command failed, and the last thing it printed; empty if it did not."""
    lines = [line.strip() for line in str(event.content).split("\n") if line.strip()]
    if not (lines and lines[0].startswith("$ ")):
        return _failure(event)
    *printed, last = lines[1:] or [""]
    if not _ENDED_BADLY.match(last):
        return ""
    return f"{_plain(last)}: {printed[-1]}" if printed else _plain(last)


def _failure(event: ToolFinished) -> str:
    """Return why a call failed or did not run; empty if all is well."""
    lines = str(event.content).strip().split("\n")
    if event.outcome == "ok":
        return ""
    return _plain(lines[-1] if event.outcome in ("timeout", "cancelled", "unknown") else lines[0])


def _plain(line: str) -> str:
    """Take away the brackets that are there for the model."""
    whole = _BRACKETED.fullmatch(line)
    return whole[1] if whole else _LABEL.sub("", line, count=1)


def _arguments(text: str) -> str:
    """Return the arguments of a call for people: the one that says most, or all."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        return text
    if not isinstance(given, dict):
        return text
    for name in _SAYS_MOST:
        if isinstance(given.get(name), str):
            return str(given[name])
    return json.dumps(given, ensure_ascii=False) if given else ""


def _cut(line: str, width: int) -> str:
    line = " ".join(line.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."
