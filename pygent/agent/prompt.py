"""Keeping an agent's system message in step with its tools and its persona."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..events import MessageAdded, SystemChanged
from ..system_message import build_system_msg, current_builder
from ..tools import REGISTRY

if TYPE_CHECKING:
    from .agent import Agent

__all__ = ["Prompt"]


class Prompt:
    """Writes the system message when what it is made of has changed, and only then.

    A message that the user gave or set stays, until `refresh` is called.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._built: str | None = None
        self._built_from: Any = None
        self._sent: str | None = None

    def build_first(self) -> None:
        """Write the first message, unless the user gave one."""
        if not self._agent.system_msg:
            self._build()

    def refresh(self) -> None:
        """Write the message again and put it in its place at the head of the conversation."""
        self._build()
        self.send()

    def refresh_if_changed(self) -> None:
        """Do as `refresh`, if it would change anything."""
        if self._agent.system_msg == self._built and self._built_from != self._key():
            self._build()
        self.send()

    def send(self) -> None:
        """Record the message, where the conversation does not have it yet."""
        agent, history = self._agent, self._agent.log.history
        there = bool(history) and history[0].get("role") == "system"
        if there and self._sent == agent.system_msg:
            return
        if not history:
            message = {"role": "system", "content": agent.system_msg}
            agent.log.append(MessageAdded(message=message))
        elif not there or history[0].get("content") != agent.system_msg:
            agent.log.append(SystemChanged(content=agent.system_msg))
        self._sent = agent.system_msg

    def _key(self) -> Any:
        agent = self._agent
        persona = agent.persona
        builders = agent.system_message_builder, current_builder()
        return agent.tools_key(), persona.name, persona.description, builders

    def _build(self) -> None:
        agent, hidden = self._agent, self._hidden()
        self._built_from = self._key()
        if agent.system_message_builder is not None:
            built: Any = agent.system_message_builder(agent.persona, hidden)
        else:
            built = build_system_msg(agent.persona, hidden, schemas=agent.schemas())
        if not isinstance(built, str):
            raise ConfigError(
                f"the system message builder returned {built!r:.80}: let it return a text"
            )
        self._built = agent.system_msg = built

    def _hidden(self) -> list[str]:
        """Name what the registry offers and this agent has not: builders know only those."""
        mine = set(self._agent.tool_names())
        others = [name for name in REGISTRY.offered() if name not in mine]
        return list(dict.fromkeys([*self._agent.disabled_tools, *others]))
