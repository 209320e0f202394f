"""The body of a request; what is serialised already is used as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import History, Message, parse_message, wire_bytes
from ..messages.history import IMAGE_MARK
from .images import with_images

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
    parts: list[bytes] = []
    if tools:
        parts += (b',"tools":', _tools(tools))
    options: Mapping[str, Any] = more or {}
    if stream:
        options = {"stream": True, "stream_options": {"include_usage": True}, **options}
    for name, value in options.items():
        parts += (b",", _bytes(name), b":", _bytes(value))
    before = b'{"model":%b,"messages":' % _bytes(model)
    return _between(before, messages, b"".join((*parts, b"}")))


def plain_messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the messages as plain dictionaries, for a client that serialises them itself."""
    return with_images([_plain(entry) for entry in messages])


def _between(before: bytes, messages: Sequence[Any], after: bytes) -> bytes:
    """Return the messages as JSON, with the rest of the request around them."""
    # Images are rare; only where one may be are the messages looked at one by one.
    if isinstance(messages, History):
        body = messages.wire(before, after)
        has_images = messages.has_images
    else:
        body = b"".join((before, _messages(messages), after))
        has_images = IMAGE_MARK in body
    return before + _bytes(plain_messages(messages)) + after if has_images else body


def _messages(messages: Sequence[Any]) -> bytes:
    wire = getattr(messages, "wire", None)
    if callable(wire):
        ready: bytes = wire()
        return ready
    return b"[%b]" % b",".join([wire_bytes(entry) for entry in messages])


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
