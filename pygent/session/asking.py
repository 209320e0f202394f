"""Questions to the user: those of the model, and whether a command may run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ..commands import say
from ..messages import ToolCall

__all__ = ["approver", "question_of"]

_QUESTIONS = ("ask_user", "continue")


def question_of(reply: Any) -> tuple[str, list[str]] | None:
    """Return the question that a reply ends with, and its options; None if it asks nothing."""
    for call in getattr(reply, "tool_calls", None) or ():
        if call.function.name in _QUESTIONS:
            try:
                given = json.loads(call.function.arguments or "{}")
            except ValueError:
                given = {}
            if not isinstance(given, dict):
                given = {}
            options = given.get("options")
            chosen = [str(option) for option in options] if isinstance(options, list) else []
            return str(given.get("prompt") or ""), chosen
    return None


@contextmanager
def approver(agent: Any, get_input: Callable[[str], str]) -> Generator[None]:
    """Have the user asked before a bash command runs, if the agent is to, within a ``with`` block."""
    if not getattr(agent, "confirm_bash", False) or getattr(agent, "approve", None) is not None:
        yield
        return
    lock, asking = threading.Lock(), threading.get_ident()

    def approve(call: ToolCall) -> bool | str:
        if call.function.name != "bash":
            return True
        if threading.get_ident() != asking:
            return "only the main agent can ask the user; this one has no leave to run bash"
        with lock:
            return _may_run(call, get_input)

    agent.approve = approve
    try:
        yield
    finally:
        agent.approve = None


def _may_run(call: ToolCall, get_input: Callable[[str], str]) -> bool | str:
    try:
        given = json.loads(call.function.arguments)
        command = str(given["cmd"])
    except (ValueError, TypeError, KeyError):
        command = call.function.arguments
    say(f"bash wants to run:\n{command}")
    _forget_what_was_typed()
    try:
        answer = get_input("Run it? (y/n, or what to do instead): ").strip()
    except EOFError:
        say("")
        return False
    except KeyboardInterrupt as error:
        if type(error) is not KeyboardInterrupt:
            raise
        say("")
        return False
    if answer.lower() in ("y", "yes"):
        return True
    return False if answer.lower() in ("", "n", "no") else answer


def _forget_what_was_typed() -> None:
    """Drop keys that were pressed before the question was there to be answered."""
    import sys

    try:
        import termios

        if sys.stdin.isatty():
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except (ImportError, OSError, ValueError, AttributeError):
        pass  # No terminal, so no keys.
