"""What is in a workspace: one record for each file, directory or link."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from .beneath import Place

__all__ = ["Entry", "entry_of", "kind_of", "list_directory"]

_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, directory, link, fifo, socket or device; ``path`` is relative to the workspace.

    Bytes of a name that are not UTF-8 are in it as `os.fsdecode` puts them; `shown` makes it safe
    to print. ``inode`` is the device and the number that tell two entries apart.
    """

    path: str
    kind: str
    size: int
    mode: int
    modified: float
    inode: tuple[int, int]


def kind_of(mode: int) -> str:
    """Return the word for a file's type."""
    return next((word for is_kind, word in _KINDS if is_kind(mode)), "device")


def entry_of(path: str, info: os.stat_result) -> Entry:
    """Make the record of what is at a path."""
    mode = stat.S_IMODE(info.st_mode)
    inode = (info.st_dev, info.st_ino)
    return Entry(path, kind_of(info.st_mode), info.st_size, mode, info.st_mtime, inode)


def list_directory(place: Place, prefix: str) -> list[Entry]:
    """Return the entries of the directory at a place, sorted; what goes away meanwhile is left out."""
    fd = place.open(os.O_RDONLY | os.O_DIRECTORY)
    entries = []
    try:
        with os.scandir(fd) as found:
            for item in found:
                name = item.name if prefix == "." else f"{prefix}/{item.name}"
                try:
                    entries.append(entry_of(name, item.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue
    finally:
        os.close(fd)
    return sorted(entries, key=lambda entry: entry.path)
