"""Looking after a database that nobody has open: whether it is whole, and what is left of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import StoreError
from .memory import MemoryStore
from .protocol import LoadReport, Store
from .schema import connect
from .sqlite import is_open

__all__ = ["check", "salvage"]

_MESSAGES = 20


class _Nowhere(MemoryStore):
    """Takes events and forgets them."""

    def append(self, session: str, event: Mapping[str, Any], *, sync: bool = False) -> None:
        """Forget the event."""


def check(path: str | os.PathLike[str]) -> LoadReport:
    """Read all of a database that no process has open; change nothing, and name all damage."""
    return _inspect(path, _Nowhere())


def salvage(path: str | os.PathLike[str], into: Store) -> LoadReport:
    """Copy all that can be read of a damaged database into another store, and name the rest.

    Events that ``into`` has already are not written again.
    """
    return _inspect(path, into)


def _inspect(path: str | os.PathLike[str], into: Store) -> LoadReport:
    from .salvage import salvage_files  # not needed for `import pygent`
    from .wal import damage_of

    where = Path(os.path.realpath(path))
    if is_open(where):
        raise StoreError(f"{where} is open in this process: close the store first")
    report = LoadReport()
    try:
        what = damage_of(where)
        if what is not None:
            report.lose("", what)
        else:
            _ask_sqlite(where, report)
        salvage_files(where, where.with_name(where.name + "-blobs"), into, report)
    except OSError as error:
        raise StoreError(f"cannot read {where}: {error.strerror}") from error
    return report


def _ask_sqlite(path: Path, report: LoadReport) -> None:
    """Name what SQLite finds wrong with the database's trees."""
    import sqlite3

    try:
        connection, _ = connect(path, read_only=True)
        with contextlib.closing(connection):
            found = connection.execute(f"PRAGMA integrity_check({_MESSAGES})").fetchall()
    except (sqlite3.Error, StoreError) as error:
        report.lose("", str(error))
        return
    for (message,) in found:
        if message != "ok":
            report.lose("", str(message))
