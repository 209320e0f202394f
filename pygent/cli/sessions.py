"""`pygent sessions`: what was done before."""

from __future__ import annotations

import sys
import time

from ..display import Display, printable
from ..errors import PygentError
from ..events import MessageAdded, ModelReplied, event_from_dict
from ..session import session_store
from . import streams

__all__ = ["list_sessions", "show_session"]

_PREVIEW = 60


def list_sessions(limit: int = 20) -> int:
    """List the sessions, the newest first."""
    store = session_store(read_only=True)
    if store is None:
        streams.tell("no sessions yet")
        return 0
    try:
        for info in store.sessions(limit=limit):
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
            said = " ".join((info.title or info.preview or "").split())[:_PREVIEW]
            _write(f"{info.id}  {when}  {info.events:>5} events  {said}")
    finally:
        store.close()
    return 0


def show_session(session: str) -> int:
    """Show what was said and done in a session."""
    store = session_store(read_only=True)
    if store is None:
        raise PygentError(f"no session is called {session!r}: there are none yet")
    display = Display("agent", sys.stdout)
    try:
        for raw in store.read(session):
            event = event_from_dict(raw)
            if isinstance(event, MessageAdded) and event.message.get("role") == "user":
                _write(f"user: {event.message.get('content')}")
            else:
                if isinstance(event, ModelReplied):
                    _calls(event)
                display.show(event)
    finally:
        store.close()
    return 0


def _calls(event: ModelReplied) -> None:
    for call in event.message.get("tool_calls") or ():
        function = call["function"]
        if function["name"] != "bash":
            _write(f"[{function['name']}] {function['arguments']}")


def _write(line: str) -> None:
    streams.write(printable(line, sys.stdout.encoding) + "\n")
