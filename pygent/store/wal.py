"""Reading SQLite's write-ahead log without SQLite, which drops all that follows a bad byte.

The format is published at sqlite.org/walformat.html: a header of 32 bytes, then frames, each with
24 bytes about it and one page. Checksums run on from frame to frame.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Frame", "damage_of", "frames", "log_of"]

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
_MASK = 0xFFFFFFFF
_PAGE = 4096


@dataclass(frozen=True, slots=True)
class Frame:
    """One page as some transaction left it: where it starts, and whether it is what was written.

    ``follows`` says that all frames up to this one are good too, ``commits`` that a transaction
    ends here.
    """

    page: int
    start: int
    commits: bool
    good: bool
    follows: bool


def log_of(path: Path) -> Path:
    """Return where the log of a database is, if it has one."""
    return path.with_name(path.name + "-wal")


def damage_of(path: Path) -> str | None:
    """Return what is wrong with a database's files that SQLite would not mention, if anything.

    A frame of the log that was cut short is no damage: its transaction was never acknowledged.
    Only for a database that this process has not opened: closing a file drops its locks.
    """
    found = frames(log_of(path))
    with path.open("rb") as file:
        head = file.read(100)
        size = file.seek(0, 2)
    if found and not size:
        return "the database is empty, and its log is not"
    bad = next((number for number, frame in enumerate(found) if not frame.follows), None)
    if bad is not None and any(frame.commits for frame in found[bad:]):
        return f"the log is damaged from page {bad + 1} of {len(found)} on"
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    if not found and size < pages * _PAGE:
        return f"the database is cut: {size} bytes are left of {pages * _PAGE}"
    return None


def frames(log: Path) -> list[Frame]:
    """Return the frames that belong to the log's present round, good or not."""
    try:
        data = log.read_bytes()
    except FileNotFoundError:
        return []
    size = _FRAME.size + _PAGE
    count = (len(data) - _HEADER.size) // size
    if count < 1:
        return []
    header = _HEADER.unpack_from(data)
    order = ">" if header[0] & 1 else "<"
    sums = _add(order, data[:24], (0, 0))
    follows = header[0] | 1 == _MAGIC | 1 and sums == header[6:] and header[2] == _PAGE
    heads = [_FRAME.unpack_from(data, _HEADER.size + size * i) for i in range(count)]
    salts = header[4:6] if follows else _salts(heads)
    last = max((i for i, head in enumerate(heads) if head[2:4] == salts), default=-1)
    found = []
    for number, head in enumerate(heads[: last + 1]):
        start = _HEADER.size + size * number
        page = data[start + _FRAME.size : start + size]
        sums = _add(order, page, _add(order, data[start : start + 8], sums))
        good = sums == head[4:] and head[2:4] == salts
        follows = follows and good
        found.append(Frame(head[0], start + _FRAME.size, head[1] > 0, good, follows))
        sums = head[4:]  # so that one bad frame does not condemn all after it
    return found


def _salts(heads: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the pair that most frames carry: the header does not say."""
    pairs = [head[2:4] for head in heads]
    return max(set(pairs), key=pairs.count)


def _add(order: str, data: bytes, sums: tuple[int, ...]) -> tuple[int, ...]:
    """Return the running checksum after some more bytes, a multiple of eight."""
    one, two = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for left, right in zip(words, words, strict=True):
        one = (one + left + two) & _MASK
        two = (two + right + one) & _MASK
    return one, two
