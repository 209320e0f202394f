"""Pygent, as a program would use it: an `Agent` with its own tools, and no sandbox."""

from __future__ import annotations

from pygent.agent import Agent
from pygent.events import Delta, ToolFinished
from pygent.models import OpenAIModel
from pygent.runtime import Runtime

MANY = 1_000_000


def make_agent() -> Agent:
    """Return an agent with a temporary workspace, made when it is first needed."""
    return Agent(runtime=Runtime(sandbox="local"), model_name="bench", display=False)


class Ours:
    """Does what `benchmarks.floor.Floor` does; the address comes from ``OPENAI_BASE_URL``."""

    def session(self, prompt: str) -> int:
        """Work until the model answers; returns how many commands were run."""
        with make_agent() as agent:
            return work(agent, prompt)

    def stream(self, prompt: str) -> int:
        """Read a streamed answer from the model; returns how many deltas it yielded."""
        messages = [{"role": "user", "content": prompt}]
        pieces = OpenAIModel().stream(messages, "bench")
        return sum(isinstance(piece, Delta) for piece in pieces)


class OursWatched(Ours):
    """The same, with a stream read through the agent."""

    def stream(self, prompt: str) -> int:
        """Read a streamed answer from the agent; returns how many deltas it yielded."""
        with make_agent() as agent:
            return sum(isinstance(event, Delta) for event in agent.stream(prompt))


def work(agent: Agent, prompt: str) -> int:
    """Have an agent work until the model answers; returns how many commands went well."""
    agent.run(prompt, max_steps=MANY)
    results = (event for event in agent.log.events() if isinstance(event, ToolFinished))
    return sum(result.outcome == "ok" for result in results)
