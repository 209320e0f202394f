"""The file behind a history: opened only if it is one, locked, read, replaced."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConfigError, StoreError

__all__ = ["locked", "open_regular", "read_all", "replace", "save_torn"]

_WAIT = 5.0
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: Path, *, create: bool) -> int | None:
    """Open a regular file to read and write, or return None where there is none to open.

    What is something else, or not ours to use, is a `ConfigError`; a pipe is not waited for.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        with contextlib.suppress(FileNotFoundError):
            _refuse(path, os.stat(path).st_mode)
        if create:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags |= os.O_CREAT
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        if not create:
            return None
        raise
    except OSError as error:
        raise ConfigError(
            f"cannot restore the history from {path}: {error.strerror}; name another file"
        ) from error
    try:
        _refuse(path, os.fstat(file).st_mode)
    except ConfigError:
        os.close(file)
        raise
    return file


def _refuse(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in _KINDS if test(mode)), "no file")
        raise ConfigError(
            f"cannot restore the history from {path}: it is {kind}; name a file of its own"
        )


@contextlib.contextmanager
def locked(file: int, path: Path) -> Iterator[None]:
    """Keep other processes that write histories away for the moment."""
    import fcntl

    deadline = time.monotonic() + _WAIT
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
                break  # a file system without locks
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                raise
            if time.monotonic() > deadline:
                raise StoreError(
                    f"another process keeps {path} locked: nothing was written, try again later"
                ) from None
            time.sleep(0.002)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # closed meanwhile, and the lock with it
            fcntl.flock(file, fcntl.LOCK_UN)


def read_all(file: int) -> bytes:
    """Return what the file holds."""
    pieces = []
    place = 0
    while piece := os.pread(file, 1 << 20, place):
        pieces.append(piece)
        place += len(piece)
    return b"".join(pieces)


def replace(path: Path, data: bytes, mode: int) -> int:
    """Put a new file in the place of the one at ``path``, or of what a link there names."""
    import tempfile

    target = os.path.realpath(path)
    file, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=os.path.dirname(target))
    try:
        os.fchmod(file, stat.S_IMODE(mode))
        _write_all(file, data)
        os.fsync(file)
        os.replace(temporary, target)
    except BaseException:
        os.close(file)
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return file


def save_torn(path: Path, data: bytes) -> Path:
    """Write bytes that would be lost to a new file beside the history, and return its path."""
    target = Path(os.path.realpath(path))
    for number in itertools.count(1):
        aside = target.with_name(f"{target.name}.torn-{number}")
        try:
            file = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            continue
        try:
            _write_all(file, data)
            os.fsync(file)
        finally:
            os.close(file)
        break
    return aside


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
