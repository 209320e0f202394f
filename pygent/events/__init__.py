"""What can happen in a session. Events are facts: never changed, only added."""

from __future__ import annotations

from .base import FORMAT_VERSION, Delta, Event, UnknownEvent
from .codec import event_from_dict, event_to_dict
from .kinds import (
    ApprovalAnswered,
    ApprovalAsked,
    HistoryEdited,
    MessageAdded,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    SandboxChosen,
    SessionStarted,
    SystemChanged,
    TaskEnded,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)

__all__ = [
    "FORMAT_VERSION",
    "ApprovalAnswered",
    "ApprovalAsked",
    "Delta",
    "Event",
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
    "UnknownEvent",
    "event_from_dict",
    "event_to_dict",
]
