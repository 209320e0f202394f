"""Finding events in the pages of a damaged database, without asking SQLite.

The format is published at sqlite.org/fileformat2.html. Every row has a checksum of its own, so
that what is found is what was written, wherever it was found.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .protocol import SessionInfo
from .record import NotAnEvent
from .rows import unpack
from .wal import Frame, frames, log_of

__all__ = ["Carved", "Pages", "Place", "as_event", "as_session"]

_PAGE = 4096
_LEAF, _INNER = 0x0A, 0x02
_MOST = (_PAGE - 12) * 64 // 255 - 23
_LEAST = (_PAGE - 12) * 32 // 255 - 23
_EVENT_COLUMNS, _SESSION_COLUMNS = 8, 10
_REAL = 7
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
_BAD = (IndexError, KeyError, TypeError, ValueError, OverflowError, AttributeError)

Carved = tuple[str, int, bytes, bytes | None, int]
"""Session, seq, data, where its blobs belong, checksum."""

Place = tuple[int, int, int]
"""Where a row is: the page's number, which of its images, where in it the cell is named."""


class Pages:
    """The pages of a database and of its log, the newest image of each first.

    Only for files that this process has not opened with SQLite: closing a file drops its locks.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            self._main = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        log = log_of(path)
        self._log = log.read_bytes() if log.exists() else b""
        self._newer: dict[int, list[Frame]] = {}
        for frame in reversed(frames(log)):
            images = self._newer.setdefault(frame.page, [])
            if not (images and images[-1].good):
                images.append(frame)

    def images(self, number: int) -> list[bytes]:
        """Return what the page may be: the newest image, and older ones until one is surely whole."""
        newer = self._newer.get(number, [])
        found = [self._log[frame.start : frame.start + _PAGE] for frame in newer]
        if not (newer and newer[-1].good):
            start = (number - 1) * _PAGE
            found.append(self._main[start : start + _PAGE])
        return found

    def places(self, *, log_only: bool = False) -> Iterator[tuple[Place, list[Any]]]:
        """Yield the rows that can be made out, of whatever table, each with its place."""
        count = max([len(self._main) // _PAGE + 1, *self._newer])
        for number in sorted(self._newer) if log_only else range(2, count + 1):
            for which, page in enumerate(self.images(number)):
                for place in _cells(page):
                    try:
                        yield (number, which, place), self._row(page, place)
                    except _BAD:
                        continue

    def event(self, place: Place) -> Carved:
        """Return the event at a place where there was one."""
        number, which, cell = place
        carved = as_event(self._row(self.images(number)[which], cell))
        if carved is None:
            raise NotAnEvent("the file changed while it was read")
        return carved

    def _row(self, page: bytes, place: int) -> list[Any]:
        start = int.from_bytes(page[place : place + 2], "big") + (4 if page[0] == _INNER else 0)
        return _columns(self._payload(page, start))

    def _payload(self, page: bytes, start: int) -> bytes:
        size, start = _varint(page, start)
        if size <= _MOST:
            return page[start : start + size]
        local = _LEAST + (size - _LEAST) % (_PAGE - 4)
        if local > _MOST:
            local = _LEAST
        parts, rest = [page[start : start + local]], size - local
        following = int.from_bytes(page[start + local : start + local + 4], "big")
        while rest > 0:
            more = self.images(following)[0] if following else b""
            if len(more) < _PAGE:
                raise IndexError(following)
            parts.append(more[4 : 4 + rest])
            rest -= _PAGE - 4
            following = int.from_bytes(more[:4], "big")
        return b"".join(parts)


def as_event(values: list[Any]) -> Carved | None:
    """Return a row as an event, if it is one and its checksum holds."""
    if len(values) != _EVENT_COLUMNS:
        return None
    name, seq, _, _, _, data, blobs, crc = values
    if not (isinstance(name, bytes) and isinstance(data, bytes) and type(seq) is int):
        return None
    try:
        carved = (name.decode(), seq, data, blobs, crc)
        unpack(*carved)
    except (NotAnEvent, *_BAD):
        return None
    return carved


def as_session(values: list[Any]) -> SessionInfo | None:
    """Return a row as a session, if it looks like one; ``events`` is its last event's number."""
    if len(values) != _SESSION_COLUMNS:
        return None
    name, numbers, texts = values[0], values[1:6], values[6:]
    if not isinstance(name, bytes) or not all(isinstance(n, (int, float)) for n in numbers):
        return None
    if not all(text is None or isinstance(text, bytes) for text in texts):
        return None
    parent, title, workspace, preview = (
        None if text is None else text.decode("utf-8", "replace") for text in texts
    )
    _, last, _, created, updated = numbers
    return SessionInfo(
        name.decode("utf-8", "replace"),
        float(created), float(updated), int(last), title, parent, workspace, preview,
    )  # fmt: skip


def _cells(page: bytes) -> range:
    """Return where a page of a tree says where its rows are; nothing for other pages."""
    if len(page) < _PAGE or page[0] not in (_LEAF, _INNER):
        return range(0)
    first = 12 if page[0] == _INNER else 8
    return range(first, min(first + 2 * int.from_bytes(page[3:5], "big"), _PAGE - 1), 2)


def _varint(data: bytes, start: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = data[start + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, start + place + 1
    return value << 8 | data[start + 8], start + 9


def _columns(payload: bytes) -> list[Any]:
    """Return the values of a record: numbers, None, and texts as bytes."""
    end, place = _varint(payload, 0)
    types = []
    while place < end:
        code, place = _varint(payload, place)
        types.append(code)
    values, place = [], end
    for code in types:
        width = _WIDTHS[code] if code < 12 else (code - 12) // 2
        raw = payload[place : place + width]
        if len(raw) < width:
            raise IndexError(place)
        values.append(_value(code, raw))
        place += width
    return values


def _value(code: int, raw: bytes) -> Any:
    if code >= 12:
        return raw
    if code in (0, 8, 9):
        return None if code == 0 else code - 8
    return struct.unpack(">d", raw)[0] if code == _REAL else int.from_bytes(raw, "big", signed=True)
