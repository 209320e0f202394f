"""Ready-made system messages for different ways of working.

Each builder is called as ``builder(persona, disabled_tools)`` and can be given to an agent as
``system_message_builder=``, or to all of them by `set_system_message_builder`.
"""

from __future__ import annotations

from collections.abc import Iterable

from .persona import Persona
from .system_message import Builder, standard_message

__all__ = ["PROMPT_BUILDERS", "assistant_builder", "autonomous_builder", "reviewer_builder"]


def autonomous_builder(persona: Persona, disabled_tools: Iterable[str] | None = None) -> str:
    """For work without a user: nobody will answer, so decide, and report at the end."""
    return standard_message(persona, disabled_tools) + (
        "\nNobody will answer while you work: when something is unclear, choose what is most "
        "sensible, and go on. End with a short report of what you did, what you checked, and "
        "what is left.\n"
    )


def assistant_builder(persona: Persona, disabled_tools: Iterable[str] | None = None) -> str:
    """For work with a user: ask when it helps."""
    return standard_message(persona, disabled_tools) + (
        "\nA user is there: when a wish can be read in several ways, ask which is meant.\n"
    )


def reviewer_builder(persona: Persona, disabled_tools: Iterable[str] | None = None) -> str:
    """For reading code: find what is wrong, and change nothing."""
    return standard_message(persona, disabled_tools) + (
        "\nReview what is there and change nothing: name each fault with its place, what it "
        "leads to, and how it could be put right; the worst first.\n"
    )


PROMPT_BUILDERS: dict[str, Builder] = {
    "autonomous": autonomous_builder,
    "assistant": assistant_builder,
    "reviewer": reviewer_builder,
}
