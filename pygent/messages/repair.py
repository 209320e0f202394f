"""Turning any list of messages into one that the API accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .message import Message
from .parse import parse_message

__all__ = ["well_formed"]

MISSING = "[no result: the call was interrupted, its outcome is unknown]"


def well_formed(entries: Iterable[Any]) -> list[Any]:
    """Return the entries so that each tool call has exactly one result, right after it.

    Results that answer no call are dropped, a second result is dropped, one that is missing is
    made up and says so. Assistant entries come out as `Message`, others as dictionaries.
    """
    read = [_entry(raw) for raw in entries]
    fixed: list[Any] = []
    for index, entry in enumerate(read):
        if isinstance(entry, Message):
            fixed.append(entry)
            fixed.extend(_results(entry, read[index + 1 :]))
        elif entry.get("role") != "tool":
            fixed.append(entry)
    return fixed


def _entry(raw: Any) -> Any:
    if isinstance(raw, Mapping) and raw.get("role") != "assistant":
        return dict(raw)
    message = parse_message(raw)
    return message if message.role == "assistant" else message.to_dict()


def _results(message: Message, later: list[Any]) -> Iterable[dict[str, Any]]:
    """Return one result for each call of ``message``, in the order of the calls."""
    if not message.tool_calls:
        return []
    found: dict[str, dict[str, Any]] = {}
    for entry in later:
        if isinstance(entry, Message) and entry.tool_calls:
            break
        if not isinstance(entry, Message) and entry.get("role") == "tool":
            found.setdefault(str(entry.get("tool_call_id")), entry)
    made_up = {"role": "tool", "content": MISSING}
    return [found.get(c.id) or {**made_up, "tool_call_id": c.id} for c in message.tool_calls]
