"""What a model is: one method, or two when its reply can be watched as it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from ..events import Delta
from ..messages import Message

__all__ = ["Model", "StreamingModel"]


@runtime_checkable
class Model(Protocol):
    """Anything that answers a conversation.

    A model whose `chat` obeys `CancelScope.current()` says so with an attribute
    ``honours_cancel = True``; one that does not is abandoned at its deadline.
    """

    def chat(self, messages: Sequence[Any], model: str, tools: Sequence[Any] | None) -> Any:
        """Return the reply: a `Message`, a dictionary, or the official client's message."""


@runtime_checkable
class StreamingModel(Model, Protocol):
    """A model that also shows its reply while it is being written."""

    def stream(
        self, messages: Sequence[Any], model: str, tools: Sequence[Any] | None
    ) -> Iterator[Delta | Message]:
        """Yield the pieces of the reply, and last of all the whole `Message`, exactly once.

        A reply that is cut off raises `ReplyError` and yields no message.
        """
