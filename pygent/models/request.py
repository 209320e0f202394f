"""The body of a request; what is serialised already is used as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import Message, parse_message, wire_bytes
from .images import MARK, with_images

__all__ = ["make_body", "plain_messages"]

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def make_body(
    messages: Sequence[Any],
    model: str,
    tools: Sequence[Any] | None,
    *,
    stream: bool = False,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the JSON of a request. Without tools there is no word of tools in it."""
    parts = [b'{"model":', _bytes(model), b',"messages":', _messages(messages)]
    if tools:
        parts += (b',"tools":', _tools(tools))
    options: Mapping[str, Any] = more or {}
    if stream:
        options = {"stream": True, "stream_options": {"include_usage": True}, **options}
    for name, value in options.items():
        parts += (b",", _bytes(name), b":", _bytes(value))
    parts.append(b"}")
    return b"".join(parts)


def plain_messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the messages as plain dictionaries, for a client that serialises them itself."""
    return with_images([_plain(entry) for entry in messages])


def _messages(messages: Sequence[Any]) -> bytes:
    wire = getattr(messages, "wire", None)
    if callable(wire):
        ready: bytes = wire()
    else:
        ready = b"[%b]" % b",".join([wire_bytes(entry) for entry in messages])
    # Images are rare; only where one may be are the messages looked at one by one.
    return _bytes(plain_messages(messages)) if MARK in ready else ready


def _tools(tools: Sequence[Any]) -> bytes:
    wire = getattr(tools, "wire", None)
    if callable(wire):
        ready: bytes = wire()
        return ready
    return _bytes(list(tools))


def _plain(entry: Any) -> dict[str, Any]:
    if isinstance(entry, Mapping):
        return dict(entry)
    return entry.to_dict() if isinstance(entry, Message) else parse_message(entry).to_dict()


def _bytes(value: Any) -> bytes:
    try:
        return _json(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
