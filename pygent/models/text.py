"""Text from a model: JSON that is read safely, and halves of characters put together."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["TextPieces", "load", "mended"]

load = json.JSONDecoder().decode
"""Read JSON text; `ValueError` or `RecursionError` if it is none."""


def mended(value: Any) -> Any:
    """Return ``value`` with surrogate pairs joined, and lone ones replaced, in all its strings.

    JSON can carry half a character, which no file and no terminal takes.
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, dict):
        return {mended(name): mended(item) for name, item in value.items()}
    return [mended(item) for item in value] if isinstance(value, list) else value


class TextPieces:
    """A text that grows by pieces, one of which may end in half a character."""

    __slots__ = ("_held", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = ""

    def add(self, piece: str) -> str:
        """Take a piece; returns what can be shown of it now."""
        self._pieces.append(piece)
        if not self._held and piece.isascii():
            return piece
        piece = self._held + piece
        self._held = ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._held = piece[:-1], piece[-1]
        shown: str = mended(piece)
        return shown

    def text(self) -> str:
        """Return the whole text."""
        whole: str = mended("".join(self._pieces))
        return whole
