"""Ready-made kinds of agents: a prompt builder and a set of tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .agent import Agent
from .prompt_library import PROMPT_BUILDERS
from .system_message import Builder
from .tools import REGISTRY

__all__ = ["AGENT_PRESETS", "AgentPreset"]

_READING = ("read_file", "grep", "glob", "read_image")
_WRITING = ("write_file", "edit_file")
_TASKS = (
    "delegate_task",
    "delegate_persona_task",
    "list_personas",
    "list_tasks",
    "task_status",
    "collect_file",
)


@dataclass
class AgentPreset:
    """How to make agents of one kind.

    ``tools`` are the names of the tools they have, None stands for those of the global registry;
    ``include_task_tools`` adds the tools that delegate. An agent that is made has all of it for
    itself: no other agent notices.
    """

    builder: Builder
    tools: Sequence[str] | None = None
    include_task_tools: bool = False

    def create_agent(self, **kwargs: Any) -> Agent:
        """Make an agent; the arguments are those of `Agent`, and win over the preset's."""
        preset: dict[str, Any] = {"system_message_builder": self.builder}
        if self.tools is not None or self.include_task_tools:
            own = REGISTRY.offered() if self.tools is None else self.tools
            more = _TASKS if self.include_task_tools else ()
            preset["tools"] = list(dict.fromkeys([*own, *more]))
        return Agent(**{**preset, **kwargs})


AGENT_PRESETS: dict[str, AgentPreset] = {
    "autonomous": AgentPreset(
        PROMPT_BUILDERS["autonomous"], tools=("bash", *_READING, *_WRITING, "stop")
    ),
    "assistant": AgentPreset(
        PROMPT_BUILDERS["assistant"], tools=("bash", *_READING, *_WRITING, "ask_user", "stop")
    ),
    # It changes nothing: neither by a tool nor by a shell.
    "reviewer": AgentPreset(PROMPT_BUILDERS["reviewer"], tools=(*_READING, "stop")),
}
