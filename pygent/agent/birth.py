"""What happens when an agent is made: its conversation is found or begun."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..events import HistoryEdited, SandboxChosen, SessionStarted
from ..log import MessageFile, Mirror
from ..messages import Message, well_formed
from ..models import default_model
from ..runtime import Runtime, warn_once
from ..tools import CallContext
from ..version import __version__
from .unanswered import answer_after_crash

if TYPE_CHECKING:
    from .agent import Agent

__all__ = ["DELEGATED", "adopt_history", "prepare", "record_choice"]

DELEGATED: ContextVar[bool] = ContextVar("pygent_delegated", default=False)
"""Set while the agent of a task is made: files that a setting names are not for it."""


def prepare(agent: Agent) -> None:
    """Fill in what was not given, and begin or restore the conversation."""
    _fill_in(agent)
    given, agent.history = agent.history, agent.log.history
    if agent.log.state.seq:
        answer_after_crash(agent)
        _repair(agent)
    else:
        title, workspace = agent.log.title, agent.log.workspace
        agent.log.append(SessionStarted(pygent=__version__, title=title, workspace=workspace))
    mirror = Mirror(Path(agent.history_file)) if agent.history_file is not None else None
    restored = mirror.load() if mirror is not None else []
    if restored or given:
        _replace(agent, restored or given, "restored" if restored else "given")
    agent._prompt.build_first()
    if mirror is not None:
        agent.history_file = mirror.path
        agent.log.follow(mirror, have=len(agent.history) if restored else 0)
    if agent.log_file is not None:
        agent.log_file = Path(agent.log_file)
        agent.log.follow(MessageFile(agent.log_file), have=len(agent.history))
    if not agent.history:
        agent._prompt.send()


def adopt_history(agent: Agent) -> None:
    """Take over a list that a user put in the place of the history, and record it."""
    if agent.history is not agent.log.history:
        given, agent.history = agent.history, agent.log.history
        _replace(agent, given, "edited")


def _fill_in(agent: Agent) -> None:
    model: Any = agent.model
    agent.model = default_model() if model is None else model
    context = CallContext.current()
    if context is not None and agent.log.parent is None and agent.log is not context.agent.log:
        agent.log.parent = context.agent.session  # an agent that a tool makes is its caller's child
    record_choice(agent)


def record_choice(agent: Agent) -> None:
    """Have the choice of a sandbox recorded, unless somebody else listens for it already."""
    log = agent.log
    runtime: Any = agent.runtime
    if not isinstance(runtime, Runtime) or runtime.on_choice is not None:
        return

    def chosen(choice: Any) -> None:
        log.append(
            SandboxChosen(
                tier=choice.tier,
                isolated=choice.isolated,
                reason=choice.reason,
                gaps=list(choice.gaps),
                asked_for=choice.asked_for,
            )
        )
        told = choice.isolated or choice.asked_for or log.has_listeners
        if agent.is_at_work and not told:
            warn_once(choice, in_a_turn=True)  # nobody is watching, and it must not be missed

    runtime.on_choice = chosen


def _repair(agent: Agent) -> None:
    """Answer the calls that an earlier writer of this log left open."""
    entries = list(agent.log.history)
    if len(well_formed(entries)) != len(entries):
        _replace(agent, entries, "repaired")


def _replace(agent: Agent, messages: Iterable[Any], reason: str) -> None:
    fixed = [m.to_dict() if isinstance(m, Message) else dict(m) for m in well_formed(messages)]
    agent.log.append(HistoryEdited(messages=fixed, reason=reason))
