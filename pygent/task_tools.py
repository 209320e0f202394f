"""The tools with which a model delegates work, and the manager behind them."""

from __future__ import annotations

import json
from typing import Any

from . import tools
from .errors import PygentError, ToolError
from .task_manager import TaskManager
from .tools import Effect, Registry, Tool

__all__ = ["get_task_manager", "register_task_tools", "set_task_manager"]


def get_task_manager() -> TaskManager:
    """Return the manager that the task tools use; it is made when it is first needed."""
    if tools._task_manager is None:
        tools._task_manager = TaskManager()
    manager: TaskManager = tools._task_manager
    return manager


def set_task_manager(manager: TaskManager | None) -> None:
    """Have the task tools use this manager; with None, a new one when it is needed."""
    tools._task_manager = manager


def register_task_tools() -> None:
    """Offer all task tools to models; calling it twice is fine."""
    for tool in _TOOLS:
        if tool.name not in tools.REGISTRY.functions:
            tools.REGISTRY.add(tool)
        tools.REGISTRY.offer(tool.name)
    if "download_file" in tools.REGISTRY.functions:
        tools.REGISTRY.offer("download_file")


def _delegate_task(
    rt: Any,
    prompt: str,
    files: list[str] | None = None,
    timeout: float | None = None,
    step_timeout: float | None = None,
    persona: str | None = None,
) -> str:
    """Start a background agent and return its task's id."""
    manager = get_task_manager()
    depth = getattr(rt, "task_depth", 0)
    if depth >= manager.max_depth:
        return "error: delegation not allowed in sub-tasks"
    try:
        task = manager.start_task(
            prompt,
            parent_rt=rt,
            files=files,
            parent_depth=depth,
            step_timeout=step_timeout,
            task_timeout=timeout,
            persona=persona,
            once=True,
        )
    except (RuntimeError, ToolError) as error:
        return f"error: {error}"
    return f"started {task}"


def _delegate_persona_task(
    rt: Any,
    prompt: str,
    persona: str,
    files: list[str] | None = None,
    timeout: float | None = None,
    step_timeout: float | None = None,
) -> str:
    """Start a background agent of a certain persona and return its task's id."""
    return _delegate_task(rt, prompt, files, timeout, step_timeout, persona)


def _list_personas(rt: Any) -> str:
    """Return the personas that tasks are given to, as JSON."""
    found = [{"name": p.name, "description": p.description} for p in get_task_manager().personas]
    return json.dumps(found)


def _task_status(rt: Any, task_id: str) -> str:
    """Return how a task stands, with its answer once it is over."""
    manager = get_task_manager()
    status = manager.status(task_id)
    try:
        answer = manager.result(task_id)
    except PygentError:
        return status
    return f"{status}\n{answer}" if answer and status != "running" else status


def _list_tasks(rt: Any) -> str:
    """Return all tasks, as JSON."""
    return json.dumps(get_task_manager().list_tasks())


def _collect_file(rt: Any, task_id: str, path: str, dest: str | None = None) -> str:
    """Fetch a file or directory from a task's workspace."""
    return get_task_manager().collect_file(rt, task_id, path, dest)


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_WORK = {
    "prompt": _TEXT,
    "files": {"type": "array", "items": _TEXT},
    "persona": _TEXT,
    "timeout": _NUMBER,
    "step_timeout": _NUMBER,
}

_OFFERED = (
    Tool(
        "delegate_task",
        "Start an agent in the background, in a workspace of its own with copies of files; "
        "returns a task id.",
        _schema(["prompt"], **_WORK),
        _delegate_task,
        effect=Effect.IDEMPOTENT,
        honours_cancel=True,
    ),
    Tool(
        "task_status",
        "See how a task stands, and its answer.",
        _schema(["task_id"], task_id=_TEXT),
        _task_status,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
    Tool(
        "collect_file",
        "Copy a file or folder of a task's workspace here.",
        _schema(["task_id", "path"], task_id=_TEXT, path=_TEXT, dest=_TEXT),
        _collect_file,
        effect=Effect.RECONCILABLE,
        honours_cancel=True,
    ),
)
_ACCEPTED = (
    Tool(
        "delegate_persona_task",
        "Start an agent of a certain persona in the background; returns a task id.",
        _schema(["prompt", "persona"], **_WORK),
        _delegate_persona_task,
        effect=Effect.IDEMPOTENT,
        honours_cancel=True,
    ),
    Tool(
        "list_personas",
        "List the personas that work can be given to.",
        _schema([]),
        _list_personas,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
    Tool(
        "list_tasks",
        "List all tasks and how they stand.",
        _schema([]),
        _list_tasks,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
)
_TOOLS = (*_OFFERED, *_ACCEPTED)


def _install(registry: Registry) -> None:
    for tool in _OFFERED:
        registry.add(tool)
    for tool in _ACCEPTED:
        registry.add(tool, offered=False)


tools.on_reset(_install)
tools.fill_in(
    _delegate_task=_delegate_task,
    _delegate_persona_task=_delegate_persona_task,
    _list_personas=_list_personas,
    _list_tasks=_list_tasks,
    _task_status=_task_status,
    _collect_file=_collect_file,
)
