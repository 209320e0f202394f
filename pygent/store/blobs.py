"""Large texts as files that are named by what they hold."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import StoreError

__all__ = ["LARGE", "BlobFolder", "Moved", "move_out", "put_back"]

LARGE = 64 * 1024
"""A text of more bytes than this is kept beside its event, not in it."""

Moved = list[tuple[list[str | int], str, int]]
"""What was moved out of an event: the way to it, its SHA-256, its size in bytes."""


def digest_of(data: bytes) -> str:
    """Return the name of some bytes."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


class BlobFolder:
    """A folder of read-only files, ``ab/abcdef…``; each is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return where the bytes of that name are, or would be."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise StoreError(f"{digest!r} is no blob's name: that is a SHA-256 in hexadecimal")
        return self.folder / digest[:2] / digest

    def put(self, digest: str, data: bytes, *, sync: bool = False) -> None:
        """Write the bytes, unless they are there."""
        path = self.path(digest)
        with contextlib.suppress(OSError):
            if path.stat().st_size == len(data):
                if sync:
                    _sync(path)
                    _sync(path.parent)
                return
        try:
            for folder in (self.folder, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            _write(path, data, sync=sync)
        except OSError as error:
            raise StoreError(
                f"cannot write the blob {path}: {error.strerror}; nothing was recorded"
            ) from error

    def get(self, digest: str) -> bytes:
        """Return the bytes, after checking that they are still what they were."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"the blob {path} is missing") from None
        except OSError as error:
            raise StoreError(f"the blob {path} cannot be read: {error.strerror}") from error
        if digest_of(data) != digest:
            raise StoreError(f"the blob {path} is damaged: it is not what was written")
        return data

    def remove(self, digest: str) -> None:
        """Delete the bytes of that name, if they are there."""
        with contextlib.suppress(FileNotFoundError):
            self.path(digest).unlink()
        with contextlib.suppress(OSError):  # not empty
            self.path(digest).parent.rmdir()


def _write(path: Path, data: bytes, *, sync: bool) -> None:
    import tempfile

    number, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if sync:
        _sync(path.parent)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def move_out(event: Mapping[str, Any]) -> tuple[dict[str, Any], Moved, dict[str, bytes]]:
    """Return the event without its large texts, where those were, and their bytes by name."""
    moved: Moved = []
    found: dict[str, bytes] = {}

    def walk(value: Any, way: list[str | int]) -> Any:
        if isinstance(value, str):
            data = value.encode("utf-8", "surrogatepass") if len(value) * 4 > LARGE else b""
            if len(data) <= LARGE:
                return value
            digest = digest_of(data)
            found[digest] = data
            moved.append((way, digest, len(data)))
            return ""
        if isinstance(value, Mapping):
            return {key: walk(item, [*way, key]) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [walk(item, [*way, number]) for number, item in enumerate(value)]
        return value

    return {key: walk(value, [key]) for key, value in event.items()}, moved, found


def put_back(event: dict[str, Any], moved: Moved, folder: BlobFolder) -> Iterator[str]:
    """Set the large texts in the event again; yield what is lost, and leave a word in its place."""
    for way, digest, size in moved:
        try:
            text = folder.get(digest).decode("utf-8", "surrogatepass")
        except (StoreError, UnicodeDecodeError) as error:
            text = f"[{size} bytes of text are lost: {error}]"
            yield f"event {event.get('seq')}: {error}"
        holder: Any = event
        for step in way[:-1]:
            holder = holder[step]
        holder[way[-1]] = text
