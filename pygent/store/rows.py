"""Rows of the event table: made, checked and read, also where the database is damaged."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .blobs import LARGE, BlobFolder, move_out, put_back
from .protocol import LoadReport
from .record import NotAnEvent, envelope_of, event_text, parse_object

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Row", "is_damage", "read_events", "row_of", "sum_of", "unpack"]

_CHUNK = 200
_CORRUPT = frozenset((11, 26))  # SQLITE_CORRUPT, SQLITE_NOTADB

Row = tuple[str, int, int, float, str, str, str | None, int]
"""The columns of the event table, in order."""

Run = Callable[[Callable[..., Any], Any], Any]


def plain(text: str) -> str:
    """Return a text that SQLite can keep: a path may hold bytes that are not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def sum_of(session: str, seq: int, data: bytes, blobs: str | None) -> int:
    """Return the checksum of a row."""
    start = zlib.crc32(f"{session}\n{seq}\n{blobs or ''}\n".encode("utf-8", "surrogatepass"))
    return zlib.crc32(data, start)


def row_of(session: str, event: Mapping[str, Any]) -> tuple[Row, dict[str, bytes]]:
    """Return an event as a row, and the large texts that belong beside it."""
    seq, epoch, at, kind = envelope_of(event)
    text, data = event_text(event)
    blobs = None
    found: dict[str, bytes] = {}
    if len(data) > LARGE:
        event, moved, found = move_out(event)
        if moved:
            text, data = event_text(event)
            blobs = json.dumps(moved, separators=(",", ":"))
    crc = sum_of(session, seq, data, blobs)
    return (session, seq, epoch, at, plain(kind), text, blobs, crc), found


def unpack(session: str, seq: int, data: bytes, blobs: bytes | None, crc: int) -> dict[str, Any]:
    """Return the event of a row, without its large texts, or raise `NotAnEvent`."""
    try:
        whole = sum_of(session, seq, data, None if blobs is None else blobs.decode()) == crc
    except ValueError:
        whole = False
    if not whole:
        raise NotAnEvent("its checksum is wrong")
    return parse_object(data)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether SQLite says that the file itself is broken."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT


def _chunk(connection: sqlite3.Connection, session: str, after: int, before: int) -> list[Any]:
    return connection.execute(
        "SELECT seq, CAST(data AS BLOB), CAST(blobs AS BLOB), crc FROM event "
        "WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ?",
        (session, after, before, _CHUNK),
    ).fetchall()


def _rows(run: Run, session: str, last: int, after: int) -> Iterator[Any]:
    """Yield what can be read; where a piece cannot, go through it number by number."""
    import sqlite3

    while after < last:
        try:
            rows = run(_chunk, (session, after, last + 1))
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            upto = min(after + _CHUNK, last)
            yield from _one_by_one(run, session, after, upto)
            after = upto
            continue
        for row in rows:
            if row[0] > after:  # a damaged tree may go round in circles
                yield row
                after = row[0]
        if len(rows) < _CHUNK:
            return


def _one_by_one(run: Run, session: str, after: int, last: int) -> Iterator[Any]:
    import sqlite3

    for seq in range(after + 1, last + 1):
        try:
            yield from run(_chunk, (session, seq - 1, seq + 1))
        except sqlite3.Error as error:
            if not is_damage(error):
                raise


def read_events(
    run: Run,
    session: str,
    bounds: tuple[int, int],
    folder: BlobFolder,
    report: LoadReport,
) -> Iterator[dict[str, Any]]:
    """Yield the good events above ``bounds[0]`` up to ``bounds[1]``, and report the others."""
    after, last = bounds
    for seq, data, blobs, crc in _rows(run, session, last, after):
        report.lose_between(session, after, seq)
        after = seq
        try:
            event = unpack(session, seq, data, blobs, crc)
        except NotAnEvent as error:
            report.lose(session, f"event {seq} is damaged: {error}")
            continue
        if blobs is not None:
            for lost in put_back(event, json.loads(blobs), folder):
                report.lose(session, lost)
        report.read += 1
        yield event
    report.lose_between(session, after, last + 1)
