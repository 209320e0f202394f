"""The loop. Read `turn`, `work`, `step`, and then `answer_calls` in `calls`: that is all of it.

All of them are generators of events. An event is recorded in the log before it is yielded, so
whoever reads them only watches. A scope is current around each blocking call, never across a
``yield``: the reader may take the next event in another thread.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..cancel import CancelScope
from ..errors import Cancelled, EmptyReply, TimedOut
from ..events import Delta, Event, MessageAdded, TurnEnded
from ..messages import Message
from .asking import ask
from .birth import adopt_history
from .calls import answer_calls
from .unanswered import answer_open

if TYPE_CHECKING:
    from .agent import Agent

__all__ = ["Events", "Limits", "turn"]

T = TypeVar("T")
Events = Generator[Event | Delta, None, T]

MAX_EMPTY_REPLIES = 3
EMPTY = "Your reply was empty. Call a tool, or answer."


@dataclass(frozen=True)
class Limits:
    """When a turn ends at the latest.

    ``until_stop`` goes on after plain answers, ``one_step`` ends after one model call.
    """

    max_steps: int = 20
    step_timeout: float | None = None
    until_stop: bool = False
    max_plain_replies: int | None = None
    one_step: bool = False


def turn(
    agent: Agent, text: str | None, scope: CancelScope, limits: Limits, role: str = "user"
) -> Events[Message | None]:
    """Work on one message, and record how that ended; returns the last reply."""
    since = agent.log.state.seq
    cut: Cancelled | None = None
    try:
        reason = yield from work(agent, text, scope, limits, role)
    except TimedOut as error:
        reason, cut = "timeout", error
    except Cancelled as error:
        reason, cut = "cancelled", error
    except Exception as error:
        answer_open(agent, error)
        text_ = str(error) or type(error).__name__
        yield agent.log.append(TurnEnded(reason="error", error=text_))
        raise
    except BaseException as error:
        scope.cancel()  # what runs beside that which was interrupted stops too
        answer_open(agent, error)
        agent.log.append(TurnEnded(reason=_cut_short(error), error=str(error) or None))
        raise
    yield from _close(agent, reason, cut)
    return _last_reply(agent, since)


def work(
    agent: Agent, text: str | None, scope: CancelScope, limits: Limits, role: str
) -> Events[str]:
    """Take steps until the model is done or a limit is reached; returns which."""
    yield from _open(agent, text, role)
    plain, empty = 0, 0
    for _ in range(limits.max_steps):
        if plain:
            yield agent.log.append(_message(EMPTY if empty else "continue"))
        reply, over = yield from _bounded_step(agent, scope, limits)
        has_calls = reply is not None and bool(reply.tool_calls)
        plain = 0 if has_calls else plain + 1
        empty = 0 if has_calls or (reply is not None and reply.content) else empty + 1
        ending = over or _plain_ending(limits, plain, empty)
        if ending:
            return ending
    return "max_steps"


def _close(agent: Agent, reason: str, cut: Cancelled | None) -> Events[None]:
    """Record the end of a turn, all of it at once: nobody may stay to read it."""
    last: list[Event] = []
    answer_open(agent, cut)
    limit = str(cut) if isinstance(cut, TimedOut) else None
    if limit is not None:
        message = {"role": "system", "content": f"[{limit}]"}
        last.append(agent.log.append(MessageAdded(message=message)))
    last.append(agent.log.append(TurnEnded(reason=reason, error=limit)))
    yield from last


def step(agent: Agent, scope: CancelScope) -> Events[tuple[Message, str | None]]:
    """Ask the model once and run the tools it asks for; returns why the turn is over, if so."""
    reply = yield from ask(agent, scope)
    over = yield from answer_calls(agent, reply, scope)
    return reply, over


def _open(agent: Agent, text: str | None, role: str) -> Events[None]:
    """Begin a turn with what the user said."""
    agent.log.begin_turn()
    adopt_history(agent)
    agent.refresh_if_changed()
    if text is not None:
        yield agent.log.append(_message(text, role))


def _bounded_step(
    agent: Agent, scope: CancelScope, limits: Limits
) -> Events[tuple[Message | None, str | None]]:
    """Take one step within its own time; a reply that never came counts as an empty one."""
    inner = scope if limits.step_timeout is None else CancelScope(limits.step_timeout, scope)
    agent.refresh_if_changed()
    try:
        return (yield from step(agent, inner))
    except EmptyReply:
        if limits.one_step:
            raise
        return None, None


def _plain_ending(limits: Limits, plain: int, empty: int) -> str | None:
    """Return why the turn is over after a reply that does not end it by itself, or None."""
    if limits.one_step:
        return "step"
    if empty:
        return "no_reply" if empty >= MAX_EMPTY_REPLIES else None
    if plain and not limits.until_stop:
        return "answer"
    if limits.max_plain_replies is not None and plain >= limits.max_plain_replies:
        return "max_replies"
    return None


def _last_reply(agent: Agent, since: int) -> Message | None:
    """Return the last reply of this turn, also of one whose calls were cut short."""
    for entry in reversed(agent.log.history):
        if getattr(entry, "seq_", 0) <= since:
            return None
        if isinstance(entry, Message):
            return entry
    return None


def _message(text: str, role: str = "user") -> MessageAdded:
    return MessageAdded(message={"role": role, "content": text})


def _cut_short(error: BaseException) -> str:
    if isinstance(error, GeneratorExit):
        return "cancelled"
    return "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
