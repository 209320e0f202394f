"""What callers pass in, looked at before anything is done with it."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..persona import Persona
from ..runtime import Runtime
from ..system_message import default_persona

if TYPE_CHECKING:
    from .agent import Agent

__all__ = ["check_fields", "check_limits"]


def check_fields(agent: Agent) -> None:
    """Bring an agent's fields into their form; `ConfigError` names the one that has none."""
    given: Any = agent
    for name in ("tools", "disabled_tools"):
        value = getattr(given, name)
        if isinstance(value, str):
            raise ConfigError(f"{name} is {value!r}: give a list, [{value!r}]")
    if given.model is not None and not callable(getattr(given.model, "chat", None)):
        raise ConfigError(
            f"model is {given.model!r:.80}: give an object with chat(messages, model, tools); "
            "a name goes into model_name="
        )
    if not (isinstance(given.model_name, str) and given.model_name):
        raise ConfigError(f"model_name is {given.model_name!r}: give the name of a model")
    if not isinstance(given.confirm_bash, bool):
        raise ConfigError(f"confirm_bash is {given.confirm_bash!r}: give True or False")
    most = given.max_non_tool_replies
    if most is not None and not _is_count(most, 0):
        raise ConfigError(f"max_non_tool_replies is {most!r}: give a whole number, or None")
    for name, told in (("approve", "a call"), ("system_message_builder", "persona and tools")):
        value = getattr(given, name)
        if value is not None and not callable(value):
            raise ConfigError(f"{name} is {value!r:.80}: give a function that is told {told}")
    agent.disabled_tools = list(given.disabled_tools or ())
    agent.tools = None if given.tools is None else list(given.tools)
    agent.persona = _persona(given.persona)
    agent.runtime = _runtime(given.runtime, given.workspace)


def check_limits(user_msg: Any, max_steps: Any, **seconds: Any) -> None:
    """Refuse a message, a number of steps or a time that is none."""
    if user_msg is not None and not isinstance(user_msg, str):
        raise ConfigError(f"the message is {user_msg!r:.80}: give it as text")
    if not _is_count(max_steps, 1):
        raise ConfigError(f"max_steps is {max_steps!r}: give a whole number of at least 1")
    for name, value in seconds.items():
        if value is None:
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or math.isnan(value) or value < 0:
            raise ConfigError(f"{name} is {value!r}: give a number of seconds, or None")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _persona(persona: Any) -> Persona:
    if persona is None:
        return default_persona()
    if isinstance(persona, str):
        return Persona(persona, "")
    if not (hasattr(persona, "name") and hasattr(persona, "description")):
        raise ConfigError(f"persona is {persona!r:.80}: give a Persona, or a name")
    found: Persona = persona
    return found


def _runtime(runtime: Any, workspace: Any) -> Any:
    if workspace is None:
        return Runtime() if runtime is None else runtime
    if not isinstance(workspace, str | os.PathLike):
        raise ConfigError(f"workspace is {workspace!r:.80}: give the path of a folder")
    if runtime is None:
        return Runtime(workspace=workspace)
    # `dataclasses.replace` gives both, of one agent.
    if str(getattr(runtime, "base_dir", "")) != os.path.abspath(os.path.expanduser(workspace)):
        raise ConfigError("runtime= and workspace= both say where to work: give one of them")
    return runtime
