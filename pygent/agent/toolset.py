"""Which tools an agent has at this step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ConfigError
from ..tools import REGISTRY, Registry, Schemas, Tool, tool_from_function

__all__ = ["ActiveTools", "ToolLike"]

ToolLike = str | Tool | Callable[..., Any]


class ActiveTools:
    """The global registry as it is now, or an agent's own tools; less what is disabled."""

    def __init__(self, own: Iterable[ToolLike] | None) -> None:
        self.registry = REGISTRY if own is None else _own_registry(own)
        self._schemas = Schemas()
        self._key: Any = None

    def key(self, disabled: Iterable[str]) -> Any:
        """Return something that changes whenever the tools do."""
        return self.registry.version, tuple(disabled)

    def schemas(self, disabled: Iterable[str]) -> Schemas:
        """Return what the model is offered, sorted by name."""
        key = self.key(disabled)
        if key != self._key:
            hidden = set(key[1])
            offered = [s for s in self.registry.schemas if s["function"]["name"] not in hidden]
            self._schemas = Schemas(sorted(offered, key=lambda s: str(s["function"]["name"])))
            self._key = key
        return self._schemas

    def names(self, disabled: Iterable[str]) -> list[str]:
        """Return the names of what the model is offered."""
        return [schema["function"]["name"] for schema in self.schemas(disabled)]


def _own_registry(own: Iterable[ToolLike]) -> Registry:
    registry = Registry()
    for item in own:
        if isinstance(item, Tool):
            registry.add(item)
        elif isinstance(item, str):
            registry.add(_named(item))
        elif callable(item):
            registry.add(tool_from_function(item))
        else:
            raise ConfigError(
                f"tools= holds {item!r:.80}: give names of registered tools, functions or Tools"
            )
    return registry


def _named(name: str) -> Tool:
    tool = REGISTRY.get(name)
    if tool is None:
        known = ", ".join(sorted(REGISTRY.functions))
        raise ConfigError(f"no tool is called {name!r}; there are: {known}")
    return tool
