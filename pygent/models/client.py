"""Asking through an object like the official client, for those who have one set up."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ..errors import APIError
from ..events import Delta
from ..messages import Message, parse_message
from .failures import Source
from .reply import make_message
from .request import plain_messages
from .streamed import StreamedReply

__all__ = ["complete", "stream"]


def complete(
    client: Any, messages: Sequence[Any], model: str, tools: Sequence[Any] | None
) -> Message:
    """Return the client's reply."""
    source = Source("the client given to OpenAIModel")
    answer = _create(client, messages, model, tools)
    choices = _get(answer, "choices")
    if not choices:
        raise source.empty("choices is []")
    raw = _get(choices[0], "message")
    if raw is None:
        raise source.empty("message is null")
    usage = _plain(_get(answer, "usage"))
    message = parse_message(raw)
    return make_message(message.to_dict(), usage, _get(choices[0], "finish_reason"), source)


def stream(
    client: Any, messages: Sequence[Any], model: str, tools: Sequence[Any] | None
) -> Generator[Delta | Message]:
    """Yield the client's reply as it comes, then whole."""
    reply = StreamedReply(Source("the client given to OpenAIModel"))
    more = {"stream": True, "stream_options": {"include_usage": True}}
    for chunk in _create(client, messages, model, tools, **more):
        yield from reply.take(_plain(chunk))
    yield reply.message()


def _create(
    client: Any, messages: Sequence[Any], model: str, tools: Sequence[Any] | None, **more: Any
) -> Any:
    if tools:
        more["tools"] = list(tools)
    try:
        return client.chat.completions.create(
            model=model, messages=plain_messages(messages), **more
        )
    except Exception as exc:
        status = getattr(exc, "status_code", None)
        if isinstance(exc, APIError) or not isinstance(status, int):
            raise
        body = getattr(exc, "body", None)
        request_id = getattr(exc, "request_id", None)
        raise APIError(
            str(exc), status=status, body=None if body is None else str(body), request_id=request_id
        ) from exc


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _plain(value: Any) -> Any:
    """Return a client's object as a mapping."""
    if value is None or isinstance(value, Mapping):
        return value
    for name in ("model_dump", "to_dict"):
        if callable(dump := getattr(value, name, None)):
            return dump()
    return vars(value)
