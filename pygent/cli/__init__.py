"""The command line: ``pygent``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from ..version import __version__

__all__ = ["app", "main", "run"]

_VERSION = (["version"], ["--version"])


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say, ``sys.argv`` by default, and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in _VERSION and sys.stdout is not None:
        # Answered before anything else is imported.
        sys.stdout.write(f"{__version__}\n")
        return 0
    code: int = importlib.import_module(".entry", __name__).enter(given)
    return code


def __getattr__(name: str) -> Any:
    if name in {"app", "main"}:
        return getattr(importlib.import_module(".app", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
