"""The tools that every agent starts with."""

from __future__ import annotations

from ..registry import Registry
from .files import ACCEPTED as MORE_FILES, OFFERED as FILES
from .image import ACCEPTED as IMAGES
from .search import OFFERED as SEARCH
from .shell import OFFERED as SHELL
from .turn import ACCEPTED as MORE_TURN, OFFERED as TURN

__all__ = ["install"]


def install(registry: Registry) -> None:
    """Put the built-in tools into a registry; not all of them are offered to models."""
    for made in (*SHELL, *FILES, *SEARCH, *TURN):
        registry.add(made)
    for made in (*MORE_TURN, *IMAGES, *MORE_FILES):
        registry.add(made, offered=False)
