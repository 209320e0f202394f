"""`Tool`: a name, a JSON schema, a function and an effect class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Effect", "Tool"]


class Effect(StrEnum):
    """What may be done with a call whose outcome nobody knows.

    Only *pure* tools run in parallel; *irreversible* ones are never run again, and their intent
    is on disk before they start.
    """

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    RECONCILABLE = "reconcilable"
    IRREVERSIBLE = "irreversible"


@dataclass(frozen=True)
class Tool:
    """One thing that a model can ask for.

    ``check`` turns the model's arguments into those of the function, or raises `ToolError` with
    what to fix; without one they are validated against ``parameters``. ``ends_turn`` is the
    reason with which a turn ends after a call of this tool.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    func: Callable[..., Any]
    effect: Effect = Effect.IRREVERSIBLE
    takes_runtime: bool = True
    honours_cancel: bool = False
    ends_turn: str | None = None
    check: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The tool as the Chat Completions API describes one."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}
