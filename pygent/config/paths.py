"""Where Pygent keeps what is its own: the XDG directories, or ``PYGENT_HOME``."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import ConfigError
from .environment import text

__all__ = ["cache_dir", "config_dir", "data_dir", "home", "make_dir", "state_dir"]


def home() -> Path:
    """Return the user's home; a `ConfigError` where there is none."""
    found = os.path.expanduser("~")
    if not os.path.isabs(found):
        raise ConfigError("there is no home directory: set HOME, or PYGENT_HOME, to a folder")
    return Path(found)


def config_dir() -> Path:
    """Return where settings are; nothing is made."""
    return _place("config", "XDG_CONFIG_HOME", ".config")


def data_dir() -> Path:
    """Return where sessions are kept; nothing is made."""
    return _place("data", "XDG_DATA_HOME", ".local/share")


def state_dir() -> Path:
    """Return where logs and the like are kept; nothing is made."""
    return _place("state", "XDG_STATE_HOME", ".local/state")


def cache_dir() -> Path:
    """Return where things are kept that can be made again; nothing is made."""
    return _place("cache", "XDG_CACHE_HOME", ".cache")


def make_dir(path: Path) -> Path:
    """Make a directory for the user's eyes alone, if it is not there, and return it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot make {path}: {(error.strerror or 'it cannot be made').lower()}; "
            "set PYGENT_HOME to a folder that you can write to"
        ) from error
    return path


def _place(name: str, variable: str, usual: str) -> Path:
    own = text("PYGENT_HOME")
    if own is not None:
        return Path(os.path.abspath(os.path.expanduser(own))) / name
    # The XDG rules: what is not absolute counts as not set.
    base = text(variable, "") or ""
    return (Path(base) if os.path.isabs(base) else home() / usual) / "pygent"
