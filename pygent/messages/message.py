"""`Message`, `ToolCall` and `ToolCallFunction`: what an assistant's reply is made of."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Message", "ToolCall", "ToolCallFunction"]


@dataclass
class ToolCallFunction:
    """The name of a tool and its arguments, as the JSON text the model wrote."""

    name: str
    arguments: str


@dataclass
class ToolCall:
    """A model's request to run one tool."""

    id: str
    type: str
    function: ToolCallFunction

    def to_dict(self) -> dict[str, Any]:
        """Return the call as the API wants it."""
        function = {"name": self.function.name, "arguments": self.function.arguments}
        return {"id": self.id, "type": self.type or "function", "function": function}


@dataclass
class Message:
    """One entry of a conversation.

    Fields can also be read as a dictionary's, so that code which treats messages as plain
    dictionaries keeps working: ``m["content"]``, ``m.get("tool_calls")``, ``dict(m)``.

    ``extra`` holds the keys of the wire that are not fields here; they are sent back as they
    came. ``usage`` and ``finish_reason`` tell about the reply and are never sent.
    """

    role: str
    content: Any = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    finish_reason: str | None = field(default=None, repr=False, compare=False)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        watcher: Callable[[], None] | None = self.__dict__.get("_watcher")
        if watcher is not None:
            watcher()

    def to_dict(self) -> dict[str, Any]:
        """Return the message as the API wants it, without empty fields."""
        wire: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            wire["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.tool_call_id is not None:
            wire["tool_call_id"] = self.tool_call_id
        if self.extra:
            wire = {**self.extra, **wire}
        return wire

    def watch(self, watcher: Callable[[], None] | None) -> None:
        """Call ``watcher`` whenever a field is set from now on."""
        self.__dict__["_watcher"] = watcher

    def __getstate__(self) -> dict[str, Any]:
        """Leave out who watches: a copy is nobody's entry."""
        return {key: value for key, value in vars(self).items() if key in self.__match_args__}

    def __str__(self) -> str:
        return self.content if isinstance(self.content, str) else ""

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __contains__(self, key: object) -> bool:
        return key in self.to_dict()

    def __len__(self) -> int:
        return len(self.to_dict())

    def keys(self) -> list[str]:
        """Return the names of the fields that are set."""
        return list(self.to_dict())

    def values(self) -> ValuesView[Any]:
        """Return the values of the fields that are set."""
        return self.to_dict().values()

    def items(self) -> ItemsView[str, Any]:
        """Return the fields that are set, with their names."""
        return self.to_dict().items()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field's value, or ``default`` when it is not set."""
        return self.to_dict().get(key, default)


# The official client takes any mapping for a message: a conversation can be given to it as it is.
Mapping.register(Message)
