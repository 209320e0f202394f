"""The types that users see, checked by mypy and never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any, assert_type

import pygent
from pygent import Agent, Log, Model, OpenAIModel, Runtime, TaskManager, openai_compat, tool
from pygent.events import Delta, Event, TurnEnded
from pygent.messages import Message


class Echo:
    """A user's model: nothing to inherit from."""

    def chat(self, messages: Any, model: str, tools: Any) -> openai_compat.Message:
        """Answer."""
        return openai_compat.Message(role="assistant", content=str(messages[-1]["content"]))


def the_agent() -> None:
    """What an agent takes and gives."""
    model: Model = Echo()
    agent = Agent(model=model, workspace=Path(), tools=["bash"], display=False)
    assert_type(agent.runtime, Runtime)
    assert_type(agent.log, Log)
    assert_type(agent.step("hi"), Message)
    assert_type(agent.run_until_stop("hi"), Message | None)
    assert_type(agent.run("hi"), Message | None)
    assert_type(agent.stream("hi"), Generator[Event | Delta, None, None])
    assert_type(agent.astream("hi"), AsyncGenerator[Event | Delta, None])
    with Agent(model=OpenAIModel(base_url="http://127.0.0.1:1/v1")) as other:
        for event in other.stream("hi"):
            if isinstance(event, TurnEnded):
                assert_type(event.reason, str)


def the_rest() -> None:
    """Runtime, tasks, tools and the client."""
    runtime = Runtime(use_docker=False)
    assert_type(runtime.bash("true"), str)
    assert_type(runtime.read_file("x"), str)
    manager = TaskManager(agent_factory=lambda persona=None: Agent(persona=persona))
    assert_type(manager.start_task("x", runtime), str)
    assert_type(manager.status("x"), str)
    reply = openai_compat.chat.completions.create(model="m", messages=[{"role": "user"}])
    assert_type(reply.choices[0].message, Message)


@tool
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


assert_type(shout("x"), str)


@pygent.tool
def whisper(text: str) -> str:
    """Say it softer."""
    return text.lower()


assert_type(whisper("x"), str)
