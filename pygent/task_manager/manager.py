"""`TaskManager`: starts agents on work of their own and keeps track of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

from ..config import number, whole_number
from ..errors import ConfigError, PygentError, StoreError, ToolError
from ..events import Event, TaskEnded, TaskStarted
from ..persona import Persona
from ..tools import CallContext
from .child import copy_file, make_child
from .personas import Rotation
from .task import Task, TaskState

__all__ = ["TaskManager"]

STEP_TIMEOUT = 300.0
TASK_TIMEOUT = 1200.0


class TaskManager:
    """Launches agents in the background; each has its own workspace and thread.

    At most ``max_tasks`` (``PYGENT_MAX_TASKS``, else 3) work at once: one more is refused, or
    waits with ``queue=True``. A task may start others down to ``max_depth``. ``agent_factory`` is
    called with a persona, or with nothing.
    """

    def __init__(
        self,
        agent_factory: Callable[..., Any] | None = None,
        max_tasks: int | None = None,
        personas: Iterable[Persona] | None = None,
        *,
        queue: bool = False,
        max_depth: int = 1,
    ) -> None:
        self.agent_factory = agent_factory
        self.max_tasks = _count(max_tasks)
        self.queue = queue
        self.max_depth = max_depth
        self.tasks: dict[str, Task] = {}
        self._personas = Rotation(personas)
        self._changed = threading.Condition()
        self._reserved = 0
        self._waiting: list[str] = []
        self._by_call: dict[tuple[str, str], str] = {}

    @property
    def personas(self) -> list[Persona]:
        """Who tasks are given to, in turn."""
        return self._personas.all

    def start_task(
        self,
        prompt: str,
        parent_rt: Any,
        files: Iterable[str] | None = None,
        parent_depth: int = 0,
        step_timeout: float | None = None,
        task_timeout: float | None = None,
        persona: Persona | str | None = None,
        *,
        once: bool = False,
    ) -> str:
        """Give ``prompt`` to a new agent and return the task's id at once.

        ``files`` of the parent's workspace are copied to it first. ``persona`` overrides the
        rotation. With ``once``, a tool call that is made again gets the task that it started the
        first time. A `RuntimeError` says that the task may not be started.
        """
        limits = (
            _seconds(step_timeout, "PYGENT_STEP_TIMEOUT", STEP_TIMEOUT),
            _seconds(task_timeout, "PYGENT_TASK_TIMEOUT", TASK_TIMEOUT),
        )
        depth = max(parent_depth, getattr(parent_rt, "task_depth", 0))
        if depth >= self.max_depth:
            raise RuntimeError("nested delegation is not allowed")
        context = CallContext.current()
        key = (context.agent.session, context.call_id) if once and context is not None else None
        if key is not None and key in self._by_call:
            return self._by_call[key]
        self._reserve()
        try:
            task = self._make(prompt, parent_rt, files or (), depth, persona)
        except BaseException:
            self._release()
            raise
        task.thread = threading.Thread(
            target=self._work,
            args=(task, context, *limits),
            name=f"pygent-task-{task.id}",
            daemon=True,
        )
        self._enter(task, key)
        task.thread.start()
        return task.id

    def status(self, task_id: str) -> str:
        """Return ``running``, ``finished``, ``timeout after Ns``, ``error: …`` or ``cancelled``."""
        task = self.tasks.get(task_id)
        return f"Task {task_id} not found" if task is None else task.status

    def list_tasks(self) -> dict[str, dict[str, Any]]:
        """Return every task by its id: status, prompt, persona and session."""
        with self._changed:
            tasks = list(self.tasks.values())
        return {
            task.id: {
                "status": task.status,
                "prompt": task.prompt,
                "persona": getattr(task.agent.persona, "name", None),
                "session": task.session,
            }
            for task in tasks
        }

    def get_agent(self, task_id: str) -> Any:
        """Return the agent that does a task; `PygentError` if there is no such task."""
        return self._task(task_id).agent

    def result(self, task_id: str) -> str | None:
        """Return the task's last words, partial ones while it runs; None if there are none."""
        return self._task(task_id).result

    def wait(self, task_id: str, timeout: float | None = None) -> str:
        """Wait until a task is over, at most ``timeout`` seconds, and return its status."""
        task = self._task(task_id)
        with self._changed:
            self._changed.wait_for(lambda: task.done, timeout)
        return task.status

    def cancel(self, task_id: str) -> str:
        """End a task, queued or at work, with all that it runs; returns its status."""
        task = self._task(task_id)
        with self._changed:
            task.cancel_asked = True
            self._changed.notify_all()
        task.cancel()
        return task.status

    def collect_file(self, rt: Any, task_id: str, path: str, dest: str | None = None) -> str:
        """Copy a file or directory from a task's workspace into ``rt``."""
        task = self.tasks.get(task_id)
        if task is None:
            return f"Task {task_id} not found"
        copied = copy_file(task.agent.runtime, rt, path, dest)
        return f"file {path} not found" if copied is None else f"Retrieved {copied}"

    def close(self) -> None:
        """Cancel what is at work, wait for it, and delete the tasks' own workspaces."""
        for task in list(self.tasks.values()):
            if not task.state.over:
                self.cancel(task.id)
                self.wait(task.id, timeout=10)
            task.agent.runtime.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _task(self, task_id: str) -> Task:
        task = self.tasks.get(task_id)
        if task is None:
            raise PygentError(f"Task {task_id} not found")
        return task

    def _make(
        self, prompt: str, parent_rt: Any, files: Iterable[str], depth: int, persona: Any
    ) -> Task:
        if isinstance(files, str):
            raise ToolError(f"files is {files!r}: give a list, [{files!r}]")
        agent = make_child(self.agent_factory, self._personas.choose(persona), parent_rt, depth)
        for path in files:
            if copy_file(parent_rt, agent.runtime, path) is None:
                raise ToolError(f"file {path} not found: give paths of the workspace")
        return Task(id=os.urandom(4).hex(), prompt=prompt, agent=agent)

    def _reserve(self) -> None:
        """Take one of the places; without one free, refuse, unless tasks may wait for it."""
        with self._changed:
            if not self.queue and self._reserved >= self.max_tasks:
                raise RuntimeError(f"max {self.max_tasks} tasks reached")
            self._reserved += 1

    def _release(self) -> None:
        with self._changed:
            self._reserved -= 1
            self._changed.notify_all()

    def _enter(self, task: Task, key: tuple[str, str] | None) -> None:
        with self._changed:
            self.tasks[task.id] = task
            self._waiting.append(task.id)
            if key is not None:
                self._by_call[key] = task.id

    def _may_begin(self, task: Task) -> bool:
        """Whether it is the task's turn: first come, first served."""
        at_work = sum(t.state is TaskState.RUNNING for t in self.tasks.values())
        return task.cancel_asked or (self._waiting[0] == task.id and at_work < self.max_tasks)

    def _work(
        self, task: Task, parent: CallContext | None, step_timeout: float, task_timeout: float
    ) -> None:
        """Do a task in its thread, once there is a place for it, and tell the parent's log."""
        with self._changed:
            self._changed.wait_for(lambda: self._may_begin(task))
            self._waiting.remove(task.id)
            task.state = TaskState.CANCELLED if task.cancel_asked else TaskState.RUNNING
            self._changed.notify_all()
        persona = getattr(task.agent.persona, "name", None)
        started = TaskStarted(
            task=task.id, prompt=task.prompt, persona=persona, task_session=task.session
        )
        _tell(parent, started)
        try:
            if task.state is TaskState.RUNNING:
                task.work(step_timeout, task_timeout)
            _tell(parent, TaskEnded(task=task.id, status=task.status, result=task.result))
        finally:
            task.done = True
            self._release()


def _count(given: Any) -> int:
    """Return how many tasks may work at once: as it was given, as the setting says, or 3."""
    if given is None:
        return whole_number("PYGENT_MAX_TASKS", 3)
    if not isinstance(given, int) or given < 0:
        raise ConfigError(f"max_tasks is {given!r}: give a whole number, or None")
    return given


def _seconds(given: float | None, setting: str, default: float) -> float:
    """Return a limit: as it was given, as the setting says, or by default."""
    found = number(setting, default) if given is None else given
    return default if found is None else found


def _tell(parent: CallContext | None, event: Event) -> None:
    """Record an event in the log of the agent that started the task, if there is one."""
    if parent is None:
        return
    try:
        parent.agent.log.append(event)
    except StoreError:
        import logging

        # The task has a log of its own, and goes on though its parent's is somebody else's now.
        logging.getLogger("pygent").exception("a task could not be told to its parent")
