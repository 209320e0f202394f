"""Answering the tool calls of a reply: each gets exactly one answer, in order."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..cancel import CancelScope
from ..errors import Cancelled, PygentError, TimedOut
from ..events import Delta, MessageAdded, ToolFinished, ToolStarted
from ..messages import Message, ToolCall
from ..tools import CallContext, Effect, Outcome, Tool, run_tool, unknown_tool
from .approval import refusal
from .worker import invoke

if TYPE_CHECKING:
    from .agent import Agent
    from .loop import Events

__all__ = ["answer_calls"]

PARALLEL = 8
GRACE = 1.0
_HARMLESS = (Effect.PURE, Effect.IDEMPOTENT)


@dataclass(frozen=True)
class Prepared:
    """A call that may run, or the answer that it gets instead."""

    call: ToolCall
    tool: Tool | None
    instead: Outcome | None = None

    @property
    def parallel(self) -> bool:
        """Whether the call may run beside others."""
        return self.tool is not None and self.tool.effect is Effect.PURE


def answer_calls(agent: Agent, reply: Message, scope: CancelScope) -> Events[str | None]:
    """Run the calls of a reply; returns why the turn is over, if one of them ends it.

    Where something cuts this short, `turn` has the calls answered that are open by then.
    """
    calls = list(reply.tool_calls or ())
    over: str | None = None
    images: list[str] = []
    for batch in _batches(agent, calls):
        prepared = []
        for call in batch:
            prepared.append((yield from _prepare(agent, call)))  # noqa: PERF401 - it yields events
        for item in prepared:
            if item.instead is None:
                yield agent.log.append(_intent(item), sync=_must_last(item))
        for item, outcome, seconds in _run(agent, prepared, scope):
            shown = _without_image(outcome, images)
            yield agent.log.append(_answer(item.call, shown, seconds))
            if item.tool is not None and shown.outcome == "ok":
                over = over or item.tool.ends_turn
        scope.check()
    if images:
        yield agent.log.append(_image_message(images))
    return over


def _batches(agent: Agent, calls: list[ToolCall]) -> Iterator[list[ToolCall]]:
    """Group neighbouring calls of pure tools; each other call stands alone."""
    batch: list[ToolCall] = []
    for call in calls:
        tool = agent.find_tool(call.function.name)
        if tool is not None and tool.effect is Effect.PURE and len(batch) < PARALLEL:
            batch.append(call)
            continue
        if batch:
            yield batch
            batch = []
        if tool is not None and tool.effect is Effect.PURE:
            batch = [call]
        else:
            yield [call]
    if batch:
        yield batch


def _prepare(agent: Agent, call: ToolCall) -> Events[Prepared]:
    """Find the tool and ask for leave; what was asked and answered is recorded."""
    name = call.function.name
    if name in agent.disabled_tools:
        text = f"[error] tool {name} is disabled; available: {', '.join(agent.tool_names())}"
        return Prepared(call, None, Outcome(text, "refused"))
    tool = agent.find_tool(name)
    if tool is None:
        return Prepared(call, None, unknown_tool(name, agent.tool_names()))
    refused = yield from refusal(agent, call)
    return Prepared(call, tool, None if refused is None else Outcome(refused, "refused"))


def _run(
    agent: Agent, prepared: list[Prepared], scope: CancelScope
) -> Iterator[tuple[Prepared, Outcome, float]]:
    """Yield the outcome of each call, in order; those that may run beside each other do."""
    if len(prepared) == 1:
        yield (prepared[0], *_timed(agent, prepared[0], scope)())
        return
    results: dict[int, tuple[Outcome, float]] = {}
    errors: list[BaseException] = []

    def work(index: int, run: Callable[[], tuple[Outcome, float]]) -> None:
        try:
            results[index] = run()
        except BaseException as error:  # noqa: BLE001 - it is raised where the results are read
            errors.append(error)

    threads = [
        threading.Thread(
            target=contextvars.copy_context().run,
            args=(work, index, _timed(agent, item, scope)),
            daemon=True,
        )
        for index, item in enumerate(prepared)
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:  # an interrupt: the commands are dead before it is told
        scope.cancel()
        _join(threads)
        raise
    for index, item in enumerate(prepared):
        if index not in results:
            raise errors[0]
        yield (item, *results[index])


def _join(threads: list[threading.Thread]) -> None:
    """Give threads that were told to stop a moment to do so."""
    until = time.monotonic() + GRACE
    for thread in threads:
        if thread.ident is not None:
            thread.join(max(0.0, until - time.monotonic()))


def _timed(agent: Agent, item: Prepared, scope: CancelScope) -> Callable[[], tuple[Outcome, float]]:
    def run() -> tuple[Outcome, float]:
        started = time.monotonic()
        outcome = item.instead or _execute(agent, item, scope)
        return outcome, round(time.monotonic() - started, 6)

    return run


def _execute(agent: Agent, item: Prepared, scope: CancelScope) -> Outcome:
    """Run one call to its end, or to that of the scope."""
    tool, call = item.tool, item.call
    assert tool is not None
    context = CallContext(
        call_id=call.id,
        agent=agent,
        show=lambda text: (
            None if scope.over else agent.log.publish(Delta("output", text, call=call.id))
        ),
    )

    def run() -> Outcome:
        with context.active():
            return run_tool(tool, call.function.arguments, agent.runtime)

    # The lock is this thread's: a tool that is left behind does not keep it.
    lock: Any = None if tool.effect in _HARMLESS else getattr(agent.runtime, "lock", None)
    try:
        with scope.active(), nullcontext() if lock is None else lock():
            return invoke(run, scope, honours_cancel=tool.honours_cancel)
    except Cancelled as error:
        return _cut_short(error)
    except (PygentError, OSError) as error:  # the workspace cannot be used, so it has no lock
        return Outcome(f"[error] {error}", "error")


def _cut_short(error: Cancelled) -> Outcome:
    """Return what the model is told of a call that was stopped."""
    text = error.output
    if error.abandoned:
        return Outcome(f"{text}[{error}: it did not stop, its outcome is unknown]", "unknown")
    if isinstance(error, TimedOut):
        return Outcome(f"{text}[{error}]", "timeout")
    return Outcome(f"{text}[cancelled]", "cancelled")


def _must_last(item: Prepared) -> bool:
    """Whether the intent has to survive a power cut: what cannot be undone must never be lost."""
    return item.tool is not None and item.tool.effect is Effect.IRREVERSIBLE


def _intent(item: Prepared) -> ToolStarted:
    assert item.tool is not None
    function = item.call.function
    return ToolStarted(
        call=item.call.id,
        name=function.name,
        arguments=function.arguments,
        effect=item.tool.effect.value,
    )


def _answer(call: ToolCall, outcome: Outcome, seconds: float) -> ToolFinished:
    return ToolFinished(
        call=call.id,
        name=call.function.name,
        content=outcome.content,
        outcome=outcome.outcome,
        seconds=seconds,
    )


def _without_image(outcome: Outcome, images: list[str]) -> Outcome:
    """Keep an image for the message after the answers: a tool's answer can only be text."""
    if not outcome.content.startswith("data:image/"):
        return outcome
    images.append(outcome.content)
    return Outcome(f"[image {len(images)} follows]", outcome.outcome)


def _image_message(images: list[str]) -> MessageAdded:
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return MessageAdded(message={"role": "user", "content": parts})
