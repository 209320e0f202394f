"""The tables of the SQLite store, and how a connection to them is opened."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..errors import StoreError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["APPLICATION", "FORMAT", "PAGE", "WAIT", "connect", "prepare"]

APPLICATION = 0x5079676E  # "Pygn"
FORMAT = 1
PAGE = 4096
WAIT = 10.0
"""Seconds to wait while another process writes."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE session (
    id TEXT PRIMARY KEY, epoch INTEGER NOT NULL, last_seq INTEGER NOT NULL,
    events INTEGER NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
    parent TEXT, title TEXT, workspace TEXT, preview TEXT
) WITHOUT ROWID;
CREATE INDEX session_updated ON session (updated);
CREATE INDEX session_workspace ON session (workspace, updated);
CREATE TABLE event (
    session TEXT NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL, at REAL NOT NULL,
    kind TEXT NOT NULL, data TEXT NOT NULL, blobs TEXT, crc INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE blob (
    sha256 TEXT NOT NULL, session TEXT NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (sha256, session)
) WITHOUT ROWID;
CREATE INDEX blob_session ON blob (session);
"""


def prepare(path: Path) -> None:
    """Make sure that there is a private, regular file to open."""
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is not a regular file: name another database")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            return
        # Only ever closed when it is new: closing a file drops this process's locks on it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        if path.is_file():  # somebody else was quicker
            return
        raise StoreError(
            f"cannot make the database {path}: {error.strerror}; "
            "name a place that can be written to"
        ) from error


def connect(path: Path, *, read_only: bool) -> tuple[sqlite3.Connection, int]:
    """Return an open connection, and the format of what is there (made if there is nothing)."""
    import sqlite3

    where = f"file:{quote(str(path.absolute()))}?mode={'ro' if read_only else 'rw'}"
    if read_only and not os.access(path.parent, os.W_OK) and not _has_log(path):
        where += "&immutable=1"  # there is nowhere to put the shared memory of the log
    connection = sqlite3.connect(
        where, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False
    )
    try:
        _recognise(connection, path)
        if not read_only:
            _set_up(connection)
        found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    except UnicodeDecodeError:
        connection.close()
        # SQLite quotes what is broken, and Python cannot read the quotation.
        damage = sqlite3.DatabaseError("malformed database schema")
        damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damage from None
    except BaseException:
        connection.close()
        raise
    return connection, found


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is neither ours nor new."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION and (application or tables):
        raise StoreError(f"{path} is a database, but not one of Pygent's: name another")


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _set_up(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        return
    connection.execute(f"PRAGMA page_size={PAGE}")
    _use_log(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA secure_delete=ON")  # what was deleted is gone
    if version:
        return
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("PRAGMA user_version").fetchone()[0]:  # nobody was faster
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('format_version', ?)", (FORMAT,))
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={FORMAT}")
    connection.execute("COMMIT")


def _use_log(connection: sqlite3.Connection) -> None:
    import sqlite3

    deadline = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not wait by itself when two processes change the mode of a new file.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
