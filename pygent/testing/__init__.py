"""Doubles for tests of what is built on Pygent: strict about their scripts, real elsewhere."""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

from .scripted import ScriptedModel, call, calls

if _typing.TYPE_CHECKING:
    from .sandbox import FakeSandbox
    from .server import ChatServer
    from .wire import Fault, Reply

__all__ = ["ChatServer", "FakeSandbox", "Fault", "Reply", "ScriptedModel", "call", "calls"]

# Fetched when they are asked for: servers and sandboxes cost time that most tests need not spend.
_LATER = {"ChatServer": "server", "FakeSandbox": "sandbox", "Fault": "wire", "Reply": "wire"}


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
