"""Who the tasks are given to, in turn."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

from ..config import names, text
from ..errors import ConfigError
from ..persona import Persona
from ..system_message import default_persona

__all__ = ["Rotation"]


class Rotation:
    """The personas of a manager: those given, those of the settings, or the default one."""

    def __init__(self, personas: Iterable[Persona] | None) -> None:
        self.all = _configured() if personas is None else list(personas)
        if not self.all:
            raise ConfigError("personas is empty: give at least one Persona, or None")
        self._next = 0
        self._lock = threading.Lock()

    def choose(self, wanted: Persona | str | None) -> Persona:
        """Return the wanted persona, by name if it is one of ours, or the next in turn."""
        if isinstance(wanted, Persona):
            return wanted
        if wanted is not None:
            return next((p for p in self.all if p.name == wanted), Persona(wanted, ""))
        with self._lock:
            persona = self.all[self._next % len(self.all)]
            self._next += 1
        return persona


def _configured() -> list[Persona]:
    written = text("PYGENT_TASK_PERSONAS_JSON")
    if written is not None:
        return [_read(item, written) for item in _list(written)]
    named = [Persona(name, "") for name in names("PYGENT_TASK_PERSONAS")]
    return named or [default_persona()]


def _list(written: str) -> list[Any]:
    try:
        value = json.loads(written)
    except ValueError as error:
        raise ConfigError(f"PYGENT_TASK_PERSONAS_JSON is not JSON: {error}") from None
    if not isinstance(value, list) or not value:
        raise _unreadable(written)
    return value


def _read(item: Any, written: str) -> Persona:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise _unreadable(written)
    return Persona(item["name"], str(item.get("description") or ""))


def _unreadable(written: str) -> ConfigError:
    return ConfigError(
        f"PYGENT_TASK_PERSONAS_JSON={written[:80]!r} is no list of personas: "
        'write [{"name": "...", "description": "..."}]'
    )
