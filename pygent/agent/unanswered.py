"""Answering the calls that nobody will answer any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..events import ToolFinished

if TYPE_CHECKING:
    from .agent import Agent

__all__ = ["answer_after_crash", "answer_open"]


def answer_open(agent: Agent, error: BaseException | None) -> None:
    """Answer the calls that are open when a turn is cut short by ``error``."""
    why = "interrupted by the user" if isinstance(error, KeyboardInterrupt) else str(error or "")
    for call in agent.log.state.open_calls:
        if call.id in agent.log.state.running:
            text = f"{getattr(error, 'output', '')}[stopped: {why or 'cancelled'}]"
        else:
            text = f"[not run: {why or 'cancelled'}]"
        _answer(agent, call.id, call.function.name, text, "cancelled")


def answer_after_crash(agent: Agent) -> None:
    """Answer the calls that a log was left with; what had begun is not run again."""
    for call in agent.log.state.open_calls:
        if call.id in agent.log.state.running:
            text, outcome = "[no result: interrupted by a crash, the outcome is unknown]", "unknown"
        else:
            text, outcome = "[not run: interrupted by a crash]", "cancelled"
        _answer(agent, call.id, call.function.name, text, outcome)


def _answer(agent: Agent, call: str, name: str, text: str, outcome: str) -> None:
    agent.log.append(ToolFinished(call=call, name=name, content=text, outcome=outcome))
