"""The tools that exist, by name: the global registry, and those of single agents."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import ConfigError
from .spec import Effect, Tool

__all__ = ["Registry", "Schemas"]

_NAME = re.compile(r"[\w.-]{1,64}")


class Schemas(list[dict[str, Any]]):
    """The schemas that are sent to a model; serialised once, as long as nobody changes them."""

    def __init__(self, schemas: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__(schemas)
        self._wire: bytes | None = None

    def wire(self) -> bytes:
        """Return the list as JSON."""
        if self._wire is None:
            self._wire = json.dumps(self, separators=(",", ":")).encode()
        return self._wire


class Registry:
    """Tools by name.

    ``functions`` and ``schemas`` are the promised ``TOOLS`` and ``TOOL_SCHEMAS``: whoever changes
    them changes what is called and what is offered. A tool can be there without being offered.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}
        self.schemas: list[dict[str, Any]] = []
        self._tools: dict[str, Tool] = {}
        self._version = 0

    @property
    def version(self) -> tuple[int, int, int]:
        """Changes whenever the tools do."""
        return self._version, len(self.functions), len(self.schemas)

    def add(self, tool: Tool, *, offered: bool = True) -> None:
        """Take a tool in; a name that is taken is a `ValueError`."""
        if tool.name in self.functions:
            raise ValueError(f"tool {tool.name} already registered")
        _check(tool)
        self.functions[tool.name] = tool.func
        self._tools[tool.name] = tool
        self._version += 1
        if offered:
            self.offer(tool.name)

    def offer(self, name: str) -> None:
        """Offer a tool that is there to models; doing so twice is fine."""
        tool = self.get(name)
        if tool is None:
            raise ValueError(f"tool {name} not registered")
        if name not in self.offered():
            self.schemas.append(tool.schema)
            self._version += 1

    def remove(self, name: str) -> None:
        """Withdraw a tool; one that is not there is a `ValueError`."""
        if name not in self.functions:
            raise ValueError(f"tool {name} not registered")
        del self.functions[name]
        self._tools.pop(name, None)
        self.schemas[:] = [s for s in self.schemas if s["function"]["name"] != name]
        self._version += 1

    def clear(self) -> None:
        """Withdraw every tool."""
        self.functions.clear()
        self._tools.clear()
        self.schemas.clear()
        self._version += 1

    def get(self, name: str) -> Tool | None:
        """Return a tool, with the function that ``functions`` holds now."""
        func = self.functions.get(name)
        if func is None:
            return None
        tool = self._tools.get(name)
        if tool is None:
            return Tool(name, "", {"type": "object"}, func)
        return tool if tool.func is func else replace(tool, func=func, check=None)

    def offered(self) -> list[str]:
        """Return the names of the tools that models are offered."""
        return [schema["function"]["name"] for schema in self.schemas]

    def register(
        self,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        func: Callable[..., Any],
        *,
        effect: Effect | str = Effect.IRREVERSIBLE,
    ) -> None:
        """Take a function in under a name, as ``func(runtime, **arguments)``."""
        self.add(Tool(name, description, _object(name, parameters), func, as_effect(effect)))


def _check(tool: Tool) -> None:
    """Refuse what no model could call, or what could not be run."""
    name: Any = tool.name
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ConfigError(
            f"{name!r:.80} is no name for a tool: "
            "servers take letters, digits, - and _, at most 64; give it one with name="
        )
    if not callable(tool.func):
        raise ConfigError(f"tool {tool.name} is {tool.func!r:.80}: give a function")
    if inspect.iscoroutinefunction(tool.func):
        raise ConfigError(
            f"tool {tool.name} is an async function, and tools are called without an event loop: "
            "give a function that calls asyncio.run"
        )


def as_effect(effect: Effect | str) -> Effect:
    """Return an effect class by its name."""
    try:
        return Effect(effect)
    except ValueError:
        known = ", ".join(Effect)
        raise ConfigError(f"no effect class is called {effect!r}: use one of {known}") from None


def _object(name: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    described: Any = parameters
    if not isinstance(described, Mapping) or described.get("type", "object") != "object":
        raise ConfigError(
            f"the parameters of tool {name} are {parameters!r:.80}: "
            'give a JSON schema of the form {"type": "object", "properties": {...}}'
        )
    return parameters if "type" in parameters else {"type": "object", **parameters}
