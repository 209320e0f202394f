"""The log of a session: everything that happened, and what is read off it."""

from __future__ import annotations

from .files import MessageFile, Mirror
from .log import Log
from .state import State

__all__ = ["Log", "MessageFile", "Mirror", "State"]
