"""The workspace's files: one path policy for everything that touches them from outside."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from ..errors import PathError, SandboxError
from .beneath import Place, locate
from .entries import Entry, entry_of, list_directory
from .opening import open_regular, replacing, require_file
from .paths import NotFound, PathLike, plain_name, refuse, shown
from .transfer import copy_in, copy_out

__all__ = ["Entry", "Files", "NotFound", "PathLike", "WorkspaceFiles", "shown"]


class Files(Protocol):
    """What tools may do with a workspace, wherever it is. Paths are relative to it."""

    @property
    def root(self) -> Path:
        """The workspace's own absolute path."""

    def read(self, path: PathLike, offset: int = 0, limit: int | None = None) -> bytes:
        """Return the bytes of a regular file; `NotFound` when there is none."""

    def write(self, path: PathLike, data: bytes) -> str:
        """Create or replace a file in one step; returns its path in the workspace."""

    def stat(self, path: PathLike) -> Entry | None:
        """Say what is at a path, inside links followed; None when nothing is."""

    def list(self, path: PathLike = ".") -> list[Entry]:
        """Return a directory's entries, sorted by name."""

    def walk(
        self,
        path: PathLike = ".",
        enter: Callable[[Entry], bool] | None = None,
        *,
        strict: bool = False,
    ) -> Iterator[Entry]:
        """Yield everything below a directory; ``enter`` decides which directories to look into."""

    def mkdir(self, path: PathLike) -> None:
        """Make a directory and its parents; one that is there is fine."""

    def remove(self, path: PathLike) -> None:
        """Remove a file or a link, not what it points to."""

    def copy_in(self, source: PathLike, path: PathLike) -> str:
        """Copy a file or directory of this machine into the workspace; returns where it is."""

    def copy_out(self, path: PathLike, target: PathLike) -> None:
        """Copy a file or directory of the workspace to this machine."""

    def close(self) -> None:
        """Let go of the workspace; safe to call twice."""


class WorkspaceFiles:
    """The files below a directory of this machine; see `Files`.

    The directory is opened once. When another one takes its place, or it is deleted, everything
    fails with "workspace is gone". ``follow=False`` follows no link at all.
    """

    def __init__(self, root: PathLike, *, follow: bool = True) -> None:
        self._root = Path(os.path.abspath(root))
        self._follow = follow
        self._fd: int | None = None
        self._top = b""
        self._lock = threading.Lock()

    def __del__(self) -> None:
        if getattr(self, "_fd", None) is not None:
            self.close()

    @property
    def root(self) -> Path:
        """The workspace's own absolute path."""
        return self._root

    def close(self) -> None:
        """Let go of the workspace; safe to call twice."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def open_root(self) -> int:
        """Return the open workspace, after a look at whether it is still the same one."""
        try:
            with self._lock:
                if self._fd is None:
                    self._fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                    self._top = os.fsencode(os.path.realpath(self.root))
                    return self._fd
            if os.path.samestat(os.stat(self.root), os.fstat(self._fd)):
                return self._fd
        except OSError as error:
            raise SandboxError(f"workspace is gone: {self.root}: {error.strerror}") from error
        raise SandboxError(f"workspace is gone: {self.root} is another directory now")

    def relative(self, path: PathLike) -> bytes:
        """Return a path relative to the workspace, if its text alone does not rule it out."""
        name = plain_name(path)
        if not name.startswith(b"/"):
            return name
        for top in (os.fsencode(self.root), self._top):
            if top and (name == top or name.startswith(top.rstrip(b"/") + b"/")):
                return name[len(top) :].lstrip(b"/") or b"."
        raise PathError(f"path {shown(name)!r} is outside of the workspace {self.root}")

    def place(self, path: PathLike, *, create: bool = False, last: bool = True) -> Place:
        """Find a path by the policy, or raise `PathError`; ``with`` closes what it returns."""
        root = self.open_root()
        name = self.relative(path)
        try:
            return locate(root, name, top=self._top, create=create, follow=self._follow, last=last)
        except OSError as error:
            refuse(path, error)

    def read(self, path: PathLike, offset: int = 0, limit: int | None = None) -> bytes:
        """Return the bytes of a regular file; `NotFound` when there is none."""
        with self.place(path) as place, open(open_regular(place, path), "rb") as file:
            file.seek(offset)
            return file.read(-1 if limit is None else limit)

    def write(self, path: PathLike, data: bytes) -> str:
        """Create or replace a file in one step; returns its path in the workspace."""
        with self.place(path, create=True) as place:
            if place.info is not None:
                require_file(place.info, path)
            try:
                with replacing(place) as file:
                    file.write(data)
            except OSError as error:
                refuse(path, error)
        return shown(self._normal(path))

    def stat(self, path: PathLike) -> Entry | None:
        """Say what is at a path, inside links followed; None when nothing is."""
        try:
            with self.place(path) as place:
                return None if place.info is None else entry_of(self._normal(path), place.info)
        except NotFound:
            return None

    def list(self, path: PathLike = ".") -> list[Entry]:
        """Return a directory's entries, sorted by name."""
        with self.place(path) as place:
            try:
                return list_directory(place, self._normal(path))
            except OSError as error:
                refuse(path, error)

    def walk(
        self,
        path: PathLike = ".",
        enter: Callable[[Entry], bool] | None = None,
        *,
        strict: bool = False,
    ) -> Iterator[Entry]:
        """Yield everything below a directory; ``enter`` decides which directories to look into.

        Links are yielded and not followed, so that it ends. A directory that cannot be listed
        counts as empty, unless ``strict``.
        """
        waiting = [iter(self.list(path))]
        while waiting:
            entry = next(waiting[-1], None)
            if entry is None:
                waiting.pop()
                continue
            yield entry
            if entry.kind == "directory" and (enter is None or enter(entry)):
                try:
                    waiting.append(iter(self.list(entry.path)))
                except PathError:
                    if strict:
                        raise

    def mkdir(self, path: PathLike) -> None:
        """Make a directory and its parents; one that is there is fine."""
        plain = os.fspath(path).rstrip("/") or path
        with self.place(plain, create=True) as place:
            try:
                if place.info is None:
                    os.mkdir(place.name, dir_fd=place.directory)
                elif not stat.S_ISDIR(place.info.st_mode):
                    raise PathError(f"path {shown(path)!r} is there and is not a directory")
            except FileExistsError:
                pass
            except OSError as error:
                refuse(path, error)

    def remove(self, path: PathLike) -> None:
        """Remove a file or a link, not what it points to."""
        with self.place(path, last=False) as place:
            try:
                os.unlink(place.name, dir_fd=place.directory)
            except OSError as error:
                refuse(path, error)

    def copy_in(self, source: PathLike, path: PathLike) -> str:
        """Copy a file or directory of this machine into the workspace; returns where it is."""
        return shown(self._normal(copy_in(WorkspaceFiles, source, self, path)))

    def copy_out(self, path: PathLike, target: PathLike) -> None:
        """Copy a file or directory of the workspace to this machine."""
        copy_out(lambda root: WorkspaceFiles(root, follow=False), self, path, target)

    def _normal(self, path: PathLike) -> str:
        return os.path.normpath(os.fsdecode(self.relative(path)))
