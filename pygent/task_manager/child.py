"""Making the agent of a task: its own workspace, and never more rights than its parent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .. import models
from ..agent import Agent
from ..log import Log
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
    agent = _default(persona, parent) if factory is None else _from(factory, persona)
    made = getattr(agent, "runtime", None)
    if made is not None and made is not parent_rt:
        made.cleanup()
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
    return Agent(persona=persona, runtime=Runtime(), history_file=None, log_file=None, **own)


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
        agent.confirm_bash = agent.confirm_bash or parent.confirm_bash
        agent.approve = agent.approve or parent.approve
    agent.disabled_tools = list(dict.fromkeys([*agent.disabled_tools, *forbidden]))
    agent.refresh_if_changed()


def copy_file(source: Any, target: Any, path: str, dest: str | None = None) -> str | None:
    """Copy a file or directory between two workspaces; returns None when there is nothing.

    Both ends keep to their own path policy: no link leads out of either.
    """
    import tempfile
    from pathlib import Path

    if source.files.stat(path) is None:
        return None
    with tempfile.TemporaryDirectory(prefix="pygent-copy-") as folder:
        between = Path(folder) / "file"
        source.files.copy_out(path, between)
        return str(target.files.copy_in(between, dest or path))
