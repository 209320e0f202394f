"""Completions as objects, with the official client's names: whole, and in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..messages import Message

__all__ = [
    "ChatCompletion",
    "ChatCompletionChunk",
    "Choice",
    "ChoiceDelta",
    "ChunkChoice",
    "ToolCallDelta",
    "ToolCallFunctionDelta",
    "Usage",
    "read_chunk",
    "shape_completion",
    "whole_chunk",
]


class Usage(dict[str, Any]):
    """What a reply took. Its counts can be read as attributes too: ``usage.total_tokens``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the server told no {name!r}; it told {sorted(self)}") from None


@dataclass
class Choice:
    """One answer."""

    message: Message
    finish_reason: str | None = None
    index: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class ChatCompletion:
    """What an endpoint answers; ``extra`` holds the keys that are not fields here."""

    choices: list[Choice]
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    created: int | None = None
    object: str = "chat.completion"
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class ToolCallFunctionDelta:
    """A piece of a call's name and arguments."""

    name: str | None = None
    arguments: str | None = None


@dataclass
class ToolCallDelta:
    """A piece of a tool call; ``index`` says of which."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: ToolCallFunctionDelta = field(default_factory=ToolCallFunctionDelta)


@dataclass
class ChoiceDelta:
    """What a chunk adds to an answer."""

    role: str | None = None
    content: Any = None
    tool_calls: list[ToolCallDelta] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class ChunkChoice:
    """An answer as far as one chunk tells it."""

    delta: ChoiceDelta
    finish_reason: str | None = None
    index: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class ChatCompletionChunk:
    """One chunk of a streamed completion."""

    choices: list[ChunkChoice]
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    created: int | None = None
    object: str = "chat.completion.chunk"
    extra: dict[str, Any] = field(default_factory=dict)


def shape_completion(raw: Mapping[str, Any], choices: list[Choice]) -> ChatCompletion:
    """Return the completion ``raw`` with its choices already read."""
    return ChatCompletion(choices=choices, **_outer(raw, "chat.completion"))


def read_chunk(raw: Mapping[str, Any]) -> ChatCompletionChunk:
    """Return the chunk that ``raw`` describes."""
    choices = [_chunk_choice(choice) for choice in raw.get("choices") or ()]
    return ChatCompletionChunk(choices=choices, **_outer(raw, "chat.completion.chunk"))


def whole_chunk(raw: Mapping[str, Any]) -> ChatCompletionChunk:
    """Return a completion that came whole although a stream was asked for, as its one chunk."""
    choices = []
    for choice in raw["choices"]:
        message = dict(choice.get("message") or {})
        calls = [{"index": n, **call} for n, call in enumerate(message.get("tool_calls") or ())]
        rest = _rest(choice, ("message",))
        choices.append({**rest, "delta": {**message, "tool_calls": calls}})
    return read_chunk({**raw, "object": None, "choices": choices})


def _outer(raw: Mapping[str, Any], kind: str) -> dict[str, Any]:
    usage = raw.get("usage")
    return {
        "id": raw.get("id"),
        "model": raw.get("model"),
        "usage": Usage(usage) if isinstance(usage, Mapping) else None,
        "created": raw.get("created"),
        "object": raw.get("object") or kind,
        "extra": _rest(raw, ("choices", "id", "model", "usage", "created", "object")),
    }


def _chunk_choice(raw: Mapping[str, Any]) -> ChunkChoice:
    delta = raw.get("delta") or {}
    calls = [_call_delta(call) for call in delta.get("tool_calls") or ()]
    return ChunkChoice(
        delta=ChoiceDelta(
            role=delta.get("role"),
            content=delta.get("content"),
            tool_calls=calls or None,
            extra=_rest(delta, ("role", "content", "tool_calls")),
        ),
        finish_reason=raw.get("finish_reason"),
        index=raw.get("index") or 0,
        extra=_rest(raw, ("delta", "finish_reason", "index")),
    )


def _call_delta(raw: Mapping[str, Any]) -> ToolCallDelta:
    function = raw.get("function") or {}
    return ToolCallDelta(
        index=raw.get("index"),
        id=raw.get("id"),
        type=raw.get("type"),
        function=ToolCallFunctionDelta(function.get("name"), function.get("arguments")),
    )


def _rest(raw: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if name not in known}
