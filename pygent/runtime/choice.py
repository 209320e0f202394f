"""Which tier runs the commands: what was asked for, or the best there is, and never silently."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

from ..config.environment import flag, text
from ..errors import ConfigError, SandboxError

__all__ = ["TIERS", "Asked", "SandboxWarning", "TierChoice", "check_name", "decide", "warn_once"]

TIERS = ("docker", "bubblewrap", "landlock", "local")
REQUIRED = "required"

_warned = False


class SandboxWarning(UserWarning):
    """Commands run without isolation, and nobody asked for that."""


@dataclass(frozen=True)
class TierChoice:
    """The tier in force, why it is, and what it does not cover.

    ``asked_for`` is how it was asked for, such as ``use_docker=False``; None means that nothing
    was, and that it is what was left.
    """

    tier: str
    isolated: bool
    reason: str
    gaps: tuple[str, ...] = ()
    asked_for: str | None = None


@dataclass(frozen=True)
class Asked:
    """What the caller and the settings want: a tier, or None, and in which words."""

    tier: str | None
    words: str | None
    required: bool = False


def check_name(name: str) -> str:
    """Return a tier's name, or say which there are."""
    if name not in TIERS:
        raise ConfigError(f"sandbox {name!r} is not known: it is one of {', '.join(TIERS)}")
    return name


def _asked(sandbox: str | None, use_docker: bool | None) -> Asked:
    """Read the arguments and, where they are silent, the settings."""
    setting = text("PYGENT_SANDBOX")
    required = setting == REQUIRED
    if sandbox is not None:
        return Asked(sandbox, f"sandbox={sandbox!r}", required)
    if use_docker is not None:
        return Asked("docker" if use_docker else "local", f"use_docker={use_docker}", required)
    if setting is not None and not required:
        return Asked(check_name(setting), f"PYGENT_SANDBOX={setting}")
    raw = text("PYGENT_USE_DOCKER")
    if raw is not None:
        docker = flag("PYGENT_USE_DOCKER", default=False)
        return Asked("docker" if docker else "local", f"PYGENT_USE_DOCKER={raw}", required)
    return Asked(None, None, required)


def decide(sandbox: str | None, use_docker: bool | None) -> Asked:
    """Return what to run commands in; raises `SandboxError` when it cannot be had."""
    asked = _asked(sandbox, use_docker)
    if asked.required:
        raise SandboxError(
            "PYGENT_SANDBOX=required, and no sandbox of this version isolates commands: "
            "unset it, or set it to local, to run them without isolation"
        )
    if asked.tier not in (None, "local"):
        raise SandboxError(
            f"the {asked.tier} sandbox ({asked.words}) is not available in this version: to run "
            'commands without isolation, say use_docker=False or sandbox="local", or --no-docker '
            "on the command line"
        )
    return asked


def warn_once(choice: TierChoice, *, in_a_turn: bool = False) -> None:
    """Warn that commands are not isolated, once in a process.

    In an agent's turn it is logged: there a warning that is made an error would be taken for the
    tool's.
    """
    global _warned
    if _warned:
        return
    _warned = True
    text = (
        f"commands run on this machine without isolation ({choice.reason}); "
        "say Runtime(use_docker=False) or PYGENT_SANDBOX=local if that is what you want"
    )
    if in_a_turn:
        import logging

        logging.getLogger("pygent").warning(text)
    else:
        warnings.warn(text, SandboxWarning, stacklevel=_outside())


def _outside() -> int:
    """Return how far up the code is that uses the package: the warning is about that."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
