"""The tools that models can call, and how to make more of them.

``register_tool`` and ``@tool`` put a function into the global registry, which every agent without
tools of its own reads at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from ..errors import ConfigError
from . import builtin
from .builtin.files import (
    download_file as _download_file,
    read_file as _read_file,
    upload_file as _upload_file,
    write_file as _write_file,
)
from .builtin.image import read_image as _read_image
from .builtin.shell import bash as _bash
from .builtin.turn import ask_user as _ask_user, go_on as _continue, stop as _stop
from .context import CallContext
from .dispatch import Outcome, bad_arguments, run_tool, unknown_tool
from .registry import Registry, Schemas, as_effect
from .spec import Effect, Tool
from .typed import tool_from_function

__all__ = [
    "REGISTRY",
    "TOOLS",
    "TOOL_SCHEMAS",
    "CallContext",
    "Effect",
    "Outcome",
    "Registry",
    "Schemas",
    "Tool",
    "_ask_user",
    "_bash",
    "_continue",
    "_download_file",
    "_read_file",
    "_read_image",
    "_stop",
    "_upload_file",
    "_write_file",
    "bad_arguments",
    "clear_tools",
    "execute_tool",
    "fill_in",
    "on_reset",
    "register_tool",
    "remove_tool",
    "reset_tools",
    "run_tool",
    "tool",
    "tool_from_function",
    "unknown_tool",
]

F = TypeVar("F", bound=Callable[..., Any])

REGISTRY = Registry()
TOOLS = REGISTRY.functions
TOOL_SCHEMAS = REGISTRY.schemas

_task_manager: Any = None  # the promised place of the manager that the task tools use
_installers: list[Callable[[Registry], None]] = []


def on_reset(install: Callable[[Registry], None]) -> None:
    """Have ``install`` put tools into the registry, now and at each `reset_tools`."""
    _installers.append(install)
    install(REGISTRY)


def fill_in(**names: Any) -> None:
    """Give this module the names that belong to layers above it, under their promised paths."""
    globals().update(names)


def register_tool(
    name: str,
    description: str,
    parameters: Mapping[str, Any],
    func: Callable[..., Any],
    *,
    effect: Effect | str = Effect.IRREVERSIBLE,
) -> None:
    """Offer ``func`` to models under ``name``; it is called as ``func(runtime, **arguments)``.

    A name that is registered already is a `ValueError`.
    """
    REGISTRY.register(name, description, parameters, func, effect=effect)


@overload
def tool(name: F, /) -> F: ...
@overload
def tool(
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    effect: Effect | str = Effect.IRREVERSIBLE,
) -> Callable[[F], F]: ...
def tool(
    name: Any = None,
    description: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    effect: Effect | str = Effect.IRREVERSIBLE,
) -> Any:
    """Register the decorated function as a tool.

    Bare, or with some of the arguments, it reads the rest from the function's signature and
    docstring. With ``name``, ``description`` and ``parameters`` these are taken as they are, and
    the function gets the runtime first.
    """
    if callable(name):
        REGISTRY.add(tool_from_function(name))
        return name

    def decorate(func: F) -> F:
        if parameters is None:
            kind = as_effect(effect)
            made = tool_from_function(func, name=name, description=description, effect=kind)
            REGISTRY.add(made)
        elif name is None:
            raise ConfigError("a tool with parameters= needs a name=")
        else:
            register_tool(name, description or "", parameters, func, effect=effect)
        return func

    return decorate


def remove_tool(name: str) -> None:
    """Withdraw one tool; one that is not registered is a `ValueError`."""
    REGISTRY.remove(name)


def clear_tools() -> None:
    """Withdraw every tool."""
    REGISTRY.clear()


def reset_tools() -> None:
    """Go back to the built-in tools."""
    REGISTRY.clear()
    for install in _installers:
        install(REGISTRY)


def execute_tool(call: Any, rt: Any) -> str:
    """Run one call of a registered tool and return what the model is told.

    The call may lack ``id`` and ``type``. A tool that fails, is unknown or was called with bad
    arguments gives a text that says so, never an exception.
    """
    found = REGISTRY.get(call.function.name)
    if found is None:
        return unknown_tool(call.function.name, REGISTRY.offered()).content
    return run_tool(found, call.function.arguments, rt).content


on_reset(builtin.install)
