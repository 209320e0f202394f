"""What a path may look like, and how it is refused."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

from ..errors import PathError

__all__ = ["NotFound", "PathLike", "plain_name", "refuse", "said", "shown"]

PathLike = str | os.PathLike[str]

_LONGEST_PATH = 4000
_LONGEST_NAME = 255
_REASONS = {
    errno.EXDEV: "it leaves the workspace",
    errno.ELOOP: "it goes through a link that may not be followed",
    errno.EISDIR: "it is a directory",
    errno.ENOTDIR: "a part of it is not a directory",
    errno.ENAMETOOLONG: "it is too long",
}


class NotFound(PathError):
    """There is nothing at that path."""


def plain_name(path: PathLike) -> bytes:
    """Return a path as the bytes that the system takes; nothing in it is expanded."""
    try:
        name = os.fsencode(path)
    except (TypeError, UnicodeEncodeError) as error:
        raise PathError(f"path {path!r} cannot be used: it is no file name") from error
    if not name or b"\0" in name:
        raise PathError(f"path {shown(name)!r} cannot be used: it is empty or holds a NUL")
    if len(name) > _LONGEST_PATH or any(len(part) > _LONGEST_NAME for part in name.split(b"/")):
        raise PathError(f"path {shown(name[:60])!r}… cannot be used: it is too long")
    return name


def refuse(path: PathLike, error: OSError) -> NoReturn:
    """Raise what a failed operation on a path means to the caller."""
    name = shown(path)
    if error.errno == errno.ENOENT:
        raise NotFound(f"file {name} not found") from error
    reason = _REASONS.get(error.errno or 0) or (error.strerror or str(error)).lower()
    raise PathError(f"path {name!r} cannot be used: {reason}") from error


def said(path: PathLike) -> str:
    """Return a path as it was said, with bytes that are no text replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def shown(path: PathLike | bytes) -> str:
    """Return a path as text that is safe to print: odd bytes and controls are escaped."""
    text = os.fsdecode(path)
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode()
