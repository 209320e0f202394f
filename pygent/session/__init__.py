"""Interactive sessions: the abstract front end, and the one for a plain terminal."""

from __future__ import annotations

from .base import Session
from .interactive import CliSession, run_interactive
from .storing import session_store, stored_log

__all__ = ["CliSession", "Session", "run_interactive", "session_store", "stored_log"]
