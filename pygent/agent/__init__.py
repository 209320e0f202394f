"""The agent and its loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..system_message import build_system_msg, set_system_message_builder
from .agent import Agent
from .birth import DELEGATED
from .loop import Limits

__all__ = ["DELEGATED", "Agent", "Limits", "build_system_msg", "set_system_message_builder"]

_above: dict[str, Callable[[], Any]] = {}


def fill_in(**names: Callable[[], Any]) -> None:
    """Give this module names that belong to layers above it; each is fetched when it is asked for."""
    _above.update(names)


def __getattr__(name: str) -> Any:
    if name in _above:
        return _above[name]()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
