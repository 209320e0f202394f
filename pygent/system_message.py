"""What the model is told before the first message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .config import text
from .persona import Persona
from .tools import REGISTRY

__all__ = ["Builder", "build_system_msg", "default_persona", "set_system_message_builder"]

Builder = Callable[..., str]
"""Called as ``builder(persona, disabled_tools)``; returns the whole system message."""

_builder: Builder | None = None

# One line for each tool, and its name nowhere else: a tool that is gone leaves no trace behind.
_LINES = {
    "bash": "- `bash`: look around, build, run, test; starts in the workspace each time",
    "edit_file": "- `edit_file`: change part of a file; better than rewriting it",
    # "procceed" is how the original spelled it, and what its users' tests look for.
    "ask_user": "- `ask_user`: when you cannot procceed without an answer",
    "stop": "- `stop`: when all that was asked is done",
    "delegate_task": "- `delegate_task`: for separate work",
}

_WORK = """\
You work in a workspace folder, through tools; paths are relative to it. Look before you change \
anything, change only what the request needs, then verify and test the result. When something \
fails, read the error and fix its cause."""


def set_system_message_builder(builder: Builder | None) -> None:
    """Have ``builder(persona, disabled_tools)`` write every system message; None ends that."""
    global _builder
    _builder = builder


def default_persona() -> Persona:
    """Return who an agent is when nobody says so."""
    return Persona(
        text("PYGENT_PERSONA_NAME", "Pygent") or "",
        text("PYGENT_PERSONA", "a sandboxed coding assistant.") or "",
    )


def current_builder() -> Builder | None:
    """Return the builder that was set for all agents."""
    return _builder


def build_system_msg(
    persona: Persona,
    disabled_tools: Iterable[str] | None = None,
    *,
    schemas: Iterable[Mapping[str, Any]] | None = None,
) -> str:
    """Return the system message for a persona and the tools it may use.

    ``schemas`` are the tools that are offered; without them, those of the global registry. The
    bytes depend on nothing else, so that a provider's cache can hold them.
    """
    disabled = list(disabled_tools or ())
    if _builder is not None:
        return _builder(persona, disabled)
    return standard_message(persona, disabled, schemas=schemas)


def standard_message(
    persona: Persona,
    disabled_tools: Iterable[str] | None = None,
    *,
    schemas: Iterable[Mapping[str, Any]] | None = None,
) -> str:
    """Return the message that is used when no builder was set."""
    disabled = set(disabled_tools or ())
    offered = REGISTRY.schemas if schemas is None else schemas
    names = sorted({str(s["function"]["name"]) for s in offered} - disabled)
    lines = [_LINES.get(name, f"- `{name}`") for name in names]
    tools = ["", "Tools:", *lines] if lines else []
    return "\n".join([f"You are {persona.name}. {persona.description}", "", _WORK, *tools, ""])
