"""Names, modules and signatures that programs written for the original find here."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import warnings

import pytest

import pygent
from pygent.agent import Agent

TOP = [
    "Agent",
    "TaskManager",
    "Runtime",
    "Model",
    "OpenAIModel",
    "Persona",
    "openai_compat",
    "set_custom_model",
    "set_system_message_builder",
    "Session",
    "CliSession",
    "run_interactive",
    "load_config",
    "load_snapshot",
    "register_tool",
    "tool",
    "execute_tool",
    "remove_tool",
    "reset_tools",
    "clear_tools",
    "register_task_tools",
    "PROMPT_BUILDERS",
    "AGENT_PRESETS",
    "AgentPreset",
    "create_app",
    "PygentError",
    "APIError",
    "__version__",
]

MODULES = {
    "agent": "Agent run_interactive set_system_message_builder",
    "runtime": "Runtime",
    "tools": (
        "TOOLS TOOL_SCHEMAS register_tool tool execute_tool remove_tool reset_tools clear_tools "
        "_bash _write_file _read_image _delegate_task _delegate_persona_task _list_personas "
        "_task_status _collect_file _upload_file _download_file _task_manager"
    ),
    "models": "Model OpenAIModel CUSTOM_MODEL set_custom_model",
    "openai_compat": "Message ToolCall ToolCallFunction Choice ChatCompletion chat parse_message",
    "task_manager": "TaskManager",
    "task_tools": "register_task_tools get_task_manager set_task_manager",
    "persona": "Persona",
    "config": "load_config run_py_config load_snapshot",
    "session": "Session CliSession",
    "commands": "register_command COMMANDS cmd_help cmd_save cmd_tools cmd_banned cmd_confirm_bash",
    "prompt_library": "PROMPT_BUILDERS",
    "agent_presets": "AGENT_PRESETS AgentPreset",
    "system_message": "build_system_msg set_system_message_builder",
    "fastapi_app": "create_app",
    "ui": "run_gui",
    "errors": "PygentError APIError",
}


@pytest.mark.parametrize("name", TOP)
def test_the_front_door(name):
    """`from pygent import …` works for every name of the original."""
    assert getattr(pygent, name) is not None


@pytest.mark.parametrize("module", MODULES)
def test_the_modules(module):
    """Every promised import path has its promised names."""
    loaded = importlib.import_module(f"pygent.{module}")
    for name in MODULES[module].split():
        assert hasattr(loaded, name), name


def parameters(func):
    return {
        name: p.default if p.default is not p.empty else "-"
        for name, p in inspect.signature(func).parameters.items()
        if name != "self" and p.kind is not p.KEYWORD_ONLY
    }


SIGNATURES = {
    "agent.Agent.step": {"user_msg": None, "role": "user"},
    "agent.Agent.run_until_stop": {
        "user_msg": "-",
        "max_steps": 20,
        "step_timeout": None,
        "max_time": None,
    },
    "agent.Agent.append_history": {"msg": "-"},
    "agent.Agent.refresh_system_message": {},
    "agent.Agent.close": {},
    "runtime.Runtime": {
        "image": None,
        "use_docker": None,
        "initial_files": None,
        "workspace": None,
        "banned_commands": None,
        "banned_apps": None,
    },
    "runtime.Runtime.bash": {"cmd": "-", "timeout": 30, "stream": None},
    "runtime.Runtime.write_file": {"path": "-", "content": "-"},
    "runtime.Runtime.read_file": {"path": "-", "binary": False},
    "runtime.Runtime.upload_file": {"src": "-", "dest": None},
    "runtime.Runtime.export_file": {"path": "-", "dest": "-"},
    "runtime.Runtime.cleanup": {},
    "tools.register_tool": {"name": "-", "description": "-", "parameters": "-", "func": "-"},
    "tools.execute_tool": {"call": "-", "rt": "-"},
    "tools.remove_tool": {"name": "-"},
    "models.set_custom_model": {"model": "-"},
    "openai_compat.parse_message": {"raw": "-"},
    "task_manager.TaskManager": {"agent_factory": None, "max_tasks": None, "personas": None},
    "task_manager.TaskManager.start_task": {
        "prompt": "-",
        "parent_rt": "-",
        "files": None,
        "parent_depth": 0,
        "step_timeout": None,
        "task_timeout": None,
        "persona": None,
    },
    "task_manager.TaskManager.status": {"task_id": "-"},
    "task_manager.TaskManager.collect_file": {"rt": "-", "task_id": "-", "path": "-", "dest": None},
    "persona.Persona": {"name": "-", "description": "-"},
    "config.load_config": {"path": None},
    "config.run_py_config": {"path": "config.py"},
    "config.load_snapshot": {"path": "-"},
    "system_message.build_system_msg": {"persona": "-", "disabled_tools": None},
    "system_message.set_system_message_builder": {"builder": "-"},
}


@pytest.mark.parametrize("path", SIGNATURES)
def test_signatures(path):
    """Same names in the same order with the same defaults; what is new is keyword-only."""
    module, *names = path.split(".")
    found = importlib.import_module(f"pygent.{module}")
    for name in names:
        found = getattr(found, name)
    assert list(parameters(found).items()) == list(SIGNATURES[path].items())


def test_the_fields_of_an_agent():
    """A dataclass, its promised fields first and in order."""
    assert dataclasses.is_dataclass(Agent)
    names = [field.name for field in dataclasses.fields(Agent) if not field.kw_only]
    assert names == [
        "runtime",
        "model",
        "model_name",
        "persona",
        "system_message_builder",
        "system_msg",
        "history",
        "history_file",
        "disabled_tools",
        "log_file",
        "confirm_bash",
        "max_non_tool_replies",
    ]
    assert callable(Agent.__post_init__)


def test_the_custom_model_is_seen_where_it_was():
    """`models.CUSTOM_MODEL` follows `set_custom_model`."""
    from pygent import models

    marker = object()
    models.set_custom_model(marker)
    assert models.CUSTOM_MODEL is marker
    models.set_custom_model(None)
    assert models.CUSTOM_MODEL is None


def test_messages():
    """`Message(role, content, tool_calls)`, and calls by position."""
    from pygent.openai_compat import Choice, Message, ToolCall, ToolCallFunction, parse_message

    call = ToolCall("1", "function", ToolCallFunction("bash", '{"cmd": "ls"}'))
    message = Message("assistant", None, [call])
    assert message.tool_calls[0].function.name == "bash"
    assert Message("user").content is None
    assert (
        parse_message({"role": "assistant", "content": "x", "tool_calls": None}).tool_calls is None
    )
    assert "message" in {field.name for field in dataclasses.fields(Choice)}


def test_importing_warns_of_nothing():
    """Not even when warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(importlib.import_module("pygent.version"))
