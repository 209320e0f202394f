"""Tool calls that come in pieces."""

from __future__ import annotations

from typing import Any

from .text import TextPieces

__all__ = ["CallPieces"]


class _Call:
    __slots__ = ("arguments", "extra", "id", "name", "type")

    def __init__(self) -> None:
        self.id = ""
        self.type = ""
        self.name = TextPieces()
        self.arguments = TextPieces()
        self.extra: dict[str, Any] = {}


class CallPieces:
    """The tool calls of one reply, by their index, whatever the order in which pieces come.

    A piece that contradicts an earlier one is a `ValueError`: nobody can tell what was meant.
    """

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}
        self._last = -1

    def add(self, pieces: Any) -> None:
        """Take the ``tool_calls`` of one delta."""
        if not isinstance(pieces, list):
            raise TypeError(f"tool_calls is a JSON {type(pieces).__name__}")
        for piece in pieces:
            index = self._index(piece)
            self._last = index
            call = self._calls.setdefault(index, _Call())
            known = bool(call.id)
            call.id = _same("id", call.id, piece.get("id"), index)
            call.type = _same("type", call.type, piece.get("type"), index)
            function = piece.get("function") or {}
            self._name(call, function.get("name"), repeated=known and bool(piece.get("id")))
            if arguments := function.get("arguments"):
                call.arguments.add(_text("arguments", arguments, index))

    def whole(self) -> list[dict[str, Any]]:
        """Return the calls in the order of their indexes, as in a reply that is not streamed."""
        return [
            {
                "id": call.id,
                "type": call.type or "function",
                "function": {"name": call.name.text(), "arguments": call.arguments.text()},
            }
            for _, call in sorted(self._calls.items())
        ]

    def _index(self, piece: Any) -> int:
        index = piece.get("index")
        if index is None:
            return self._guessed(piece.get("id"))
        if isinstance(index, bool) or not isinstance(index, int) or index < 0:
            raise ValueError(f"a tool call has the index {index!r}")
        return index

    def _guessed(self, name: Any) -> int:
        """Return where a piece without an index belongs: its id says, else it goes on."""
        if not name:
            return max(self._last, 0)
        for index, call in self._calls.items():
            if call.id == name:
                return index
        return max(self._calls, default=-1) + 1

    @staticmethod
    def _name(call: _Call, name: Any, *, repeated: bool) -> None:
        # Servers that repeat the id in every piece repeat the whole name with it.
        if name and not (repeated and name == call.name.text()):
            call.name.add(_text("name", name, 0))


def _same(what: str, known: str, given: Any, index: int) -> str:
    if not given:
        return known
    text = str(given)
    if known and known != text:
        raise ValueError(f"the {what} of tool call {index} changed from {known!r} to {text!r}")
    return text


def _text(what: str, value: Any, index: int) -> str:
    if not isinstance(value, str):
        raise TypeError(f"the {what} of tool call {index} is a JSON {type(value).__name__}")
    return value
