"""The chunks of a streamed reply: each to what can be shown of it, all to one `Message`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Delta
from ..messages import Message
from .calls import CallPieces
from .failures import Source
from .reply import make_message
from .text import TextPieces, load, mended

__all__ = ["StreamedReply"]

_REASONING = ("reasoning_content", "reasoning")
_TEXTS = frozenset(("content", "refusal", *_REASONING))


class StreamedReply:
    """A reply that comes in chunks. Any chunk that makes no sense is a `ReplyError`."""

    def __init__(self, source: Source) -> None:
        self.done = False
        self._source = source
        self._texts: dict[str, TextPieces] = {}
        self._others: dict[str, Any] = {}
        self._calls = CallPieces()
        self._usage: Any = None
        self._finish_reason: str | None = None

    def add(self, data: str) -> list[Delta]:
        """Take the data of one event; returns what it adds, for whoever watches."""
        if data == "[DONE]":
            self.done = True
            return []
        try:
            chunk = load(data)
        except (ValueError, RecursionError) as exc:
            text = f"the stream has broken JSON in it ({exc})"
            raise self._source.unusable(text, data) from None
        return self.take(chunk, data)

    def take(self, chunk: Any, data: str = "") -> list[Delta]:
        """Take one chunk, as a mapping."""
        try:
            return self._take(chunk)
        except (AttributeError, TypeError, KeyError, ValueError) as exc:
            text = f"the stream makes no sense: {exc}"
            raise self._source.unusable(text, data or str(chunk)) from None

    def message(self) -> Message:
        """Return the whole reply; a `ReplyError` if the stream ended before it did."""
        if not (self.done or self._finish_reason):
            shown = "".join(p.text() for name, p in self._texts.items() if name == "content")
            raise self._source.unusable("the reply was cut off: the stream ended early", shown)
        raw: dict[str, Any] = {name: pieces.text() for name, pieces in self._texts.items()}
        raw = {**mended(self._others), **raw}
        raw.setdefault("content", None)
        if calls := self._calls.whole():
            raw["tool_calls"] = calls
        return make_message(raw, self._usage, self._finish_reason, self._source)

    def _take(self, chunk: Any) -> list[Delta]:
        if error := chunk.get("error"):
            raise self._source.refused_inside(error)
        if usage := chunk.get("usage"):
            self._usage = usage
        choices = chunk.get("choices")
        if not choices and "error" in (chunk.get("object"), chunk.get("type")):
            raise self._source.refused_inside(chunk)
        for choice in choices or ():
            if choice.get("index"):
                continue  # Another answer to the same question; only the first is read.
            if reason := choice.get("finish_reason"):
                self._finish_reason = str(reason)
            if delta := choice.get("delta"):
                return self._fold(delta)
        return []

    def _fold(self, delta: Mapping[str, Any]) -> list[Delta]:
        shown = []
        for name, value in delta.items():
            if value is None or name == "role":
                continue
            if name == "tool_calls":
                self._calls.add(value)
            elif name in _TEXTS:
                pieces = self._texts.get(name)
                if pieces is None:
                    pieces = self._texts[name] = TextPieces()
                text = pieces.add(value if isinstance(value, str) else _joined(value))
                if not text:
                    continue
                if name == "content":
                    shown.append(Delta("text", text))
                elif name != "refusal" and self._reasons_by(name):
                    shown.append(Delta("reasoning", text))
            else:
                self._keep(name, value)
        return shown

    def _reasons_by(self, name: str) -> bool:
        """Return whether reasoning is shown from this key; some servers send it under both."""
        return next(known for known in self._texts if known in _REASONING) == name

    def _keep(self, name: str, value: Any) -> None:
        known = self._others.get(name)
        if isinstance(known, list) and isinstance(value, list):
            self._others[name] = known + value
        else:
            self._others[name] = value


def _joined(parts: Any) -> str:
    """Return the text of content that comes as a list of parts."""
    if not isinstance(parts, list):
        raise TypeError(f"a text is a JSON {type(parts).__name__}")
    return "".join(part.get("text") or "" for part in parts)
