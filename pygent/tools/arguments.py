"""Reading a call's arguments: what is wrong with them is told so that the model can fix it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from ..errors import ToolError
from .schema import complaints
from .spec import Tool

__all__ = ["read_arguments"]

LIMIT = 16 * 1024 * 1024


def read_arguments(tool: Tool, text: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a call, checked; `ToolError` says what to fix."""
    arguments = _decode(text)
    try:
        if "rt" in arguments and tool.takes_runtime:
            raise ToolError("'rt' is not a parameter")
        if tool.check is not None:
            return tool.check(arguments)
        found = complaints(tool.parameters, arguments)
        if found:
            raise ToolError("; ".join(found))
    except RecursionError:
        raise ToolError("they are nested too deeply") from None
    return arguments


def _decode(text: str | Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(text, Mapping):
        return dict(text)
    if not text or not text.strip():
        return {}
    if len(text) > LIMIT:
        raise ToolError(f"they are {len(text)} characters long, more than the limit of {LIMIT}")
    try:
        value = json.loads(
            text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant,
            parse_float=_finite,
        )  # fmt: skip
    except RecursionError:
        raise ToolError("they are nested too deeply") from None
    except ValueError as error:
        raise ToolError(f"they are not valid JSON: {error}; got {text[:200]!r}") from None
    if not isinstance(value, dict):
        raise ToolError(f"they must be a JSON object, not {text[:80]}")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ToolError(f"the key {twice!r} is there twice")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ToolError(f"{name} is not a number that JSON has")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ToolError(f"{text} is too large a number")
    return value
