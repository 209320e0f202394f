"""A model that follows a script, for tests of agents and tools."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from ..events import Delta
from ..messages import Message, ToolCall, ToolCallFunction, parse_message

__all__ = ["Scripted", "ScriptedModel", "call", "calls"]

Scripted = str | Message | Mapping[str, Any] | BaseException | Callable[[list[Any]], Any]

_ids = itertools.count(1)


def call(name: str, **arguments: Any) -> Message:
    """Return a reply that calls one tool."""
    function = ToolCallFunction(name, json.dumps(arguments))
    return Message("assistant", None, [ToolCall(f"call_{next(_ids)}", "function", function)])


def calls(*replies: Message, text: str | None = None) -> Message:
    """Return one reply with the calls of several, and with a text if there is one."""
    every = [one for reply in replies for one in reply.tool_calls or ()]
    return Message("assistant", text, every)


class ScriptedModel:
    """Gives the replies of a script, one for each request, and is strict about it.

    A reply is a text, a `Message`, a dictionary, an exception, which is raised, or a function of
    the messages that returns one of these. A request that the script does not know is an
    `AssertionError`, and so is a reply that was never asked for, when `assert_done` is called or
    a ``with`` block is left. ``requests`` has the messages of each request, as they were then.
    """

    def __init__(self, replies: Iterable[Scripted] | Scripted = ()) -> None:
        single = isinstance(replies, str | Message | Mapping | BaseException) or callable(replies)
        self._replies: list[Any] = [replies] if single else list(replies)  # type: ignore[arg-type]
        self._next = 0
        self.requests: list[list[Any]] = []
        self._unexpected: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Check the script, unless the block failed already."""
        if kind is None:
            self.assert_done()

    @property
    def honours_cancel(self) -> bool:
        """Whether the next reply comes at once: a function may hang, and is left behind then."""
        return not any(map(_is_function, self._replies[self._next : self._next + 1]))

    def add(self, *replies: Scripted) -> None:
        """Append to the script."""
        self._replies.extend(replies)

    def assert_done(self) -> None:
        """Raise an `AssertionError` unless the script was followed to its end, and no further."""
        left = self._replies[self._next :]
        problems = list(self._unexpected)
        if left:
            problems.append(
                f"{len(left)} replies were never asked for, the first is {left[0]!r:.80}"
            )
        if problems:
            raise AssertionError("; ".join(problems))

    def chat(
        self, messages: Sequence[Any], model: str = "", tools: Sequence[Any] | None = None
    ) -> Message:
        """Return the next reply."""
        self.requests.append([copy.deepcopy(_plain(message)) for message in messages])
        if self._next >= len(self._replies):
            last = self.requests[-1][-1] if messages else None
            problem = (
                f"request {len(self.requests)} was not expected: the script has "
                f"{len(self._replies)} replies; the last message is {last!r:.120}"
            )
            self._unexpected.append(problem)
            raise AssertionError(problem)
        reply = self._replies[self._next]
        self._next += 1
        return _message(reply(list(messages)) if _is_function(reply) else reply)

    def stream(
        self, messages: Sequence[Any], model: str = "", tools: Sequence[Any] | None = None
    ) -> Iterator[Delta | Message]:
        """Yield the next reply word by word, then whole."""
        message = self.chat(messages, model, tools)
        if isinstance(message.content, str):
            for piece in re.findall(r"\s*\S+\s*", message.content):
                yield Delta("text", piece)
        yield message


def _is_function(reply: Any) -> bool:
    return callable(reply) and not isinstance(reply, Message | BaseException)


def _message(reply: Any) -> Message:
    if isinstance(reply, BaseException):
        raise reply
    if isinstance(reply, str):
        return Message("assistant", reply)
    if isinstance(reply, Message):
        return copy.deepcopy(reply)
    return parse_message({"role": "assistant", **reply})


def _plain(message: Any) -> Any:
    return message.to_dict() if isinstance(message, Message) else dict(message)
