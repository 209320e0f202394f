"""`OpenAIModel`: any endpoint that speaks Chat Completions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from ..events import Delta
from ..messages import Message
from . import client as given
from .completions import complete, stream
from .endpoint import resolve
from .request import make_body

__all__ = ["OpenAIModel"]


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    The address and the key are those given, else ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` as
    they are at each call. ``idle_timeout`` ends a reply of which nothing comes for so long; how
    long a reply may take in all is up to the current `CancelScope`, which it obeys at once.

    ``client`` is an object like the official client. It is asked instead, and then it is the one
    that decides about addresses, keys and limits.
    """

    honours_cancel: bool = True

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        client: Any = None,
        connect_timeout: float = 10.0,
        idle_timeout: float = 300.0,
    ) -> None:
        self.base_url = base_url
        self.connect_timeout = connect_timeout
        self.idle_timeout = idle_timeout
        self._api_key = api_key
        self._client = client
        if client is not None:
            self.honours_cancel = False

    def chat(
        self, messages: Sequence[Any], model: str, tools: Sequence[Any] | None = None
    ) -> Message:
        """Return the model's reply; `APIError` when there is none, `ReplyError` when it is bad."""
        if self._client is not None:
            return given.complete(self._client, messages, model, tools)
        endpoint = resolve(self.base_url, self._api_key)
        body = make_body(messages, model, tools)
        return complete(endpoint, body, self.connect_timeout, self.idle_timeout)[1]

    def stream(
        self, messages: Sequence[Any], model: str, tools: Sequence[Any] | None = None
    ) -> Generator[Delta | Message]:
        """Yield the reply piece by piece, and last of all as one `Message`.

        The `CancelScope` that is current at the first piece holds for the whole reply.
        """
        if self._client is not None:
            return given.stream(self._client, messages, model, tools)
        endpoint = resolve(self.base_url, self._api_key)
        body = make_body(messages, model, tools, stream=True)
        return stream(endpoint, body, self.connect_timeout, self.idle_timeout)
