"""Asking the model once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..cancel import CancelScope
from ..errors import APIError, ReplyError
from ..events import Delta, ModelFailed, ModelReplied, ModelRequested
from ..messages import Message, ToolCall, parse_message
from ..models import StreamingModel
from .worker import invoke

if TYPE_CHECKING:
    from .agent import Agent
    from .loop import Events

__all__ = ["ask"]


def ask(agent: Agent, scope: CancelScope) -> Events[Message]:
    """Send the conversation and return the reply, recorded; deltas are yielded on the way."""
    log, schemas = agent.log, agent.schemas()
    yield log.append(
        ModelRequested(model=agent.model_name, messages=len(log.history), tools=len(schemas))
    )
    started, partial = time.monotonic(), list[str]()
    try:
        raw = yield from _reply(agent, schemas, scope, partial)
        reply, renamed = _own(parse_message(raw), log.state.call_ids)
    except BaseException as error:
        log.append(_failure(error, "".join(partial)))
        raise
    yield log.append(
        ModelReplied(
            message=reply.to_dict(),
            seconds=round(time.monotonic() - started, 6),
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            renamed=renamed or None,
        )
    )
    recorded: Message = log.history[-1]
    return recorded


def _reply(agent: Agent, schemas: Any, scope: CancelScope, partial: list[str]) -> Events[Any]:
    """Return what the model says, in whatever form it says it."""
    model, waits = agent.model, getattr(agent.model, "honours_cancel", False)
    asked = (agent.history, agent.model_name, schemas)
    if not (agent.is_watched() and isinstance(model, StreamingModel)):
        return invoke(lambda: model.chat(*asked), scope, honours_cancel=waits)
    pieces = invoke(lambda: iter(model.stream(*asked)), scope, honours_cancel=waits)
    try:
        while True:
            piece = invoke(lambda: next(pieces, None), scope, honours_cancel=waits)
            if not isinstance(piece, Delta):
                break
            if piece.what == "text":
                partial.append(piece.text)
            agent.log.publish(piece)
            yield piece
    finally:
        _close(pieces)
    if piece is None:
        raise ReplyError("the model's stream ended without a message")
    return piece


def _close(pieces: Iterator[Any]) -> None:
    """Let go of a stream, unless it was left behind: one that still runs cannot be closed."""
    close = getattr(pieces, "close", None)
    if close is not None and not getattr(pieces, "gi_running", False):
        close()


def _own(message: Message, taken: set[str]) -> tuple[Message, dict[str, str]]:
    """Return a copy of the reply in which each call has an id that no other call ever had."""
    renamed: dict[str, str] = {}
    calls: list[ToolCall] = []
    ids = set[str]()
    for call in message.tool_calls or ():
        new = call.id
        number = len(taken) + len(ids) + 1
        while not new or new in taken or new in ids:
            new, number = f"{call.id or 'call'}-{number}", number + 1
        if new != call.id:
            renamed[new] = call.id
        ids.add(new)
        calls.append(replace(call, id=new, function=replace(call.function)))
    # An assistant message without calls needs text, be it none: the API refuses null there.
    content = "" if message.content is None and not calls else message.content
    own = replace(
        message,
        role="assistant",
        content=content,
        tool_calls=calls or None,
        extra=dict(message.extra),
    )
    return own, renamed


def _failure(error: BaseException, partial: str) -> ModelFailed:
    known = isinstance(error, APIError)
    return ModelFailed(
        error=str(error) or type(error).__name__,
        status=error.status if known else None,  # type: ignore[attr-defined]
        request_id=error.request_id if known else None,  # type: ignore[attr-defined]
        partial=partial or None,
    )
