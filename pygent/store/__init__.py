"""Where sessions are kept: in memory, in SQLite, in files that people can read."""

from __future__ import annotations

from .care import check, salvage
from .history_file import HistoryFile
from .jsonl import export_jsonl, import_jsonl
from .memory import MemoryStore
from .protocol import LoadReport, SessionInfo, Store
from .sqlite import SQLiteStore

__all__ = [
    "HistoryFile",
    "LoadReport",
    "MemoryStore",
    "SQLiteStore",
    "SessionInfo",
    "Store",
    "check",
    "export_jsonl",
    "import_jsonl",
    "salvage",
]
