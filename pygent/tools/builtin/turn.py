"""The tools with which a model ends its turn."""

from __future__ import annotations

from typing import Any

from ..spec import Effect, Tool

__all__ = ["ACCEPTED", "OFFERED", "ask_user", "go_on", "stop"]


def stop(rt: Any) -> str:
    """End the work."""
    return "Stopping."


def ask_user(rt: Any, prompt: str | None = None, options: list[str] | None = None) -> str:
    """End the turn with a question; the answer is the user's next message."""
    return "The user's answer follows."


def go_on(rt: Any, **_: Any) -> str:
    """Wait for the user, as `ask_user` without a question does."""
    return "The user's answer follows."


_QUESTION = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string"},
        "options": {"type": "array", "items": {"type": "string"}},
    },
}

OFFERED = (
    Tool(
        name="stop",
        description="End the work, once it is done and checked.",
        parameters={"type": "object", "properties": {}},
        func=stop,
        effect=Effect.PURE,
        honours_cancel=True,
        ends_turn="stop",
    ),
    Tool(
        name="ask_user",
        description="Ask the user something; the turn ends, the answer is the next message.",
        parameters=_QUESTION,
        func=ask_user,
        effect=Effect.PURE,
        honours_cancel=True,
        ends_turn="ask_user",
    ),
)

ACCEPTED = (
    Tool(
        name="continue",
        description="Wait for the user's next message.",
        parameters={"type": "object", "additionalProperties": True},
        func=go_on,
        effect=Effect.PURE,
        honours_cancel=True,
        ends_turn="ask_user",
    ),
)
