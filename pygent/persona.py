"""Who an agent is told to be."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Persona"]


@dataclass
class Persona:
    """A name and one sentence about its work."""

    name: str
    description: str
