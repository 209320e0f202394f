"""Events to plain dictionaries, ready for JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from ..errors import StoreError
from .base import Delta, Event, UnknownEvent
from .kinds import KINDS

__all__ = ["event_from_dict", "event_to_dict"]

_ENVELOPE = tuple(f.name for f in fields(Event) if f.name != "extra")
_PAYLOAD = {
    kind: tuple(f.name for f in fields(cls) if f.name not in (*_ENVELOPE, "extra"))
    for kind, cls in KINDS.items()
}
_REQUIRED = {
    kind: tuple(
        f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING
    )
    for kind, cls in KINDS.items()
}
_OMITTED_WHEN_NONE = frozenset(("call", "parent"))


def event_to_dict(event: Event | Delta) -> dict[str, Any]:
    """Return an event, or a delta, as one dictionary tagged with its ``type``."""
    if isinstance(event, Delta):
        named = ("session", "after", "what", "text", "call")
        return {"type": "delta", **{n: v for n in named if (v := getattr(event, n)) is not None}}
    raw: dict[str, Any] = {"type": event.type}
    for name in _ENVELOPE:
        value = getattr(event, name)
        if value is not None or name not in _OMITTED_WHEN_NONE:
            raw[name] = value
    if isinstance(event, UnknownEvent):
        return {**event.data, **raw}
    for name in _PAYLOAD[event.kind]:
        raw[name] = getattr(event, name)
    return {**event.extra, **raw} if event.extra else raw


def event_from_dict(raw: Mapping[str, Any]) -> Event:
    """Return the event that `event_to_dict` described; what it does not know it keeps.

    A dictionary that is no event at all is a `StoreError`.
    """
    kind = raw.get("type")
    if not isinstance(kind, str):
        raise StoreError(f"not an event, it has no type: {str(raw)[:80]}")
    envelope = {name: raw[name] for name in _ENVELOPE if raw.get(name) is not None}
    known = KINDS.get(kind)
    if known is None:
        data = {k: v for k, v in raw.items() if k not in _ENVELOPE and k != "type"}
        return UnknownEvent(name=kind, data=data, **envelope)
    missing = [name for name in _REQUIRED[kind] if name not in raw]
    if missing:
        raise StoreError(f"not a {kind}, it has no {', '.join(missing)}: {str(raw)[:80]}")
    payload = {name: raw[name] for name in _PAYLOAD[kind] if name in raw}
    extra = {k: v for k, v in raw.items() if k not in _ENVELOPE and k not in _PAYLOAD[kind]}
    extra.pop("type")
    return known(**envelope, **payload, extra=extra)
