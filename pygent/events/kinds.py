"""The kinds of events, in the order in which a turn makes them.

A field that holds a message holds the plain dictionary of the wire, so that an event is JSON
through and through, and stays what it was when somebody changes a message later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .base import Event

__all__ = [
    "KINDS",
    "ApprovalAnswered",
    "ApprovalAsked",
    "HistoryEdited",
    "MessageAdded",
    "ModelFailed",
    "ModelReplied",
    "ModelRequested",
    "SandboxChosen",
    "SessionStarted",
    "SystemChanged",
    "TaskEnded",
    "TaskStarted",
    "ToolFinished",
    "ToolStarted",
    "TurnEnded",
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SessionStarted(Event):
    """The first event of a log."""

    kind: ClassVar[str] = "session_started"
    pygent: str = ""
    title: str | None = None
    workspace: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SandboxChosen(Event):
    """Which tier runs the commands, why, and what it does not cover.

    ``asked_for`` is how it was asked for; None means that nobody did.
    """

    kind: ClassVar[str] = "sandbox_chosen"
    tier: str
    isolated: bool
    reason: str = ""
    gaps: Sequence[str] = ()
    asked_for: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SystemChanged(Event):
    """The system message was written again, in place."""

    kind: ClassVar[str] = "system_changed"
    content: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MessageAdded(Event):
    """The conversation grew by a message that no model and no tool wrote."""

    kind: ClassVar[str] = "message_added"
    message: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HistoryEdited(Event):
    """From here on the conversation is these messages; what was recorded before stays recorded."""

    kind: ClassVar[str] = "history_edited"
    messages: Sequence[Mapping[str, Any]]
    reason: str = "edited"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelRequested(Event):
    """The model is about to be asked."""

    kind: ClassVar[str] = "model_requested"
    model: str
    messages: int
    tools: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelReplied(Event):
    """The model answered; ``message`` is the whole reply.

    Call ids that were missing or taken were made unique: ``renamed`` has the model's own.
    """

    kind: ClassVar[str] = "model_replied"
    message: Mapping[str, Any]
    seconds: float = 0.0
    usage: Mapping[str, Any] | None = None
    finish_reason: str | None = None
    renamed: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelFailed(Event):
    """The model did not answer. ``partial`` is the text that had been streamed by then."""

    kind: ClassVar[str] = "model_failed"
    error: str
    status: int | None = None
    request_id: str | None = None
    partial: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ApprovalAsked(Event):
    """Somebody has to allow a call before it runs; ``digest`` says exactly which."""

    kind: ClassVar[str] = "approval_asked"
    name: str
    arguments: str
    digest: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ApprovalAnswered(Event):
    """The answer to `ApprovalAsked`."""

    kind: ClassVar[str] = "approval_answered"
    allowed: bool
    digest: str
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ToolStarted(Event):
    """The intent: this call is about to run."""

    kind: ClassVar[str] = "tool_started"
    name: str
    arguments: str
    effect: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ToolFinished(Event):
    """The one answer to a call, as the model reads it.

    ``outcome`` is ``ok``, ``error`` (it failed, or never ran because the call was bad),
    ``refused``, ``timeout``, ``cancelled`` or ``unknown``.
    """

    kind: ClassVar[str] = "tool_finished"
    name: str
    content: Any
    outcome: str = "ok"
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskStarted(Event):
    """A background agent was given work; its own log is the session ``task_session``."""

    kind: ClassVar[str] = "task_started"
    task: str
    prompt: str
    persona: str | None = None
    task_session: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskEnded(Event):
    """A background agent is done, one way or another."""

    kind: ClassVar[str] = "task_ended"
    task: str
    status: str
    result: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TurnEnded(Event):
    """The agent stopped working on the user's message.

    ``reason`` is ``stop`` (the model called it), ``answer`` (a plain reply), ``ask_user``,
    ``step`` (one step was asked for), ``max_steps``, ``max_replies``, ``no_reply``, ``timeout``,
    ``cancelled``, ``interrupted`` or ``error``. ``verified`` is None while nothing checked.
    """

    kind: ClassVar[str] = "turn_ended"
    reason: str
    verified: bool | None = None
    error: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


KINDS: dict[str, type[Event]] = {
    cls.kind: cls for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Event) and cls.kind
}  # fmt: skip
