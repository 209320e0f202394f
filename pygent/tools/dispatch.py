"""Running one call: whatever goes wrong with it becomes words for the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Cancelled, PygentError, ToolError
from .arguments import read_arguments
from .spec import Tool

__all__ = ["Outcome", "bad_arguments", "run_tool", "unknown_tool"]

LIMIT = 100_000
"""How many characters of one result reach the model; tools that make more cap it better."""


@dataclass(frozen=True)
class Outcome:
    """What a call came to: the words for the model, and whether they are an error."""

    content: str
    outcome: str = "ok"


def run_tool(tool: Tool, arguments: str | Mapping[str, Any] | None, runtime: Any) -> Outcome:
    """Check the arguments and run the tool.

    Only `Cancelled` and an interrupt get out: a tool is somebody else's code, and the model is the
    one who can react to how it failed, or to how it tried to end the program.
    """
    try:
        checked = read_arguments(tool, arguments)
    except ToolError as error:
        return bad_arguments(tool, error)
    try:
        result = tool.func(runtime, **checked) if tool.takes_runtime else tool.func(**checked)
        return Outcome(as_text(result))
    except Cancelled:
        raise
    except PygentError as error:
        return Outcome(f"[error] {error}", "error")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool is somebody else's code
        return Outcome(f"[error] {type(error).__name__}: {error}", "error")


def as_text(result: Any) -> str:
    """Return a tool's result as text, cut in the middle where it is too long."""
    text = result if isinstance(result, str) else _dump(result)
    if len(text) <= LIMIT or text.startswith("data:image/"):
        return text
    head, tail = text[: LIMIT // 2], text[-LIMIT // 2 :]
    return f"{head}\n[... {len(text) - LIMIT} characters left out ...]\n{tail}"


def _dump(result: Any) -> str:
    import json

    if result is None:
        return ""
    if hasattr(result, "model_dump_json"):
        return str(result.model_dump_json())
    try:
        return json.dumps(result, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return str(result)


def bad_arguments(tool: Tool, error: ToolError) -> Outcome:
    """Return the answer to a call whose arguments do not fit."""
    import json

    schema = json.dumps(tool.parameters, separators=(",", ":"))
    return Outcome(
        f"[error] invalid arguments for {tool.name}: {error}. They must fit {schema[:2000]}",
        "error",
    )


def unknown_tool(name: str, available: Iterable[str]) -> Outcome:
    """Return the answer to a call of a tool that is not there."""
    names = ", ".join(available) or "none"
    return Outcome(f"[error] unknown tool {name!r:.80}; available: {names}", "error")
