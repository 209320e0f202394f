"""Opening and replacing what was found at a place, and nothing but regular files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import PathError
from .beneath import Place
from .entries import kind_of
from .paths import PathLike, refuse, shown

__all__ = ["open_regular", "replacing", "require_file", "temporary_name"]


def require_file(info: os.stat_result | None, path: PathLike) -> os.stat_result:
    """Return ``info`` if it is a regular file's; a fifo or a device would hang or do worse."""
    if info is None:
        refuse(path, FileNotFoundError(errno.ENOENT, "not found"))
    if not stat.S_ISREG(info.st_mode):
        kind = kind_of(info.st_mode)
        raise PathError(f"path {shown(path)!r} cannot be used: it is a {kind}, not a file")
    return info


def open_regular(place: Place, path: PathLike) -> int:
    """Open the regular file at a place for reading; never waits."""
    require_file(place.info, path)
    try:
        fd = place.open(os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        refuse(path, error)
    try:
        require_file(os.fstat(fd), path)
    except PathError:
        os.close(fd)
        raise
    return fd


def temporary_name() -> bytes:
    """Return a name for a file that is about to take another one's place."""
    return b".pygent-" + os.urandom(6).hex().encode() + b".tmp"


@contextmanager
def replacing(place: Place, mode: int | None = None) -> Generator[BinaryIO]:
    """Give a new file that takes the place's name once it is whole.

    Who reads the old file meanwhile has all of the old one. ``mode`` is the new file's; without,
    an existing file's is kept. A file that may not be written is not replaced either.
    """
    old = place.info if place.info is not None and stat.S_ISREG(place.info.st_mode) else None
    if old is not None and not os.access(place.name, os.W_OK, dir_fd=place.directory):
        raise PermissionError(errno.EACCES, "permission denied")
    name = temporary_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o666, dir_fd=place.directory)
    try:
        with open(fd, "wb") as file:
            yield file
            file.flush()
            if old is not None and (old.st_uid, old.st_gid) != _owner(fd):
                _keep_owner(fd, old)
            if mode is not None or old is not None:
                os.fchmod(fd, mode if mode is not None else old.st_mode & 0o777 if old else 0)
        os.replace(name, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory)
    except BaseException:
        os.unlink(name, dir_fd=place.directory)
        raise


def _owner(fd: int) -> tuple[int, int]:
    info = os.fstat(fd)
    return info.st_uid, info.st_gid


def _keep_owner(fd: int, old: os.stat_result) -> None:
    try:
        os.fchown(fd, old.st_uid, old.st_gid)
    except PermissionError:
        # Only root may give a file away; the writer's own is what is left.
        pass
