"""A small client that mirrors the official one: ``chat.completions.create(...)``.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` say where requests go. Looked at, they are the
environment's of that moment; assigned to, they hold for the process until they are deleted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, Literal, overload

from .messages import Message, ToolCall, ToolCallFunction, parse_message
from .models.completions import complete, event_data, post_for_events
from .models.endpoint import assigned, resolve, setting
from .models.reply import read_completion, reply_of
from .models.request import make_body
from .models.shapes import (
    ChatCompletion,
    ChatCompletionChunk,
    Choice,
    ChoiceDelta,
    ChunkChoice,
    Usage,
    read_chunk,
    shape_completion,
    whole_chunk,
)
from .models.streamed import StreamedReply
from .models.text import load

__all__ = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ChatCompletion",
    "ChatCompletionChunk",
    "Choice",
    "ChoiceDelta",
    "ChunkChoice",
    "Message",
    "ToolCall",
    "ToolCallFunction",
    "Usage",
    "chat",
    "parse_message",
]

OPENAI_BASE_URL: str
OPENAI_API_KEY: str

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 300.0


class _Completions:
    """What ``chat.completions`` is."""

    @overload
    def create(
        self,
        model: str,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = ...,
        tool_choice: Any = ...,
        stream: Literal[False] = ...,
        **more: Any,
    ) -> ChatCompletion: ...

    @overload
    def create(
        self,
        model: str,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = ...,
        tool_choice: Any = ...,
        *,
        stream: Literal[True],
        **more: Any,
    ) -> Iterator[ChatCompletionChunk]: ...

    def create(
        self,
        model: str,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        tool_choice: Any = "auto",
        stream: bool = False,
        **more: Any,
    ) -> ChatCompletion | Iterator[ChatCompletionChunk]:
        """Return the model's completion, or with ``stream=True`` an iterator of its chunks.

        Messages may be dictionaries, `Message` objects, or both. Other arguments go into the
        request as they are. No answer is an `APIError`, an unusable one a `ReplyError`.
        """
        endpoint = resolve()
        if tools:
            more = {"tool_choice": tool_choice, **more}
        body = make_body(messages, model, tools, stream=stream, more=more)
        if stream:
            return _chunks(endpoint, body)
        raw, message = complete(endpoint, body, CONNECT_SECONDS, IDLE_SECONDS)
        choices = [_choice(choice) for choice in raw["choices"][1:]]
        first = raw["choices"][0]
        choices.insert(0, Choice(message, message.finish_reason, 0, _unknown(first)))
        return shape_completion(raw, choices)


class _Chat:
    """What ``chat`` is."""

    completions = _Completions()


chat = _Chat()


def _chunks(endpoint: Any, body: bytes) -> Iterator[ChatCompletionChunk]:
    with post_for_events(endpoint, body, CONNECT_SECONDS, IDLE_SECONDS) as exchange:
        if "json" in exchange.headers.get("content-type", ""):
            raw = read_completion(exchange.body(), exchange.source)
            reply_of(raw, exchange.source)
            yield whole_chunk(raw)
            return
        # It is put together beside, so that a stream which is cut or contradicts itself fails.
        reply = StreamedReply(exchange.source)
        for data in event_data(exchange):
            reply.add(data)
            if not reply.done:
                yield read_chunk(load(data))
        reply.message()


def _choice(raw: Any) -> Choice:
    message = parse_message(raw.get("message") or {})
    message.finish_reason = raw.get("finish_reason")
    return Choice(message, raw.get("finish_reason"), raw.get("index") or 0, _unknown(raw))


def _unknown(raw: Any) -> dict[str, Any]:
    return {k: v for k, v in raw.items() if k not in ("message", "finish_reason", "index")}


def _live(name: str) -> property:
    """Return a property of this module that is a setting as it stands."""

    def look(_: object) -> str:
        return setting(name)

    def assign(_: object, value: str | None) -> None:
        assigned.pop(name, None)
        # What is the environment's anyway is not pinned: so a patch that is undone leaves nothing.
        if setting(name) != (value or ""):
            assigned[name] = value or ""

    def forget(_: object) -> None:
        assigned.pop(name, None)

    return property(look, assign, forget)


class _Module(ModuleType):
    """The module itself, with its two settings alive."""

    OPENAI_BASE_URL = _live("OPENAI_BASE_URL")
    OPENAI_API_KEY = _live("OPENAI_API_KEY")


sys.modules[__name__].__class__ = _Module
