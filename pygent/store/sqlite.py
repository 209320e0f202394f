"""A store in one SQLite database, with the large texts as files beside it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from . import statements
from .blobs import BlobFolder, digest_of
from .protocol import LoadReport, SessionInfo
from .rows import is_damage, plain, read_events, row_of
from .schema import FORMAT, connect, prepare

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SQLiteStore", "is_open"]

_inherited: list[Any] = []  # connections of a parent process: never used, never closed
_stores: weakref.WeakSet[SQLiteStore] = weakref.WeakSet()


class SQLiteStore:
    """Sessions in the database at ``path``, which is made if it is not there.

    Several processes may use one database. A database that a newer Pygent wrote, and any with
    ``read_only``, can be read and not written to. ``report`` says what was found damaged when it
    was opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        from .salvage import bring_back, set_aside  # not needed for `import pygent`

        self.path = Path(os.path.realpath(path))
        self.blobs = BlobFolder(self.path.with_name(self.path.name + "-blobs"))
        self.read_only = read_only
        self._format = FORMAT
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self.report = LoadReport()
        if not read_only:
            prepare(self.path)
        elif not self.path.is_file():
            raise StoreError(f"no database at {self.path}")
        aside = None if read_only or is_open(self.path) else set_aside(self.path)
        _stores.add(self)
        self._connect()
        if aside is not None:
            bring_back(aside, self, self.blobs.folder, self.report)

    def _connect(self) -> None:
        import sqlite3

        try:
            self._connection, self._format = connect(self.path, read_only=self.read_only)
            if self._format > FORMAT and not self.read_only:
                self._connection.close()
                self.read_only = True
                self._connection, self._format = connect(self.path, read_only=True)
        except sqlite3.Error as error:
            raise self._failure("open", error) from error

    def _run(self, doing: str, work: Callable[..., Any], *args: Any) -> Any:
        import sqlite3

        try:
            return self._raw(work, args)
        except sqlite3.Error as error:
            raise self._failure(doing, error) from error

    def _raw(self, work: Callable[..., Any], args: Any) -> Any:
        if self._process != os.getpid():
            _inherited.append(self._connection)
            self._process, self._lock = os.getpid(), threading.Lock()
            self._connect()
        # On one line, so that nothing can interrupt between the body and the lock's release.
        with self._lock: return self._locked(work, args)  # fmt: skip  # noqa: E701

    def _locked(self, work: Callable[..., Any], args: Any) -> Any:
        connection = self._connection
        if connection is None:
            raise StoreError(f"the store {self.path} is closed: open it again")
        if connection.in_transaction:  # an interrupt came before its end
            connection.rollback()
        return work(connection, *args)

    def _write(self, work: Callable[..., Any], *args: Any, sync: bool = False) -> Any:
        if self._format > FORMAT:
            raise StoreError(
                f"{self.path} was written by a newer Pygent (format {self._format}, this one "
                f"writes {FORMAT}): it can be read, not written; update Pygent"
            )
        if self.read_only:
            raise StoreError(f"{self.path} was opened for reading only")
        return self._run("write to", statements.transaction, work, args, sync)

    def _failure(self, doing: str, error: sqlite3.Error) -> StoreError:
        if is_damage(error):
            advice = "it is damaged; pygent.store.salvage(path, into) reads what is left"
        elif "full" in str(error):
            advice = "nothing was recorded; free some space and try again"
        elif "locked" in str(error):
            advice = "another process keeps it locked; try again when it is done"
        else:
            advice = "nothing was recorded" if doing == "write to" else "look at the file"
        return StoreError(f"cannot {doing} {self.path}: {error}; {advice}")

    def create(
        self,
        session: str,
        *,
        at: float,
        parent: str | None = None,
        title: str | None = None,
        workspace: str | None = None,
    ) -> int:
        """Begin a session and return its first epoch."""
        described = [None if text is None else plain(text) for text in (parent, title, workspace)]
        self._write(statements.create, session, at, *described)
        return 1

    def open(self, session: str) -> int:
        """Raise the epoch: older writers are refused from now on."""
        return int(self._write(statements.raise_epoch, session))

    def append(self, session: str, event: Mapping[str, Any], *, sync: bool = False) -> None:
        """Record one event in one transaction."""
        row, found = row_of(session, event)
        for digest, data in found.items():
            self.blobs.put(digest, data, sync=sync)
        self._write(statements.append, row, event, self.blobs, found, sync=sync)

    def has(self, session: str, seq: int) -> bool:
        """Return whether the event is there."""
        return bool(self._run("read", statements.has, session, seq))

    def last_seq(self, session: str) -> int:
        """Return the number of the last event."""
        return int(self._run("read", statements.counters, session)[1])

    def epoch(self, session: str) -> int:
        """Return the session's epoch."""
        return int(self._run("read", statements.counters, session)[0])

    def read(
        self,
        session: str,
        after: int = 0,
        limit: int | None = None,
        *,
        report: LoadReport | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the events numbered above ``after``; damage is left out and reported."""
        last = self.last_seq(session)
        report = LoadReport() if report is None else report
        return islice(self._read(session, (after, last), report), limit)

    def _read(
        self, session: str, bounds: tuple[int, int], report: LoadReport
    ) -> Iterator[dict[str, Any]]:
        import sqlite3

        try:
            yield from read_events(self._raw, session, bounds, self.blobs, report)
        except sqlite3.Error as error:
            raise self._failure("read", error) from error

    def sessions(
        self, *, workspace: str | None = None, limit: int | None = None, offset: int = 0
    ) -> list[SessionInfo]:
        """Return the sessions, the one that was last written to first."""
        where = None if workspace is None else plain(workspace)
        rows = self._run("read", statements.listing, where, limit, offset)
        return [SessionInfo(*row) for row in rows]

    def rename(self, session: str, title: str | None) -> None:
        """Give a session another title."""
        self._write(statements.rename, session, None if title is None else plain(title))

    def delete(self, session: str) -> None:
        """Forget a session and the large texts that no other one has."""
        held = self._write(statements.delete, session)
        if held:
            self._write(statements.remove_unused, held, self.blobs)

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes for good under their SHA-256."""
        digest = digest_of(data)
        self.blobs.put(digest, data)
        self._write(statements.keep_blob, digest, "", len(data))
        self.blobs.put(digest, data)  # somebody may have removed the last use of it meanwhile
        return digest

    def get_blob(self, digest: str) -> bytes:
        """Return what was put, verified."""
        return self.blobs.get(digest)

    def close(self) -> None:
        """Close the database; the store cannot be used again."""
        if self._process != os.getpid():
            return
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def is_open(path: Path) -> bool:
    """Return whether a store of this process has that database open."""
    return any(store.path == path and store._connection is not None for store in list(_stores))
