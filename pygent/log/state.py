"""`State`: what a log says now, as a fold over its events."""

from __future__ import annotations

from typing import Any

from ..events import (
    Event,
    HistoryEdited,
    MessageAdded,
    ModelReplied,
    SystemChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from ..messages import History, Message, ToolCall, parse_message

__all__ = ["State"]


class State:
    """The conversation, the calls that were made, and how the last turn ended.

    Applying an event twice is applying it once, so that a writer who was interrupted between two
    lines can simply begin again.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.turn = 0
        self.history = History()
        self.call_ids: set[str] = set()
        self.running: dict[str, ToolStarted] = {}
        self.last_turn: TurnEnded | None = None

    @property
    def open_calls(self) -> list[ToolCall]:
        """The calls of the last reply that have no answer yet, in their order."""
        answered = set()
        for entry in reversed(self.history):
            if isinstance(entry, Message):
                return [call for call in entry.tool_calls or () if call.id not in answered]
            answered.add(entry.get("tool_call_id"))
        return []

    def apply(self, event: Event) -> None:
        """Take one event in."""
        if event.seq <= self.seq:
            return
        if isinstance(event, ModelReplied):
            self._replied(event)
        elif isinstance(event, ToolStarted):
            self.running[event.call or ""] = event
        elif isinstance(event, ToolFinished):
            self.history.add(tool_message(event), event.seq)
            self.running.pop(event.call or "", None)
        elif isinstance(event, MessageAdded):
            entry = _entry(event.message)
            self._take_ids(entry)
            self.history.add(entry, event.seq)
        elif isinstance(event, SystemChanged):
            self._system_changed(event)
        elif isinstance(event, HistoryEdited):
            entries = [_entry(message) for message in event.messages]
            for entry in entries:
                self._take_ids(entry)
            self.history.replace(entries)
        elif isinstance(event, TurnEnded):
            self.last_turn = event
        self.turn = max(self.turn, event.turn)
        self.seq = event.seq

    def _replied(self, event: ModelReplied) -> None:
        message = parse_message(event.message)
        message.usage = dict(event.usage) if event.usage is not None else None
        message.finish_reason = event.finish_reason
        self.history.add(message, event.seq)
        self._take_ids(message)

    def _take_ids(self, entry: Any) -> None:
        """Remember the ids of the calls in a message: no later call may have one of them."""
        if isinstance(entry, Message):
            self.call_ids.update(call.id for call in entry.tool_calls or ())

    def _system_changed(self, event: SystemChanged) -> None:
        system = {"role": "system", "content": event.content}
        rest = [m for i, m in enumerate(self.history) if i or m.get("role") != "system"]
        self.history.replace([system, *rest])


def tool_message(event: ToolFinished) -> dict[str, Any]:
    """Return the message that tells the model how its call ended."""
    return {"role": "tool", "content": event.content, "tool_call_id": event.call}


def _entry(message: Any) -> Any:
    return parse_message(message) if message.get("role") == "assistant" else dict(message)
