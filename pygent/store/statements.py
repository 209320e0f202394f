"""What the SQLite store says to its database. All but the reads run inside `transaction`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .blobs import BlobFolder
from .record import preview_of
from .refusals import exists_already, no_session, number_taken, taken_over
from .rows import Row

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "append",
    "counters",
    "create",
    "delete",
    "has",
    "keep_blob",
    "listing",
    "raise_epoch",
    "remove_unused",
    "rename",
    "transaction",
]

_COUNT = (
    "UPDATE session SET epoch = ?, last_seq = ?, events = events + 1, updated = ?, "
    "preview = coalesce(preview, ?) WHERE id = ? AND epoch <= ? AND last_seq < ?"
)
_LIST = (
    "SELECT id, created, updated, events, title, parent, workspace, preview FROM session "
    "ORDER BY updated DESC, id DESC LIMIT ? OFFSET ?"
)
_LIST_WORKSPACE = _LIST.replace("ORDER", "WHERE workspace = ? ORDER")


def transaction(
    connection: sqlite3.Connection, work: Callable[..., Any], args: Any, sync: bool
) -> Any:
    """Do some work wholly or not at all; with ``sync``, it is on the disk at the end."""
    try:
        if sync:
            connection.execute("PRAGMA synchronous=FULL")
        connection.execute("BEGIN IMMEDIATE")
        result = work(connection, *args)
        connection.execute("COMMIT")
        return result
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if sync:
            connection.execute("PRAGMA synchronous=NORMAL")


def create(
    connection: sqlite3.Connection,
    session: str,
    at: float,
    parent: str | None,
    title: str | None,
    workspace: str | None,
) -> None:
    """Begin a session."""
    if connection.execute("SELECT 1 FROM session WHERE id = ?", (session,)).fetchone():
        raise exists_already(session)
    # What a damaged database may still hold under this name is not this session's.
    connection.execute("DELETE FROM event WHERE session = ?", (session,))
    connection.execute(
        "INSERT INTO session VALUES (?, 1, 0, 0, ?, ?, ?, ?, ?, NULL)",
        (session, at, at, parent, title, workspace),
    )


def raise_epoch(connection: sqlite3.Connection, session: str) -> int:
    """Raise a session's epoch by one, and return it."""
    connection.execute("UPDATE session SET epoch = epoch + 1 WHERE id = ?", (session,))
    return counters(connection, session)[0]


def append(
    connection: sqlite3.Connection,
    row: Row,
    event: Mapping[str, Any],
    folder: BlobFolder,
    found: Mapping[str, bytes],
) -> None:
    """Insert one event and count it, unless the writer is fenced out or the number taken."""
    session, seq, epoch, at = row[:4]
    values = (epoch, seq, at, preview_of(event), session, epoch, seq)
    if not connection.execute(_COUNT, values).rowcount:
        _again(connection, row)
        return
    for digest, data in found.items():
        folder.put(digest, data)  # there already, unless somebody deleted its last use meanwhile
        keep_blob(connection, digest, session, len(data))
    connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _again(connection: sqlite3.Connection, row: Row) -> None:
    """Return if this very event is there, to be written again; else say why it cannot be."""
    session, seq, epoch = row[:3]
    now, _ = counters(connection, session)
    if epoch < now:
        raise taken_over(session, epoch, now)
    there = connection.execute(
        "SELECT epoch, at, kind, data, blobs, crc FROM event WHERE session = ? AND seq = ?",
        (session, seq),
    ).fetchone()
    if there != row[2:]:
        raise number_taken(session, seq)
    # A write of its own, so that a transaction that is to reach the disk does.
    connection.execute("UPDATE session SET last_seq = last_seq WHERE id = ?", (session,))


def counters(connection: sqlite3.Connection, session: str) -> tuple[int, int]:
    """Return a session's epoch and its last event's number."""
    found = connection.execute(
        "SELECT epoch, last_seq FROM session WHERE id = ?", (session,)
    ).fetchone()
    if found is None:
        raise no_session(session)
    return found[0], found[1]


def has(connection: sqlite3.Connection, session: str, seq: int) -> bool:
    """Return whether there is an event of that number."""
    counters(connection, session)
    query = "SELECT 1 FROM event WHERE session = ? AND seq = ?"
    return connection.execute(query, (session, seq)).fetchone() is not None


def listing(
    connection: sqlite3.Connection, workspace: str | None, limit: int | None, offset: int
) -> list[Any]:
    """Return a page of sessions, in the order of an index."""
    page = (-1 if limit is None else limit, offset)
    if workspace is None:
        return connection.execute(_LIST, page).fetchall()
    return connection.execute(_LIST_WORKSPACE, (workspace, *page)).fetchall()


def rename(connection: sqlite3.Connection, session: str, title: str | None) -> None:
    """Set a session's title."""
    counters(connection, session)
    connection.execute("UPDATE session SET title = ? WHERE id = ?", (title, session))


def delete(connection: sqlite3.Connection, session: str) -> list[str]:
    """Delete a session; return the names of the blobs that it held."""
    counters(connection, session)
    held = connection.execute("SELECT sha256 FROM blob WHERE session = ?", (session,)).fetchall()
    connection.execute("DELETE FROM event WHERE session = ?", (session,))
    connection.execute("DELETE FROM blob WHERE session = ?", (session,))
    connection.execute("DELETE FROM session WHERE id = ?", (session,))
    return [digest for (digest,) in held]


def keep_blob(connection: sqlite3.Connection, digest: str, session: str, size: int) -> None:
    """Note that a session needs a blob; the empty name keeps it for good."""
    connection.execute("INSERT OR IGNORE INTO blob VALUES (?, ?, ?)", (digest, session, size))


def remove_unused(connection: sqlite3.Connection, digests: list[str], folder: BlobFolder) -> None:
    """Remove the files of those blobs that nobody needs, while nobody can begin to."""
    for digest in digests:
        if not connection.execute("SELECT 1 FROM blob WHERE sha256 = ?", (digest,)).fetchone():
            folder.remove(digest)
