"""Events to JSON text and back, and what a list shows of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import StoreError

__all__ = ["NotAnEvent", "envelope_of", "event_text", "parse_object", "preview_of"]

_PREVIEW = 200
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(separators=(",", ":")).encode
_surrogates = frozenset(map(chr, range(0xD800, 0xE000)))


class NotAnEvent(ValueError):
    """Bytes that hold no event; the text says why."""


def event_text(event: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return an event as one line of JSON: the text, and its bytes in UTF-8."""
    plain = event if type(event) is dict else dict(event)
    try:
        text = _encode(plain)
        try:
            return text, text.encode()
        except UnicodeEncodeError:
            # A lone surrogate is legal in a Python string and not in UTF-8: an escape carries it.
            text = _encode_ascii(plain)
            return text, text.encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        kind = event.get("type")
        raise StoreError(f"event {event.get('seq')} ({kind}) is not JSON: {error}") from error


def parse_object(data: bytes | str) -> dict[str, Any]:
    """Return the JSON object that the bytes hold, or raise `NotAnEvent`."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotAnEvent(f"not JSON ({error})") from error
    if not isinstance(value, dict):
        raise NotAnEvent(f"not an object but {type(value).__name__}")
    return value


def envelope_of(event: Mapping[str, Any]) -> tuple[int, int, float, str]:
    """Return an event's seq, epoch, time and type, or raise `StoreError`."""
    seq, epoch = event.get("seq"), event.get("epoch")
    at, kind = event.get("at", 0.0), event.get("type")
    if not (type(seq) is int and 0 < seq < 1 << 62):
        raise StoreError(f"an event needs a seq of 1 or more, not {seq!r}")
    if not (type(epoch) is int and 0 < epoch < 1 << 62):
        raise StoreError(f"event {seq} needs an epoch of 1 or more, not {epoch!r}")
    if not isinstance(kind, str):
        raise StoreError(f"event {seq} needs a type, not {kind!r}")
    if not isinstance(at, (int, float)):
        raise StoreError(f"event {seq} needs a time in seconds, not {at!r}")
    return seq, epoch, float(at), kind


def preview_of(event: Mapping[str, Any]) -> str | None:
    """Return the start of what the user said, if this event is a message of theirs."""
    if event.get("type") != "message_added":
        return None
    message = event.get("message")
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return None
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = next((text for text in parts if isinstance(text, str)), None)
    if not isinstance(content, str):
        return None
    line = " ".join(content[: 4 * _PREVIEW].split())[:_PREVIEW]
    return line if _surrogates.isdisjoint(line) else line.encode("utf-8", "replace").decode()
