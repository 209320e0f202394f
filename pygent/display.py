"""Plain text on standard output, for programs that drive an agent with `step`.

A reader of the log like any other: standard library only, no colours, nothing is asked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, TextIO

from .events import (
    Delta,
    Event,
    ModelFailed,
    ModelReplied,
    SandboxChosen,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)

__all__ = ["Display", "printable"]

LIMIT = 4_000
LAST = 12
_HARMLESS = "\n\t\u200c\u200d"  # joiners are part of words in some scripts, and of emoji
_QUIET = frozenset(("stop", "ask_user", "continue"))


class Log(Protocol):
    """What a display needs of a log."""

    def subscribe(self, listener: Callable[[Event | Delta], None]) -> Callable[[], None]:
        """Call the listener with what happens; returns how to stop that."""


class Display:
    """Shows replies as they are written, and what tools print."""

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self._name = name
        self._stream = stream
        self._streamed: set[str | None] = set()
        self._column = 0
        self._shown = 0
        self._cut: set[str] = set()

    @contextmanager
    def following(self, log: Log) -> Generator[Display]:
        """Show what happens in a log within a ``with`` block."""
        unsubscribe = log.subscribe(self.show)
        try:
            yield self
        finally:
            unsubscribe()

    def show(self, event: Event | Delta) -> None:
        """Show one event, or a piece of one."""
        match event:
            case Delta(what="text"):
                self._piece(None, f"{self._name}: ", event.text)
            case Delta(what="output"):
                self._piece(event.call, "", event.text)
            case ModelReplied():
                self._reply(event)
            case ToolFinished():
                self._result(event)
            case ModelFailed():
                self._end(None)
            case ToolStarted(name="ask_user"):
                self._question(event.arguments)
            case SandboxChosen(isolated=False, asked_for=None):
                self._line(
                    f'[warning: {event.reason}; sandbox="{event.tier}" says that you mean it]'
                )
            case TurnEnded(reason="timeout" | "cancelled" | "max_steps"):
                self._line(f"[{event.reason.replace('_', ' ')}]")

    def _reply(self, event: ModelReplied) -> None:
        content = event.message.get("content")
        if None in self._streamed:
            self._end(None)
        elif isinstance(content, str) and content.strip():
            self._line(f"{self._name}: {content}")

    def _question(self, arguments: str) -> None:
        try:
            asked = json.loads(arguments or "{}")
        except ValueError:
            return  # the model is told, and asks again
        if isinstance(asked, dict) and asked.get("prompt"):
            options = asked.get("options")
            choices = f" ({'/'.join(map(str, options))})" if isinstance(options, list) else ""
            self._line(f"{self._name} asks: {asked['prompt']}{choices}")

    def _result(self, event: ToolFinished) -> None:
        if event.call in self._streamed:
            self._end(event.call)
            if event.call in self._cut:
                self._cut.discard(event.call)
                self._line(_last_lines(event.content))
            elif event.outcome != "ok":
                self._line(_last_line(event.content))
        elif event.name not in _QUIET:
            content = str(event.content)
            self._line(content if content.startswith("$ ") else f"[{event.name}] {content}")

    def _piece(self, key: str | None, title: str, text: str) -> None:
        if key not in self._streamed:
            self._fresh_line()
            self._streamed.add(key)
            self._shown = 0
            text = title + text
        if key is not None:
            room = LIMIT - self._shown
            if room < 0:
                return  # it was cut already
            self._shown += len(text)
            if len(text) > room:
                self._cut.add(key)
                text = f"{text[:room]}\n[…]"
        self._write(text)

    def _end(self, key: str | None) -> None:
        self._streamed.discard(key)
        self._fresh_line()

    def _line(self, text: str) -> None:
        self._fresh_line()
        cut = text if len(text) <= LIMIT else f"{text[: LIMIT // 2]}\n[…]\n{text[-LIMIT // 2 :]}"
        self._write(cut.rstrip("\n") + "\n")

    def _fresh_line(self) -> None:
        if self._column:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not text:
            return
        stream = self._stream or sys.stdout
        stream.write(printable(text, getattr(stream, "encoding", None)))
        stream.flush()
        self._column = 0 if text.endswith("\n") else 1


def _last_line(content: object) -> str:
    lines = str(content).rstrip("\n").rsplit("\n", 1)
    return lines[-1]


def _last_lines(content: object) -> str:
    """Return how a long output ended: a few lines, whole ones if they are not too long."""
    tail = str(content).rstrip("\n")[-LIMIT // 4 :]
    lines = tail.split("\n")[1:] or [tail]
    return "\n".join(lines[-LAST:])


def printable(text: str, encoding: str | None) -> str:
    """Leave out what could move the cursor or hide text, and what the stream cannot encode."""
    safe = "".join(c if c.isprintable() or c in _HARMLESS else _escaped(c) for c in text)
    if encoding is None:
        return safe
    return safe.encode(encoding, "backslashreplace").decode(encoding)


def _escaped(char: str) -> str:
    return "" if char == "\r" else char.encode("unicode_escape").decode("ascii")
