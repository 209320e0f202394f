"""Finding a path below a directory without ever leaving it, links included.

Every step is taken from an open directory, so that nobody can swap a folder for a link between
the check and the use. The kernel's ``openat2`` does it in one call; where it is missing, or says
that a link leads out, a walk over the components decides.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from types import TracebackType
from typing import Self

from .openat2 import openat2

__all__ = ["Place", "locate"]

_LINKS = 40
_DIRECTORY = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


class Place:
    """An entry of an open directory: ``info`` is None when there is nothing of that ``name``.

    The directory is closed with the ``with`` block. An entry named ``.`` is the directory itself.
    """

    __slots__ = ("directory", "info", "name")

    def __init__(self, directory: int, name: bytes, info: os.stat_result | None) -> None:
        self.directory = directory
        self.name = name
        self.info = info

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.directory)

    def open(self, flags: int, mode: int = 0) -> int:
        """Open the entry itself: a link that took its place meanwhile is refused."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self.name, flags, mode, dir_fd=self.directory)


def locate(
    root: int,
    path: bytes,
    *,
    top: bytes | None = None,
    create: bool = False,
    follow: bool = True,
    last: bool = True,
) -> Place:
    """Find a relative path below the open directory ``root``.

    Raises OSError, with ``EXDEV`` for a path or a link that leads out. ``top`` is the root's own
    absolute path: links to absolute names below it stay inside. ``create`` makes missing parents;
    nothing is made for a path that is refused. ``follow`` allows links in the middle, ``last``
    one at the end.
    """
    parent, _, name = path.rpartition(b"/")
    if name not in (b"", b".", b".."):
        directory = openat2(root, parent or b".", _DIRECTORY, links=follow)
        if directory is not None:
            info = _lstat(name, directory)
            if info is None or not stat.S_ISLNK(info.st_mode) or not (follow and last):
                return Place(directory, name, info)
            os.close(directory)
    return _Walk(root, top, create=create, follow=follow, last=last).to(path)


class _Walk:
    """The walk: a stack of open directories, from the root down to where it stands."""

    def __init__(
        self, root: int, top: bytes | None, *, create: bool, follow: bool, last: bool
    ) -> None:
        self._top = top
        self._create = create
        self._follow = follow
        self._last = last
        self._links = 0
        self._stack = [os.open(".", _DIRECTORY, dir_fd=root)]

    def to(self, path: bytes) -> Place:
        try:
            return self._to(deque(path.split(b"/")))
        finally:
            for directory in self._stack:
                os.close(directory)

    def _to(self, pending: deque[bytes]) -> Place:
        while pending:
            name = pending.popleft()
            if name == b"..":
                if len(self._stack) == 1:
                    raise _error(errno.EXDEV)
                os.close(self._stack.pop())
            elif name not in (b"", b"."):
                here = self._stack[-1]
                info = _lstat(name, here)
                at_end = not pending
                if info is not None and stat.S_ISLNK(info.st_mode):
                    if at_end and not (self._last and self._follow):
                        return Place(self._stack.pop(), name, info)
                    self._through(pending, os.readlink(name, dir_fd=here))
                elif at_end:
                    return Place(self._stack.pop(), name, info)
                else:
                    self._down(name, info, pending)
        here = self._stack.pop()
        return Place(here, b".", os.fstat(here))

    def _through(self, pending: deque[bytes], target: bytes) -> None:
        self._links += 1
        if self._links > _LINKS or not self._follow:
            raise _error(errno.ELOOP)
        if target.startswith(b"/"):
            target = self._below_top(target)
            while len(self._stack) > 1:
                os.close(self._stack.pop())
        pending.extendleft(reversed(target.split(b"/")))

    def _below_top(self, target: bytes) -> bytes:
        top = self._top
        if top is not None and (target == top or target.startswith(top.rstrip(b"/") + b"/")):
            return target[len(top) :].lstrip(b"/") or b"."
        raise _error(errno.EXDEV)

    def _down(self, name: bytes, info: os.stat_result | None, pending: deque[bytes]) -> None:
        here = self._stack[-1]
        if info is None:
            # Behind a folder that is not there, `..` has no meaning to trust.
            if not self._create or b".." in pending:
                raise _error(errno.ENOENT)
            if all(part in (b"", b".") for part in pending):
                raise _error(errno.EISDIR)
            try:
                os.mkdir(name, dir_fd=here)
            except FileExistsError:
                pass
        self._stack.append(os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=here))


def _lstat(name: bytes, directory: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
