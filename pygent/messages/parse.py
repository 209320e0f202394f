"""Reading a `Message` from whatever a model or a file has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .message import Message, ToolCall, ToolCallFunction

__all__ = ["parse_message"]

_FIELDS = frozenset(("role", "content", "tool_calls", "tool_call_id"))


def parse_message(raw: Any) -> Message:
    """Return a `Message` from a message, a mapping, or an API client's own object.

    ``tool_calls: null``, missing keys and unknown ones are all fine. Anything that is no message
    at all is a `TypeError` that names its type. Of a whole completion the first choice counts.
    """
    if isinstance(raw, Message):
        return raw
    if not isinstance(raw, Mapping):
        raw = _as_mapping(raw)
    if "role" not in raw and isinstance(choices := raw.get("choices"), list) and choices:
        return _first(choices, raw.get("usage"))
    extra = {key: value for key, value in raw.items() if key not in _FIELDS and value is not None}
    return Message(
        role=raw.get("role") or "assistant",
        content=raw.get("content"),
        tool_calls=[_parse_call(call) for call in raw.get("tool_calls") or ()] or None,
        tool_call_id=raw.get("tool_call_id"),
        extra=extra,
    )


def _first(choices: list[Any], usage: Any) -> Message:
    choice = choices[0] if isinstance(choices[0], Mapping) else vars(choices[0])
    message = replace(parse_message(choice.get("message")))
    message.usage = dict(usage) if isinstance(usage, Mapping) else message.usage
    message.finish_reason = choice.get("finish_reason") or message.finish_reason
    return message


def _as_mapping(raw: Any) -> Mapping[str, Any]:
    for name in ("model_dump", "to_dict"):
        dump = getattr(raw, name, None)
        if callable(dump):
            dumped = dump()
            if isinstance(dumped, Mapping):
                return dumped
    if hasattr(raw, "role") and hasattr(raw, "content"):
        return {name: getattr(raw, name, None) for name in _FIELDS}
    if hasattr(raw, "choices"):
        return dict(vars(raw))
    raise TypeError(
        f"cannot read a message from {type(raw).__name__!r}: "
        "return an openai_compat.Message, a dict, or the official client's message"
    )


def _parse_call(raw: Any) -> ToolCall:
    if isinstance(raw, ToolCall):
        return raw
    if not isinstance(raw, Mapping):
        raw = {name: getattr(raw, name, None) for name in ("id", "type", "function")}
    function = raw.get("function") or {}
    if not isinstance(function, Mapping):
        function = {name: getattr(function, name, None) for name in ("name", "arguments")}
    return ToolCall(
        id=_text(raw.get("id")),
        type=_text(raw.get("type")) or "function",
        function=ToolCallFunction(_text(function.get("name")), _arguments(function)),
    )


def _arguments(function: Mapping[str, Any]) -> str:
    """Return the arguments as JSON text; some servers send them already decoded."""
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
