"""`pygent sessions`: what was done before."""

from __future__ import annotations

import sys
import time
from typing import Any

from ..display import Display, printable
from ..errors import PygentError
from ..events import (
    Event,
    MessageAdded,
    ModelFailed,
    ModelReplied,
    SandboxChosen,
    SessionStarted,
    TaskEnded,
    TaskStarted,
    TurnEnded,
    event_from_dict,
)
from ..session import session_store
from ..store import SQLiteStore
from . import streams

__all__ = ["list_sessions", "show_session"]

_SELF_EXPLAINING = ("stop", "answer", "ask_user", "step")
_SPEAKING = ("bash", "ask_user", "continue", "stop")
_LONG = 200
_SHOWN_BY_DISPLAY = ("timeout", "cancelled", "max_steps")


def list_sessions(limit: int = 20) -> int:
    """List the sessions, the newest first."""
    store = session_store(read_only=True)
    if store is None:
        streams.tell("no sessions yet")
        return 0
    width = streams.width(sys.stdout)
    try:
        for info in store.sessions(limit=limit):
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
            said = " ".join((info.title or info.preview or "").split())
            line = f"{info.id}  {when}  {info.events:>4} events  {said}"
            _write(line if len(line) <= width else f"{line[: width - 1]}…")
    finally:
        store.close()
    return 0


def show_session(session: str | None) -> int:
    """Show what was said and done in a session, the newest by default."""
    store = session_store(read_only=True)
    if store is None:
        raise PygentError("there are no sessions yet")
    display = Display("agent", sys.stdout)
    try:
        for raw in store.read(session or _newest(store)):
            event = event_from_dict(raw)
            line = _line(event)
            if line is None:
                display.show(event)
                if isinstance(event, ModelReplied):
                    _calls(event)
            else:
                _write(line)
    finally:
        store.close()
    return 0


def _newest(store: SQLiteStore) -> str:
    newest = next(iter(store.sessions(limit=1)), None)
    if newest is None:
        raise PygentError("there are no sessions yet")
    return newest.id


def _line(event: Event) -> str | None:
    """Return what to show of an event; None leaves that to the display."""
    line = None
    match event:
        case SessionStarted():
            where = f" in {event.workspace}" if event.workspace else ""
            line = f"session {event.session}, {_time(event)}{where}"
        case SandboxChosen(isolated=isolated):
            line = f"[sandbox {event.tier}{'' if isolated else ': commands were not isolated'}]"
        case MessageAdded() if event.message.get("role") == "user":
            line = f"user: {_text(event.message.get('content'))}"
        case ModelFailed(partial=str(partial)) if partial:
            line = f"agent: {partial} [cut off]"
        case TaskStarted():
            line = f"[task {event.task} started: {event.prompt}]"
        case TaskEnded():
            line = f"[task {event.task} {event.status}]"
        case TurnEnded(reason=reason) if reason not in (*_SELF_EXPLAINING, *_SHOWN_BY_DISPLAY):
            line = f"[{reason.replace('_', ' ')}{f': {event.error}' if event.error else ''}]"
    return line


def _time(event: Event) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(event.at))


def _text(content: Any) -> str:
    """Return what a user sent as text; images are named."""
    if not isinstance(content, list):
        return str(content)
    parts = [part if isinstance(part, dict) else {"text": str(part)} for part in content]
    return " ".join(str(part.get("text", f"[{part.get('type')}]")) for part in parts)


def _calls(event: ModelReplied) -> None:
    """Show which tools a reply calls; what `bash` runs is part of its output."""
    for call in event.message.get("tool_calls") or ():
        function = call["function"]
        if function["name"] not in _SPEAKING:
            given = function["arguments"]
            _write(f"> {function['name']} {given if len(given) <= _LONG else given[:_LONG] + '…'}")


def _write(line: str) -> None:
    streams.write(printable(line, sys.stdout.encoding) + "\n")
