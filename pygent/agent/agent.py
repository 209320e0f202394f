"""`Agent`: one conversation with a model, in one runtime. The loop itself is in `loop`."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ..cancel import CancelScope
from ..config import flag, number, text
from ..display import Display
from ..errors import Cancelled, PygentError
from ..events import Delta, Event
from ..log import Log
from ..messages import Message
from ..models import Model, default_model
from ..persona import Persona
from ..runtime import Runtime
from ..system_message import Builder, default_persona
from ..tools import Schemas, Tool
from .approval import Approver
from .birth import DELEGATED, prepare, record_choice
from .checks import check_fields, check_limits
from .loop import Limits, turn
from .prompt import Prompt
from .toolset import ActiveTools, ToolLike
from .watching import complete

__all__ = ["Agent"]

T = TypeVar("T")


def _path(name: str) -> Path | None:
    """Return the file that a setting names; it is the user's own agent's, no delegated one's."""
    value = None if DELEGATED.get() else text(name)
    return None if value is None else Path(value)


@dataclass(eq=False)
class Agent:
    """Talks to a model and runs the tools it calls.

    ``step`` and ``run_until_stop`` are the promised ways to drive it; ``run`` works on one
    message until it is answered, ``stream`` does the same and yields every event, ``astream`` is
    for async callers. Each of them can be stopped by ``cancel`` from another thread.

    Without ``tools`` it has those of the global registry, read at each step. Without ``log`` it
    keeps its log in memory. ``display`` shows replies and tool output on standard output while
    ``step`` or ``run_until_stop`` run.
    """

    runtime: Runtime = field(default=None)  # type: ignore[assignment]  # made in __post_init__
    model: Model = field(default_factory=default_model)
    model_name: str = field(default_factory=lambda: text("PYGENT_MODEL", "gpt-4.1-mini") or "")
    persona: Persona = field(default_factory=default_persona)
    system_message_builder: Builder | None = None
    system_msg: str = ""
    history: list[Any] = field(default_factory=list, repr=False)
    history_file: Path | str | None = field(default_factory=lambda: _path("PYGENT_HISTORY_FILE"))
    disabled_tools: list[str] = field(default_factory=list)
    log_file: Path | str | None = field(default_factory=lambda: _path("PYGENT_LOG_FILE"))
    confirm_bash: bool = field(default_factory=lambda: flag("PYGENT_CONFIRM_BASH", default=False))
    max_non_tool_replies: int | None = None
    _: KW_ONLY
    workspace: Path | str | None = None
    tools: Iterable[ToolLike] | None = None
    approve: Approver | None = None
    display: bool | None = None
    log: Log = field(default_factory=Log, repr=False)

    def __post_init__(self) -> None:
        """Initialise what was not given; this touches no disk unless a file was named."""
        self._busy = threading.Lock()
        self._scope: CancelScope | None = None
        self._watched = False
        check_fields(self)
        self._active = ActiveTools(self.tools)
        self._prompt = Prompt(self)
        prepare(self)

    @property
    def session(self) -> str:
        """The name of this agent's session, which is its log's."""
        return self.log.session

    def append_history(self, msg: Any) -> None:
        """Add a message to the conversation, and record it."""
        self.history.append(msg)

    def refresh_system_message(self) -> None:
        """Write the system message again, from the tools and the persona there are now."""
        self._prompt.refresh()

    def refresh_if_changed(self) -> None:
        """Write the system message again if tools, persona or the message were changed."""
        self._prompt.refresh_if_changed()

    def schemas(self) -> Schemas:
        """Return the schemas of the tools that the model is offered now."""
        return self._active.schemas(self.disabled_tools)

    def tool_names(self) -> list[str]:
        """Return the names of the tools that the model is offered now."""
        return self._active.names(self.disabled_tools)

    def all_tools(self) -> list[str]:
        """Return the names of all tools that there are for this agent, offered or not."""
        return list(self._active.registry.functions)

    def find_tool(self, name: str) -> Tool | None:
        """Return a tool that this agent has; None for one that it has not, or that is disabled."""
        return None if name in self.disabled_tools else self._active.registry.get(name)

    def tools_key(self) -> Any:
        """Return something that changes whenever this agent's tools do."""
        return self._active.key(self.disabled_tools)

    def watch_runtime(self) -> None:
        """Have the runtime's choice of a sandbox recorded in this agent's log."""
        record_choice(self)

    @property
    def is_at_work(self) -> bool:
        """Whether a turn is under way."""
        return self._scope is not None

    def is_watched(self) -> bool:
        """Whether somebody would see a reply while it is being written."""
        return self._watched or self.log.has_listeners

    def step(self, user_msg: str | None = None, role: str = "user") -> Message:
        """Send one message, run the tools of the reply, and return the reply.

        Makes exactly one model call.
        """
        with self._shown():
            reply = _drain(self._turn(user_msg, Limits(1, one_step=True), None, role))
        if reply is None:
            raise Cancelled("the step was cancelled before the model had answered")
        return reply

    def run_until_stop(
        self,
        user_msg: str,
        max_steps: int = 20,
        step_timeout: float | None = None,
        max_time: float | None = None,
    ) -> Message | None:
        """Work on a message until `stop` is called or a limit is reached; returns the last reply.

        After a plain answer the model is told to ``continue``, ``max_non_tool_replies`` ends that.
        A limit leaves a last entry ``[timeout after Ns]``.
        """
        limits = Limits(max_steps, step_timeout, True, self.max_non_tool_replies)
        with self._shown():
            return _drain(self._turn(user_msg, limits, max_time))

    def run(
        self,
        user_msg: str | None,
        max_steps: int = 100,
        step_timeout: float | None = None,
        max_time: float | None = None,
    ) -> Message | None:
        """Work on a message until it is answered, and return the last reply; shows nothing."""
        return _drain(self._turn(user_msg, Limits(max_steps, step_timeout), max_time))

    def stream(
        self,
        user_msg: str | None,
        max_steps: int = 100,
        step_timeout: float | None = None,
        max_time: float | None = None,
    ) -> Generator[Event | Delta]:
        """Do as `run` does, and yield every event as it happens, with the deltas in between.

        Leaving early cancels the turn; every call is answered then.
        """
        self._watched = True
        try:
            turn_ = self._turn(user_msg, Limits(max_steps, step_timeout), max_time)
            yield from complete(self.log, turn_)
        finally:
            self._watched = False

    def astream(self, user_msg: str | None, **limits: Any) -> AsyncGenerator[Event | Delta, None]:
        """Do as `stream` does, for async callers: the agent works in a thread of its own."""
        from .aside import follow

        return follow(self, self.stream(user_msg, **limits))

    def cancel(self) -> None:
        """Stop what the agent is doing now, from any thread; it can be used again after that."""
        scope = self._scope
        if scope is not None:
            scope.cancel()

    def close(self) -> None:
        """Close the files that this agent writes; the runtime stays as it is."""
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files and clean the runtime up."""
        self.close()
        cleanup = getattr(self.runtime, "cleanup", None)
        if cleanup is not None:
            cleanup()

    def _turn(
        self, user_msg: str | None, limits: Limits, max_time: float | None, role: str = "user"
    ) -> Generator[Event | Delta, None, Message | None]:
        """Run one turn with its limits, alone."""
        check_limits(
            user_msg, limits.max_steps, step_timeout=limits.step_timeout, max_time=max_time
        )
        if not limits.one_step:
            if limits.step_timeout is None:
                limits = replace(limits, step_timeout=number("PYGENT_STEP_TIMEOUT"))
            max_time = number("PYGENT_TASK_TIMEOUT") if max_time is None else max_time
        with self._alone(CancelScope(max_time, CancelScope.current())) as scope:
            return (yield from turn(self, user_msg, scope, limits, role))

    @contextmanager
    def _alone(self, scope: CancelScope) -> Iterator[CancelScope]:
        if not self._busy.acquire(blocking=False):
            raise PygentError(
                "this agent is at work already: wait until it is done, or make another Agent"
            )
        self._scope = scope
        try:
            yield scope
        finally:
            self._scope = None
            self._busy.release()

    def _shown(self) -> AbstractContextManager[Any]:
        shown = flag("PYGENT_DISPLAY", default=True) if self.display is None else self.display
        return Display(self.persona.name).following(self.log) if shown else nullcontext()


def _drain(events: Generator[Any, None, T]) -> T:
    """Run a generator to its end and return what it returns."""
    try:
        while True:
            next(events)
    except StopIteration as end:
        result: T = end.value
        return result
    except BaseException as error:
        # An interrupt may come between two events: the turn ends with it, and at once.
        events.throw(error)
        raise
