"""Models that answer from a script, and small things to say what happened."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from pygent.agent import Agent
from pygent.events import Delta
from pygent.messages import Message, ToolCall, ToolCallFunction

PATIENCE = 10.0


class Scripted:
    """Gives its replies out one by one; an exception is raised, a function is called.

    ``seen`` has the messages of each request as they were then, ``offered`` the tools' names.
    """

    def __init__(self, *replies: Any, default: Any = None) -> None:
        self.replies = list(replies)
        self.default = default
        self.seen: list[list[dict[str, Any]]] = []
        self.offered: list[list[str]] = []

    def chat(self, messages: Any, model: str, tools: Any = None) -> Any:
        self.seen.append(json.loads(json.dumps([dict(m) for m in messages])))
        self.offered.append([tool["function"]["name"] for tool in tools or ()])
        reply = self.replies.pop(0) if self.replies else self.default
        assert reply is not None, f"request {len(self.seen)} was not expected"
        if isinstance(reply, BaseException):
            raise reply
        if callable(reply):
            reply = reply(messages)
        return Message("assistant", reply) if isinstance(reply, str) else reply


class Streaming(Scripted):
    """Does the same word by word, and counts how often it was asked to."""

    streamed = 0

    def stream(self, messages: Any, model: str, tools: Any = None) -> Any:
        self.streamed += 1
        reply = self.chat(messages, model, tools)
        for word in (reply.content or "").split(" "):
            yield Delta("text", word + " ")
        yield reply


def call(name: str, call_id: str = "", /, **arguments: Any) -> ToolCall:
    """Return one call of a tool."""
    return raw_call(name, json.dumps(arguments), call_id or f"c-{name}")


def raw_call(name: str, arguments: str, call_id: str = "c") -> ToolCall:
    """Return a call whose arguments are some text."""
    return ToolCall(call_id, "function", ToolCallFunction(name, arguments))


def calls(*those: ToolCall, content: str | None = None) -> Message:
    """Return a reply that calls tools."""
    return Message("assistant", content, list(those))


def make(model: Any, tmp_path: Any, **more: Any) -> Agent:
    """Return an agent at work in a folder of the test, that shows nothing."""
    model = Scripted(model) if isinstance(model, str) else model
    more.setdefault("display", False)
    if "runtime" not in more:
        more.setdefault("workspace", tmp_path / "workspace")
    return Agent(model=model, **more)


def kinds(agent: Agent, after: int = 0) -> list[str]:
    """Return the types of what was recorded."""
    return [event.type for event in agent.log.events(after)]


def ends(agent: Agent) -> list[str]:
    """Return the reasons with which turns ended."""
    return [event.reason for event in agent.log.events() if event.type == "turn_ended"]


def answers(agent: Agent) -> list[Any]:
    """Return what the model was told of its calls, in order."""
    return [m["content"] for m in agent.history if m.get("role") == "tool"]


def roles(agent: Agent) -> list[str]:
    """Return who spoke, in order."""
    return [m["role"] for m in agent.history]


def well_answered(agent: Agent) -> bool:
    """Whether every call has exactly one answer, right after it, in order."""
    wanted: list[str] = []
    for message in agent.history:
        if message.get("role") == "tool":
            if not wanted or wanted.pop(0) != message["tool_call_id"]:
                return False
        elif wanted:
            return False
        else:
            wanted = [one["id"] for one in message.get("tool_calls") or ()]
    return not wanted


def until(condition: Callable[[], Any], what: str = "it") -> Any:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE} s"
        time.sleep(0.01)
    return found
