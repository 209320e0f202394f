"""Pygent: a coding agent that you can import."""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

from . import agent as _agent, openai_compat
from .agent import Agent
from .config import load_config, load_snapshot
from .errors import (
    APIError,
    Cancelled,
    ConfigError,
    PygentError,
    SandboxError,
    StoreError,
    TimedOut,
    ToolError,
)
from .log import Log
from .models import Model, OpenAIModel, set_custom_model
from .persona import Persona
from .prompt_library import PROMPT_BUILDERS
from .runtime import Runtime
from .system_message import set_system_message_builder
from .task_manager import TaskManager
from .task_tools import register_task_tools
from .tools import clear_tools, execute_tool, register_tool, remove_tool, reset_tools, tool
from .version import __version__

if _typing.TYPE_CHECKING:
    from .agent_presets import AGENT_PRESETS, AgentPreset
    from .fastapi_app import create_app
    from .session import CliSession, Session, run_interactive

__all__ = [
    "AGENT_PRESETS",
    "PROMPT_BUILDERS",
    "APIError",
    "Agent",
    "AgentPreset",
    "Cancelled",
    "CliSession",
    "ConfigError",
    "Log",
    "Model",
    "OpenAIModel",
    "Persona",
    "PygentError",
    "Runtime",
    "SandboxError",
    "Session",
    "StoreError",
    "TaskManager",
    "TimedOut",
    "ToolError",
    "__version__",
    "clear_tools",
    "create_app",
    "execute_tool",
    "load_config",
    "load_snapshot",
    "openai_compat",
    "register_task_tools",
    "register_tool",
    "remove_tool",
    "reset_tools",
    "run_interactive",
    "set_custom_model",
    "set_system_message_builder",
    "tool",
]

# Fetched when they are first asked for: few programs need them.
_LATER = {
    "AGENT_PRESETS": "agent_presets",
    "AgentPreset": "agent_presets",
    "CliSession": "session",
    "Session": "session",
    "create_app": "fastapi_app",
    "run_interactive": "session",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_agent.fill_in(run_interactive=lambda: __getattr__("run_interactive"))
