"""The kernel's own way to open something below a directory (Linux 5.6 and later)."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable

__all__ = ["openat2"]

_NUMBER = 437  # the same on every architecture
_NO_MAGICLINKS = 0x02
_NO_SYMLINKS = 0x04
_BENEATH = 0x08


def openat2(directory: int, path: bytes, flags: int, *, links: bool) -> int | None:
    """Open ``path`` strictly below ``directory``; None when the caller has to look for itself.

    That is so when the path leaves the directory, is not there, or the kernel cannot do it.
    """
    call = _load()
    if call is None:
        return None
    resolve = _BENEATH | _NO_MAGICLINKS | (0 if links else _NO_SYMLINKS)
    return call(directory, path, flags, resolve)


@functools.cache
def _load() -> Callable[[int, bytes, int, int], int | None] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    how_type = ctypes.c_uint64 * 3

    def call(directory: int, path: bytes, flags: int, resolve: int) -> int | None:
        how = how_type(flags, 0, resolve)
        found = syscall(
            ctypes.c_long(_NUMBER),
            ctypes.c_int(directory),
            ctypes.c_char_p(path),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        return int(found) if found >= 0 else None

    probe = call(-100, b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, _BENEATH)
    if probe is None and ctypes.get_errno() in (errno.ENOSYS, errno.EPERM, errno.EINVAL):
        return None
    if probe is not None:
        os.close(probe)
    return call
