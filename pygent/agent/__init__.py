"""The agent and its loop."""

from __future__ import annotations

from .agent import Agent
from .loop import Limits

__all__ = ["Agent", "Limits"]
