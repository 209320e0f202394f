"""A chat completion's JSON to a `Message`, or to an error that says what came instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ReplyError
from ..messages import Message, parse_message
from .failures import Source
from .text import load, mended

__all__ = ["make_message", "read_completion", "reply_of"]


def read_completion(body: bytes, source: Source) -> dict[str, Any]:
    """Return the completion that a body holds; its first choice has a message."""
    text = body.decode("utf-8-sig", "replace")
    if not text.strip():
        raise source.unusable("the server sent an empty body")
    try:
        completion = load(text.strip())
    except (ValueError, RecursionError) as exc:
        what = "an HTML page" if text.lstrip().startswith("<") else f"broken JSON ({exc})"
        raise source.unusable(f"the server sent {what} instead of a reply", body) from None
    if "\\ud" in text.lower():
        completion = mended(completion)
    if not isinstance(completion, dict):
        kind = type(completion).__name__
        raise source.unusable(f"the server sent a JSON {kind} instead of a reply", body)
    if completion.get("error") and not completion.get("choices"):
        raise source.refused_inside(completion["error"], body)
    choices = completion.get("choices")
    if choices == []:
        raise source.empty("choices is []", body)
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise source.unusable("the server sent JSON that is no reply: it has no choices", body)
    message = choices[0].get("message")
    if message is None:
        raise source.empty("message is null", body)
    if not isinstance(message, dict) or any(map(_is_no_choice, choices[1:])):
        raise source.unusable("the server sent JSON that is no reply: message is no object", body)
    return completion


def reply_of(completion: Mapping[str, Any], source: Source) -> Message:
    """Return the message of a completion, with its usage and finish reason."""
    choice = completion["choices"][0]
    return make_message(
        choice["message"], completion.get("usage"), choice.get("finish_reason"), source
    )


def make_message(raw: Mapping[str, Any], usage: Any, finish_reason: Any, source: Source) -> Message:
    """Return the message that ``raw`` describes; one that says nothing is a `ReplyError`."""
    fault = _fault(raw)
    if fault:
        raise source.unusable(f"the server sent a reply that makes no sense: {fault}", str(raw))
    message = parse_message({**raw, "role": "assistant"})
    message.usage = dict(usage) if isinstance(usage, Mapping) else None
    message.finish_reason = finish_reason if isinstance(finish_reason, str) else None
    if not (message.content or message.tool_calls or message.extra.get("refusal")):
        raise _empty(message, source, str(raw))
    return message


def _is_no_choice(choice: Any) -> bool:
    message = choice.get("message") or {} if isinstance(choice, dict) else None
    return not isinstance(message, dict) or bool(_fault(message))


def _fault(raw: Mapping[str, Any]) -> str:
    """Return what is wrong with a message, or nothing."""
    content = raw.get("content")
    if content is not None and not isinstance(content, str | list):
        return f"content is {_kind(content)}"
    calls = raw.get("tool_calls")
    if calls is None:
        return ""
    if not isinstance(calls, list):
        return f"tool_calls is {_kind(calls)}"
    for place, call in enumerate(calls):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            return f"tool_calls[{place}] has no function"
        name = function.get("name")
        if name is not None and not isinstance(name, str):
            return f"the name of tool_calls[{place}] is {_kind(name)}"
    return ""


def _empty(message: Message, source: Source, body: str) -> ReplyError:
    why = f"it ended with {message.finish_reason!r}" if message.finish_reason else "no content"
    thought = any("reasoning" in name for name in message.extra)
    also = ", after reasoning alone" if thought else ""
    return source.empty(f"{why}{also}", body)


def _kind(value: Any) -> str:
    return f"a JSON {type(value).__name__}"
