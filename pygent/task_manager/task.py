"""`Task`: one piece of delegated work, and the thread that does it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..cancel import CancelScope
from ..errors import Cancelled, TimedOut
from ..log import Log
from ..messages import parse_message

__all__ = ["Task", "TaskState"]


class TaskState(StrEnum):
    """How a task stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether the task will not change any more."""
        return self not in (TaskState.QUEUED, TaskState.RUNNING)


@dataclass(eq=False)
class Task:
    """One delegated piece of work.

    ``agent`` does it, in ``thread``; ``detail`` is what went wrong, if something did. ``done``
    says that all is told, in the parent's log too.
    """

    id: str
    prompt: str
    agent: Any
    thread: threading.Thread = field(init=False, repr=False)
    state: TaskState = TaskState.QUEUED
    detail: str = ""
    cancel_asked: bool = False
    done: bool = False
    scope: CancelScope = field(default_factory=CancelScope, repr=False)

    def cancel(self) -> None:
        """Stop the work, whether or not it has begun."""
        self.cancel_asked = True
        self.scope.cancel()
        stop = getattr(self.agent, "cancel", None)
        if stop is not None and not self.state.over:
            stop()

    @property
    def status(self) -> str:
        """The task's state in the promised words."""
        if not self.state.over:
            return "running"
        if self.state is TaskState.FAILED:
            return f"error: {self.detail}"
        return self.detail if self.state is TaskState.TIMED_OUT else self.state.value

    @property
    def result(self) -> str | None:
        """The last thing that the agent said; None as long as it said nothing."""
        for entry in reversed(list(getattr(self.agent, "history", None) or ())):
            message = parse_message(entry)
            if message.role == "assistant" and message.content:
                return str(message.content)
        return None

    @property
    def session(self) -> str | None:
        """The name of the session in which the work is recorded."""
        log = getattr(self.agent, "log", None)
        return None if log is None else str(log.session)

    def work(self, step_timeout: float, task_timeout: float) -> None:
        """Do the work, and record how it ended: running out is never finishing."""
        go = getattr(self.agent, "run", None) or self.agent.run_until_stop
        try:
            with self.scope.active():
                go(self.prompt, step_timeout=step_timeout, max_time=task_timeout)
        except TimedOut as error:
            self.state, self.detail = TaskState.TIMED_OUT, str(error)
        except Cancelled:
            self.state = TaskState.CANCELLED
        except BaseException as error:  # noqa: BLE001 - it is kept as the task's outcome
            self.state, self.detail = TaskState.FAILED, str(error) or type(error).__name__
        else:
            self.state, self.detail = self._ending(task_timeout)

    def _ending(self, task_timeout: float) -> tuple[TaskState, str]:
        log = getattr(self.agent, "log", None)
        if not isinstance(log, Log):  # an agent of somebody else's, that only has `run_until_stop`
            late = getattr(self.agent, "_timed_out", False)
            text = f"timeout after {task_timeout:g}s"
            return (TaskState.TIMED_OUT, text) if late else (TaskState.FINISHED, "")
        last = log.state.last_turn
        if last is None:
            return TaskState.FAILED, "nothing was done"
        reason = last.reason
        if reason in ("stop", "answer"):
            return TaskState.FINISHED, ""
        if reason == "timeout":
            return TaskState.TIMED_OUT, last.error or reason
        if reason in ("cancelled", "interrupted"):
            return TaskState.CANCELLED, ""
        return TaskState.FAILED, _WORDS.get(reason, reason)


_WORDS = {
    "max_steps": "ran out of steps",
    "no_reply": "the model gave empty replies",
    "max_replies": "only talked, without using a tool",
    "ask_user": "asked a question that nobody can answer",
}
