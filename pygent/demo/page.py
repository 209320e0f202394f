"""How the demo looks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ..events import Delta, Event, ToolFinished, ToolStarted

__all__ = ["Page"]

_BOLD, _DIM, _RED, _GREEN = "1", "2", "31", "32"
_LINES = 9


class Page:
    """Writes on standard output, with a few colours where they are wanted."""

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured
        self._speaking = False

    def title(self, folder: Path, task: str) -> None:
        """Say what is about to be seen, and what of it is not real."""
        self._line(self._paint("Pygent demo", _BOLD))
        self._line("The model's replies are SCRIPTED: they ship with Pygent, no key and no network")
        self._line("are needed. Everything else is real: the loop, the tools, the tests.")
        self._line()
        self._line(f"  workspace  {folder}")
        self._line("             (a copy of a small sample project; commands run there locally)")
        self._line(f"  task       {task}")

    def show(self, item: Event | Delta) -> None:
        """Show one event, or a piece of a reply."""
        if isinstance(item, Delta):
            if item.what == "text":
                self._speak(item.text)
            return
        self._hush()
        if isinstance(item, ToolStarted):
            self._call(item)
        elif isinstance(item, ToolFinished):
            self._answer(item)

    def done(self, check: str, folder: Path) -> None:
        """Say that all is well."""
        self._line()
        self._line(self._paint(f"The project's tests are green: {check} passed.", _GREEN))
        self._line(f"The workspace {folder} is deleted again.")
        self._line('Your turn: set OPENAI_API_KEY, then `pygent run "..."` in a project of yours.')

    def failed(self, problem: str) -> None:
        """Say what went wrong."""
        self._hush()
        self._line()
        self._line(self._paint("The demo did not work:", _RED))
        self._line(problem)

    def _call(self, event: ToolStarted) -> None:
        given = json.loads(event.arguments)
        self._line(self._paint(f"  > {event.name} {given.get('cmd') or given['path']}", _BOLD))
        for name, sign, colour in (("old", "-", _RED), ("new", "+", _GREEN)):
            for line in given.get(name, "").splitlines():
                self._line(self._paint(f"  {sign} {line}", colour))

    def _answer(self, event: ToolFinished) -> None:
        lines = [line for line in str(event.content).splitlines() if line.strip("-= ")]
        if event.name == "bash":
            lines = lines[1:]
        if event.name == "read_file":
            lines = [f"({len(lines)} lines)"]
        if len(lines) > _LINES:
            lines = ["...", *lines[1 - _LINES :]]
        for line in lines:
            self._line(self._paint(f"  | {line}", _DIM))

    def _speak(self, words: str) -> None:
        if not self._speaking:
            self._line()
            self._speaking = True
        self._write(words)

    def _hush(self) -> None:
        if self._speaking:
            self._line()
            self._speaking = False

    def _paint(self, words: str, code: str) -> str:
        return f"\x1b[{code}m{words}\x1b[0m" if self._coloured else words

    def _line(self, words: str = "") -> None:
        self._write(f"{words}\n")

    def _write(self, words: str) -> None:
        sys.stdout.write(words)
        sys.stdout.flush()
