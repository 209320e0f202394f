"""Images that tools return, shown to the model the way Chat Completions wants them.

A tool message may hold text alone, and nothing may come between the results of one reply. So the
result says where to look, and one user message after all of them shows the images.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["with_images"]

_START = "data:image/"


def with_images(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with the images of tool results in a user message of their own."""
    shown: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    for message in messages:
        if message.get("role") != "tool":
            _show(shown, images)
        content = message.get("content")
        if (
            message.get("role") == "tool"
            and isinstance(content, str)
            and content.startswith(_START)
        ):
            number = len(images) + 1
            images.append({"type": "image_url", "image_url": {"url": content}})
            text = f"[image {number} of the message after these results]"
            message = {**message, "content": text}  # noqa: PLW2901
        shown.append(message)
    _show(shown, images)
    return shown


def _show(shown: list[dict[str, Any]], images: list[dict[str, Any]]) -> None:
    if images:
        told = {"type": "text", "text": "[images that the tools returned]"}
        shown.append({"role": "user", "content": [told, *images]})
        images.clear()
