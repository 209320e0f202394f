"""Environment variables, read when they are used and never at import."""

from __future__ import annotations

import math
import os

from ..errors import ConfigError

__all__ = ["flag", "names", "number", "text", "whole_number"]

_YES = frozenset(("1", "true", "yes", "on"))
_NO = frozenset(("", "0", "false", "no", "off"))


def text(name: str, default: str | None = None) -> str | None:
    """Return a variable's value; one that is set to nothing counts as not set."""
    return os.environ.get(name) or default


def flag(name: str, *, default: bool) -> bool:
    """Return a yes-or-no variable."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    word = raw.strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise ConfigError(f"{name}={raw!r} is neither yes nor no: set it to 1 or 0")


def number(name: str, default: float | None = None) -> float | None:
    """Return a variable that counts seconds or the like; never negative."""
    raw = text(name)
    if raw is None:
        return default
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ConfigError(
            f"{name}={raw!r} is not a number: set it to one, such as 300, or unset it"
        )
    return value


def whole_number(name: str, default: int) -> int:
    """Return a variable that counts things."""
    raw = text(name)
    if raw is None:
        return default
    if not raw.strip().isdecimal():
        raise ConfigError(f"{name}={raw!r} is not a whole number: set it to one, such as {default}")
    return int(raw)


def names(name: str) -> list[str]:
    """Return a variable that lists names, separated as in PATH."""
    return [part.strip() for part in (text(name) or "").split(os.pathsep) if part.strip()]
