"""What `Runtime.read_file` returns: files of the workspace, and outputs that were too long."""

from __future__ import annotations

import os

from .files import Files, NotFound, PathLike
from .output import clean
from .outputs import Outputs
from .paths import said

__all__ = ["read_text"]

_PAGE = 30_000


def read_text(files: Files, outputs: Outputs, path: PathLike, *, binary: bool) -> str:
    """Return a file as text, or as base64 if asked for or if it is no text."""
    found = outputs.parse(os.fspath(path))
    if found is not None:
        name, offset = found
        if offset is not None:
            return _page(outputs, name, offset)
        data = outputs.read(name) or b""
        return _base64(data) if binary else clean(data)
    try:
        data = files.read(path)
    except NotFound:
        return f"file {said(path)} not found"
    if binary:
        return _base64(data)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _base64(data)


def _page(outputs: Outputs, name: str, offset: int) -> str:
    data = outputs.read(name, offset, _PAGE) or b""
    left = outputs.size(name) - offset - len(data)
    text = clean(data)
    if left <= 0:
        return text
    gap = "" if text.endswith("\n") else "\n"
    after = f"output:{name}@{offset + len(data)}"
    return f'{text}{gap}[… {left} bytes follow: read_file("{after}")]'


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()
