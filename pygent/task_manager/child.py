"""Making the agent of a task: its own workspace, and never more rights than its parent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .. import models
from ..agent import DELEGATED, Agent
from ..agent.approval import Approver
from ..errors import ToolError
from ..log import Log
from ..messages import ToolCall
from ..persona import Persona
from ..runtime import Runtime
from ..tools import CallContext

__all__ = ["copy_file", "make_child"]

# Nobody is there to answer a delegated agent.
_NEEDS_A_USER = ("ask_user", "continue")


def make_child(
    factory: Callable[..., Any] | None, persona: Persona, parent_rt: Any, depth: int
) -> Any:
    """Return an agent with a workspace of its own, whose runtime is like its parent's."""
    context = CallContext.current()
    parent = None if context is None else context.agent
    token = DELEGATED.set(True)
    try:
        agent = _default(persona, parent) if factory is None else _from(factory, persona)
    finally:
        DELEGATED.reset(token)
    agent.runtime = parent_rt.sibling() if isinstance(parent_rt, Runtime) else Runtime()
    agent.runtime.task_depth = depth + 1
    agent.persona = persona
    if isinstance(agent, Agent):
        _restrain(agent, parent)
    return agent


def _default(persona: Persona, parent: Any) -> Agent:
    """Return the agent that works when no factory was given."""
    own: dict[str, Any] = {}
    if parent is not None:
        own = {
            "model_name": parent.model_name,
            "tools": parent.tools,
            "log": Log(parent=parent.session),
        }
        if models.CUSTOM_MODEL is None:
            own["model"] = parent.model
    return Agent(persona=persona, **own)


def _from(factory: Callable[..., Any], persona: Persona) -> Any:
    """Call a factory with the persona, or with nothing if it takes none."""
    try:
        inspect.signature(factory).bind(persona)
    except TypeError:
        return factory()
    except ValueError:  # a builtin without a signature
        return factory(persona)
    return factory(persona)


def _restrain(agent: Agent, parent: Any) -> None:
    """Hold the child to its parent's policy."""
    agent.display = False
    agent.log.parent = agent.log.parent or getattr(parent, "session", None)
    agent.watch_runtime()
    forbidden: Iterable[str] = _NEEDS_A_USER
    if isinstance(parent, Agent):
        forbidden = (*_NEEDS_A_USER, *parent.disabled_tools)
        forbidden = (*forbidden, *(n for n in agent.all_tools() if parent.find_tool(n) is None))
        agent.confirm_bash = agent.confirm_bash or parent.confirm_bash
        agent.approve = _both(parent.approve, agent.approve)
    agent.disabled_tools = list(dict.fromkeys([*agent.disabled_tools, *forbidden]))
    agent.refresh_if_changed()


def _both(parents: Approver | None, own: Approver | None) -> Approver | None:
    """Return an approver that allows what the parent's and the child's own allow."""
    if parents is None or own is None or parents is own:
        return parents or own

    def approve(call: ToolCall) -> bool | str:
        answer = parents(call)
        return own(call) if answer is True else answer

    return approve


def copy_file(source: Any, target: Any, path: str, dest: str | None = None) -> str | None:
    """Copy a file or directory between two workspaces; returns None when there is nothing.

    Both ends keep to their own path policy: no link leads out of either.
    """
    import tempfile
    from pathlib import Path

    for end in (source, target):
        if not hasattr(end, "files"):
            raise ToolError(f"{path} cannot be copied: {type(end).__name__} has no files to offer")
    if source.files.stat(path) is None:
        return None
    with tempfile.TemporaryDirectory(prefix="pygent-copy-") as folder:
        between = Path(folder) / "file"
        source.files.copy_out(path, between)
        return str(target.files.copy_in(between, dest or path))
