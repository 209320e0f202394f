"""Where interactive and headless sessions are kept."""

from __future__ import annotations

from pathlib import Path

from ..config import data_dir, make_dir
from ..log import Log
from ..store import SQLiteStore

__all__ = ["session_store", "stored_log"]


def session_store(*, read_only: bool = False) -> SQLiteStore | None:
    """Open the user's sessions; None if they are only to be read and there are none yet."""
    path = data_dir() / "sessions.db"
    if read_only:
        return SQLiteStore(path, read_only=True) if path.is_file() else None
    make_dir(path.parent)
    return SQLiteStore(path)


def stored_log(workspace: Path | None) -> Log:
    """Return the log of a new session among the user's sessions."""
    return Log(session_store(), workspace=workspace)
