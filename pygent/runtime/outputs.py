"""Where the whole of a long output is kept, outside the workspace, until the runtime ends."""

from __future__ import annotations

import os
import re
from typing import BinaryIO

__all__ = ["Outputs"]

_NAME = re.compile(r"output:([0-9a-f]{6})(?:@([0-9]{1,15}))?")
_KEPT = 256 << 20


class Outputs:
    """A private temporary folder of outputs; it is made with the first of them.

    The oldest are deleted when all together are larger than 256 MiB.
    """

    def __init__(self) -> None:
        self._folder: str | None = None
        self._names: list[str] = []

    def create(self) -> tuple[str, BinaryIO]:
        """Open a new output; returns its name and the file to write to."""
        folder = self._folder or self._make()
        self._prune(folder)
        name = os.urandom(3).hex()
        file = open(os.path.join(folder, name), "xb")  # noqa: SIM115 - the caller closes it
        self._names.append(name)
        return name, file

    def parse(self, path: str) -> tuple[str, int | None] | None:
        """Split ``output:NAME`` or ``output:NAME@OFFSET``; None for anything that is not here."""
        match = _NAME.fullmatch(path)
        if match is None or match[1] not in self._names:
            return None
        return match[1], None if match[2] is None else int(match[2])

    def read(self, name: str, offset: int = 0, limit: int = -1) -> bytes | None:
        """Return bytes of an output; None when it is no longer there."""
        try:
            with open(os.path.join(self._folder or "", name), "rb") as file:
                file.seek(offset)
                return file.read(limit)
        except FileNotFoundError:
            return None

    def size(self, name: str) -> int:
        """Return how many bytes of an output are kept."""
        return os.path.getsize(os.path.join(self._folder or "", name))

    def close(self) -> None:
        """Delete all of them; safe to call twice."""
        if self._folder is not None:
            self._finalizer()
            self._folder = None
            self._names = []

    def _make(self) -> str:
        import shutil
        import tempfile
        import weakref

        self._folder = tempfile.mkdtemp(prefix="pygent-output-")
        # Also at exit: nobody is made to call cleanup().
        self._finalizer = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _prune(self, folder: str) -> None:
        sizes = {name: os.path.getsize(os.path.join(folder, name)) for name in self._names}
        while self._names and sum(sizes.values()) > _KEPT:
            oldest = self._names.pop(0)
            sizes.pop(oldest)
            os.unlink(os.path.join(folder, oldest))
