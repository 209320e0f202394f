"""A model that says what is written in a session file."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import PygentError
from ..events import Delta, ModelReplied, event_from_dict
from ..messages import Message, parse_message

__all__ = ["ReplayModel"]


class ReplayModel:
    """Gives the replies of a recorded session, in order; ``pace`` is seconds a word."""

    honours_cancel = True

    def __init__(self, path: Path, *, pace: float = 0.0) -> None:
        import json

        events = map(event_from_dict, map(json.loads, path.read_text("utf-8").splitlines()))
        self._replies = [e.message for e in events if isinstance(e, ModelReplied)]
        self._pace = pace
        self._next = 0

    def chat(self, messages: Sequence[Any], model: str, tools: Sequence[Any] | None) -> Message:
        """Return the next reply."""
        if self._next >= len(self._replies):
            raise PygentError("the script is at its end, and the agent asks for more")
        self._next += 1
        return parse_message(self._replies[self._next - 1])

    def stream(
        self, messages: Sequence[Any], model: str, tools: Sequence[Any] | None
    ) -> Iterator[Delta | Message]:
        """Yield the next reply word by word, then whole."""
        message = self.chat(messages, model, tools)
        for word in re.findall(r"\S+\s*", str(message)):
            time.sleep(self._pace)
            yield Delta("text", word)
        yield message
