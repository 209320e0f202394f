"""The tools that every agent starts with."""

from __future__ import annotations

from ..registry import Registry
from . import files, image, search, shell, turn

__all__ = ["install"]


def install(registry: Registry) -> None:
    """Put the built-in tools into a registry; not all of them are offered to models."""
    for module in (shell, files, search, turn):
        for made in module.OFFERED:
            registry.add(made)
    for made in (*turn.ACCEPTED, *image.ACCEPTED, *files.ACCEPTED):
        registry.add(made, offered=False)
