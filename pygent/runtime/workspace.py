"""The folder that a runtime works in: named by the user and kept, or made up and deleted."""

from __future__ import annotations

import os
import stat
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path

from ..config.environment import names, text
from ..errors import ConfigError, SandboxError
from .files import NotFound, PathLike, WorkspaceFiles, shown
from .wording import check_list

__all__ = ["Workspace"]


class Workspace:
    """A folder that is made when it is first needed, with the initial files in it."""

    def __init__(
        self,
        path: PathLike | None,
        initial_files: Iterable[PathLike] | None,
        *,
        made_up: bool = False,
    ) -> None:
        if path == "":  # as a variable that is not set gives; the current folder is "."
            raise ConfigError("workspace is '': give the path of a folder, or None")
        named = path if path is not None or made_up else text("PYGENT_WORKSPACE")
        self.persistent = named is not None
        self._named = None if named is None else Path(os.path.abspath(os.path.expanduser(named)))
        self._initial = list(check_list("initial_files", initial_files))
        self._from_setting = initial_files is None
        if self._from_setting:
            self._initial = list(names("PYGENT_INIT_FILES"))
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._inode: tuple[int, int] | None = None

    @property
    def folder(self) -> Path:
        """Where it is; reading this makes it."""
        with self._lock:
            if self._folder is None:
                self._folder = self._make()
            return self._folder

    def remove(self) -> None:
        """Delete the folder if it was made up here, and is still the same one."""
        with self._lock:
            folder, self._folder = self._folder, None
            if folder is None or self.persistent:
                return
            try:
                info = os.lstat(folder)
            except FileNotFoundError:
                return
            if (info.st_dev, info.st_ino) == self._inode and stat.S_ISDIR(info.st_mode):
                _remove_tree(folder)

    def _make(self) -> Path:
        import tempfile

        missing = [s for s in self._initial if not os.path.exists(os.path.expanduser(s))]
        if missing and not self._from_setting:
            raise NotFound(f"initial file {shown(missing[0])} not found")
        for source in missing:
            # A setting outlives the folder it was made in: it must not stop all other work.
            self._initial.remove(source)
            text = f"PYGENT_INIT_FILES names {shown(source)}, which is not there: it is left out"
            warnings.warn(text, stacklevel=2)
        if self._named is None:
            folder = Path(tempfile.mkdtemp(prefix="pygent-"))
        else:
            folder = self._named
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                reason = (error.strerror or "it cannot be made").lower()
                raise SandboxError(f"workspace {folder} cannot be used: {reason}") from error
        info = os.stat(folder)
        self._inode = (info.st_dev, info.st_ino)
        self._fill(folder)
        return folder

    def _fill(self, folder: Path) -> None:
        files = WorkspaceFiles(folder)
        try:
            for source in self._initial:
                real = os.path.abspath(os.path.expanduser(source))
                files.copy_in(real, os.path.basename(real))
        finally:
            files.close()


def _remove_tree(folder: Path) -> None:
    import shutil
    import subprocess

    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        # Deeper than Python follows; rm does not mind.
        pass
    if os.path.lexists(folder):
        null = subprocess.DEVNULL
        for argv in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run(
                [*argv, "--", str(folder)], check=False, stdin=null, stdout=null, stderr=null
            )
