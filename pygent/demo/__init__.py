"""`pygent demo`: an agent at work, with scripted replies and real tools."""

from __future__ import annotations

from .show import run_demo

__all__ = ["run_demo"]
