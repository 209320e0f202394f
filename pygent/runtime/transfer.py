"""Copying files and directories into and out of a workspace.

Links are copied as links, never what they point to, so that a copy ends and takes nothing along
that was not named. Fifos, sockets and devices are left out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import Protocol

from ..errors import PathError
from .beneath import Place
from .entries import Entry
from .opening import open_regular, replacing, require_file, temporary_name
from .paths import NotFound, PathLike, refuse, shown

__all__ = ["Rooted", "copy_in", "copy_out"]

_PIECE = 1 << 20


class Rooted(Protocol):
    """A tree of files that a copy reads from or writes to."""

    def place(self, path: PathLike, *, create: bool = False, last: bool = True) -> Place:
        """Find a path."""

    def stat(self, path: PathLike) -> Entry | None:
        """Say what is at a path."""

    def walk(
        self,
        path: PathLike = ".",
        enter: Callable[[Entry], bool] | None = None,
        *,
        strict: bool = False,
    ) -> Iterator[Entry]:
        """Yield what is below a path."""

    def mkdir(self, path: PathLike) -> None:
        """Make a directory."""


def copy_in(
    rooted: Callable[[str], Rooted], source: PathLike, files: Rooted, path: PathLike
) -> str:
    """Copy what the user named on this machine to a path of the workspace; returns where it is."""
    real = os.path.realpath(source)
    if not os.path.lexists(real):
        raise NotFound(f"file {shown(source)} not found")
    if os.path.isdir(real):
        _copy_tree(rooted(real), ".", files, path)
        return os.fspath(path)
    parent, name = os.path.split(real)
    there = files.stat(path)
    if there is not None and there.kind == "directory":
        path = os.path.join(path, os.path.basename(source))
    _copy_file(rooted(parent), name, files, path)
    return os.fspath(path)


def copy_out(
    rooted: Callable[[str], Rooted], files: Rooted, path: PathLike, target: PathLike
) -> None:
    """Copy something of the workspace to where the user wants it on this machine.

    A link at the target is replaced, what it points to is left alone.
    """
    found = files.stat(path)
    if found is None:
        raise NotFound(f"file {shown(path)} not found")
    goal = os.path.abspath(target)
    into = os.path.isdir(goal)
    if into and os.path.islink(goal):
        raise PathError(f"path {shown(goal)!r} is a link to a directory: name the directory itself")
    try:
        if found.kind == "directory":
            os.makedirs(goal, exist_ok=True)
            _copy_tree(files, path, rooted(goal), ".")
            return
        parent, name = (goal, os.path.basename(found.path)) if into else os.path.split(goal)
        os.makedirs(parent, exist_ok=True)
        _copy_file(files, path, rooted(parent), name)
    except OSError as error:
        refuse(target, error)


def _copy_tree(source: Rooted, path: PathLike, target: Rooted, goal: PathLike) -> None:
    target.mkdir(goal)
    made = target.stat(goal)
    start = source.stat(path)
    assert made is not None
    assert start is not None
    # A directory that is copied into itself would never end.
    skipped = {made.inode}

    def enter(entry: Entry) -> bool:
        return entry.inode not in skipped

    for entry in source.walk(path, enter, strict=True):
        name = os.path.join(goal, os.path.relpath(entry.path, start.path))
        if entry.kind == "directory" and enter(entry):
            target.mkdir(name)
        elif entry.kind == "link":
            _copy_link(source, entry.path, target, name)
        elif entry.kind == "file":
            _copy_file(source, entry.path, target, name)


def _copy_file(source: Rooted, path: PathLike, target: Rooted, goal: PathLike) -> None:
    with (
        source.place(path) as here,
        open(open_regular(here, path), "rb", buffering=0) as file,
        target.place(goal, create=True) as there,
    ):
        if there.info is not None and not stat.S_ISLNK(there.info.st_mode):
            require_file(there.info, goal)
        try:
            with replacing(there, stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o777) as copy:
                while piece := file.read(_PIECE):
                    copy.write(piece)
        except OSError as error:
            refuse(goal, error)


def _copy_link(source: Rooted, path: PathLike, target: Rooted, goal: PathLike) -> None:
    with (
        source.place(path, last=False) as here,
        target.place(goal, create=True, last=False) as there,
    ):
        name = temporary_name()
        try:
            os.symlink(os.readlink(here.name, dir_fd=here.directory), name, dir_fd=there.directory)
            try:
                os.replace(name, there.name, src_dir_fd=there.directory, dst_dir_fd=there.directory)
            except OSError:
                os.unlink(name, dir_fd=there.directory)
                raise
        except OSError as error:
            refuse(goal, error)
