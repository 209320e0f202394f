"""`pygent run`: one message, no terminal needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tools
from ..agent import Agent
from ..agent_presets import AGENT_PRESETS
from ..errors import APIError
from ..events import ApprovalAnswered, Event
from ..log import Log
from ..persona import Persona
from ..runtime import Runtime
from ..runtime.choice import decide
from ..session import stored_log
from ..system_message import default_persona
from .endings import Ending, ending_of, ending_of_turn
from .output import JsonOutput, Output, TextOutput
from .setup import Options, check_model, current_dir, has_model, prepare
from .signals import cancelling

__all__ = ["Task", "run_task"]

# Nobody is there to answer.
_NEEDS_A_USER = ("ask_user", "continue")


@dataclass(frozen=True)
class Task:
    """What is to be done, and how."""

    prompt: str
    options: Options
    json: bool = False
    model: str | None = None
    max_steps: int = 100
    max_time: float | None = None
    sandbox: str | None = None
    persona: str | None = None


def run_task(task: Task) -> int:
    """Do it, show it, keep the session, and return the exit code."""
    output: Output = JsonOutput() if task.json else TextOutput()
    run = _Run(output)
    try:
        ending = run.work(task)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it is told, in both modes
        ending = _auth(error) or ending_of(error)
    try:
        output.finish(ending, session=run.session, seq=run.seq, text=run.text)
    except OSError as error:
        return ending.code or ending_of(error).code
    return ending.code


class _Run:
    """One run: what it has shown, and what is known of it when it ends."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._unseen: list[Event] = []
        self._refused = False
        self._log: Log | None = None

    @property
    def session(self) -> str | None:
        """The session's name, once there is one."""
        return None if self._log is None else self._log.session

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return 0 if self._log is None else self._log.state.seq

    @property
    def text(self) -> str:
        """The last thing that the model said since the user's message."""
        history = [] if self._log is None else self._log.history
        for entry in reversed(history):
            if entry["role"] == "user":
                break
            content = entry["content"] if entry["role"] == "assistant" else None
            if isinstance(content, str) and content.strip():
                return content
        return ""

    def work(self, task: Task) -> Ending:
        """Make the agent, give it its message, and show what happens."""
        with self._agent(task) as agent:
            assert self._log is not None
            try:
                agent.runtime.choice  # noqa: B018 - known, told and recorded before anything runs
                self._show_unseen()
                stream = agent.stream(task.prompt, task.max_steps, max_time=task.max_time)
                with cancelling(agent.cancel), closing(stream) as items:
                    for item in items:
                        self._show_unseen()
                        if not isinstance(item, Event):
                            self._output.show(item)
            finally:
                _end_tasks()
                self._show_unseen()
            ended = self._log.state.last_turn
            assert ended is not None
            return ending_of_turn(ended, refused=self._refused)

    @contextmanager
    def _agent(self, task: Task) -> Iterator[Agent]:
        named = prepare(task.options)
        workspace = Path(named or current_dir()).absolute()
        check_model()
        decide(task.sandbox, task.options.docker)  # what cannot be had leaves no empty session
        log = stored_log(workspace)
        try:
            log.subscribe(self._seen)
            with _make(task, workspace, log) as agent:
                self._log = log
                yield agent
        finally:
            if log.store is not None:
                log.store.close()

    def _seen(self, item: Any) -> None:
        if isinstance(item, Event):
            self._unseen.append(item)

    def _show_unseen(self) -> None:
        """Show the events so far; those of the agent's other threads are among them."""
        while self._unseen:
            event = self._unseen.pop(0)
            if isinstance(event, ApprovalAnswered) and not event.allowed:
                self._refused = True
            self._output.show(event)


def _make(task: Task, workspace: Path, log: Log) -> Agent:
    options, own = task.options, dict[str, Any]()
    if task.model is not None:
        own["model_name"] = task.model
    if options.confirm_bash is not None:
        own["confirm_bash"] = options.confirm_bash
    if task.persona is not None:
        own["persona"] = Persona(default_persona().name, task.persona)
    make = Agent if options.preset is None else AGENT_PRESETS[options.preset].create_agent
    return make(
        runtime=Runtime(
            use_docker=options.docker,
            workspace=workspace,
            banned_commands=options.ban_cmd,
            sandbox=task.sandbox,
        ),
        disabled_tools=[*_NEEDS_A_USER, *options.omit_tool],
        log=log,
        **own,
    )


def _end_tasks() -> None:
    """End what delegated agents still do: nothing outlives the run."""
    if tools._task_manager is not None:
        tools._task_manager.close()


def _auth(error: BaseException) -> Ending | None:
    """Return how a run ends for which there is no key."""
    if isinstance(error, APIError) and error.status is None and not has_model():
        return Ending(3, "error_auth", " ".join(str(error).split()))
    return None
