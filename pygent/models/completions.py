"""One chat completion over HTTP, whole or in pieces."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ..events import Delta
from ..messages import Message
from .endpoint import Endpoint
from .reply import read_completion, reply_of
from .sse import EventParser
from .streamed import StreamedReply

if TYPE_CHECKING:
    from .http.exchange import Exchange

__all__ = ["complete", "event_data", "post_for_events", "stream"]

_MAX_EVENT = 16 * 1024 * 1024


def complete(
    endpoint: Endpoint,
    body: bytes,
    connect_timeout: float | None = 10.0,
    idle_timeout: float | None = 300.0,
) -> tuple[dict[str, Any], Message]:
    """Ask, and return the completion and its message."""
    from .http.exchange import post

    with post(
        endpoint, body, connect_timeout=connect_timeout, idle_timeout=idle_timeout
    ) as exchange:
        answer = exchange.body()
        source = exchange.source
    completion = read_completion(answer, source)
    return completion, reply_of(completion, source)


def stream(
    endpoint: Endpoint,
    body: bytes,
    connect_timeout: float | None = 10.0,
    idle_timeout: float | None = 300.0,
) -> Generator[Delta | Message]:
    """Ask, and yield the reply as it comes, then whole."""
    with post_for_events(endpoint, body, connect_timeout, idle_timeout) as exchange:
        if "json" in exchange.headers.get("content-type", ""):
            message = reply_of(read_completion(exchange.body(), exchange.source), exchange.source)
            deltas = _pieces(message)
        else:
            reply = StreamedReply(exchange.source)
            for data in event_data(exchange):
                yield from reply.add(data)
            message, deltas = reply.message(), []
    yield from deltas
    yield message


def post_for_events(
    endpoint: Endpoint, body: bytes, connect_timeout: float | None, idle_timeout: float | None
) -> AbstractContextManager[Exchange]:
    """Send a request whose answer is to be a stream of events."""
    from .http.exchange import post

    return post(
        endpoint,
        body,
        accept=b"text/event-stream",
        connect_timeout=connect_timeout,
        idle_timeout=idle_timeout,
    )


def event_data(exchange: Exchange) -> Iterator[str]:
    """Yield the data of each event of an answer, up to and with ``[DONE]``."""
    parser = EventParser()
    exchange.progressed()
    for chunk in exchange.chunks():
        events = parser.feed(chunk)
        if events:
            exchange.progressed()
            for data in events:
                yield data
                if data == "[DONE]":
                    exchange.drain()
                    return
        elif parser.pending > _MAX_EVENT:
            raise exchange.source.unusable(f"an event is longer than {_MAX_EVENT >> 20} MiB")
    yield from parser.finish()


def _pieces(message: Message) -> list[Delta]:
    """Return the deltas of a reply that came whole although a stream was asked for."""
    return [Delta("text", message.content)] if isinstance(message.content, str) else []
