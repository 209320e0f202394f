"""What a chat-completions server sends: completions, chunks, events, and faults of every kind."""

from __future__ import annotations

import enum
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..messages import Message, parse_message

__all__ = ["Fault", "Reply", "Step", "completion", "completion_chunks", "event"]


class Fault(enum.Enum):
    """What can go wrong in the middle of an answer."""

    RESET = "reset"
    """The connection is reset."""
    CUT = "cut"
    """The connection is closed, as if nothing was missing."""
    HANG = "hang"
    """Nothing comes any more, and the connection stays open."""


Step = bytes | str | float | threading.Event | Fault
"""Part of a scripted body: bytes to send, seconds to wait, an event to wait for, a fault."""


@dataclass
class Reply:
    """One scripted answer.

    ``message`` (a text, a dictionary, a `Message`) is answered properly, as a stream if that was
    asked for. Instead, ``body`` is sent as it is: bytes, text, something to dump as JSON, or a
    list of steps, each of them a chunk on the wire. ``before`` are steps ahead of the status line.
    """

    message: str | Mapping[str, Any] | Message | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    before: Sequence[Step] = ()
    usage: Mapping[str, Any] | None = None
    finish_reason: str | None = None

    def steps(self, request: Mapping[str, Any]) -> tuple[dict[str, str], Iterable[Step]]:
        """Return the headers and the body for a request."""
        headers = {"content-type": "application/json"}
        body = self.body
        if body is None and self.message is not None:
            whole = completion(self.message, request.get("model"), self.usage, self.finish_reason)
            if request.get("stream"):
                headers["content-type"] = "text/event-stream"
                body = [*map(event, completion_chunks(whole)), b"data: [DONE]\n\n"]
            else:
                body = whole
        elif isinstance(body, list | tuple) and request.get("stream"):
            headers["content-type"] = "text/event-stream"
        headers.update({name.lower(): value for name, value in self.headers.items()})
        if isinstance(body, list | tuple):
            return headers, body
        raw = _raw(body)
        headers.setdefault("content-length", str(len(raw)))
        return headers, [raw]


def completion(
    message: str | Mapping[str, Any] | Message,
    model: str | None = None,
    usage: Mapping[str, Any] | None = None,
    finish_reason: str | None = None,
) -> dict[str, Any]:
    """Return the whole completion that has ``message`` as its answer."""
    if isinstance(message, str):
        message = {"role": "assistant", "content": message}
    read = parse_message(message)
    reason = finish_reason or ("tool_calls" if read.tool_calls else "stop")
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": model or "test",
        "choices": [{"index": 0, "message": read.to_dict(), "finish_reason": reason}],
        "usage": dict(usage or {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
    }


def completion_chunks(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the chunks that a server would stream for a completion, word by word."""
    choice = whole["choices"][0]
    for delta in _deltas(choice["message"]):
        yield _chunk(whole, [{"index": 0, "delta": delta, "finish_reason": None}])
    yield _chunk(whole, [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}])
    yield {**_chunk(whole, []), "usage": whole["usage"]}


def event(chunk: Any) -> bytes:
    """Return a chunk as a server-sent event."""
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None}
    for name, value in message.items():
        if name in ("role", "tool_calls") or value is None:
            continue
        pieces = (re.findall(r"\s*\S+\s*", value) or [value]) if isinstance(value, str) else [value]
        for piece in pieces:
            yield {name: piece}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        head = {"name": function["name"], "arguments": ""}
        yield {"tool_calls": [{**call, "index": index, "function": head}]}
        half = len(function["arguments"]) // 2
        for part in (function["arguments"][:half], function["arguments"][half:]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _chunk(whole: Mapping[str, Any], choices: list[Any]) -> dict[str, Any]:
    kept = {name: whole[name] for name in ("id", "created", "model")}
    return {**kept, "object": "chat.completion.chunk", "choices": choices}


def _raw(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
