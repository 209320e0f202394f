"""The tools that read and write files."""

from __future__ import annotations

import base64
import re
from typing import Any

from ...errors import ToolError
from ..spec import Effect, Tool

__all__ = [
    "ACCEPTED",
    "OFFERED",
    "download_file",
    "edit_file",
    "read_file",
    "upload_file",
    "write_file",
]

LIMIT = 50_000
"""How many characters of a file one call shows; the rest is read by line numbers."""

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


def read_file(rt: Any, path: str, start: int | None = None, end: int | None = None) -> str:
    """Return a file's text, or lines ``start`` to ``end`` of it, counted from 1."""
    text = str(rt.read_file(path))
    if text == f"file {path} not found":
        return text
    lines = _LINES.findall(text)
    first = max(1, start or 1)
    last = min(len(lines), end or len(lines))
    if first > max(1, len(lines)) or last < first <= len(lines):
        raise ToolError(f"{path} has {len(lines)} lines, there are none from {start} to {end}")
    chosen, shown = lines[first - 1 : last], 0
    for index, line in enumerate(chosen):
        shown += len(line)
        if shown > LIMIT:
            return _cut(
                path, "".join(chosen[:index]) or line[:LIMIT], first, first + index, len(lines)
            )
    if first > 1 or last < len(lines):
        return f"[lines {first}-{last} of {len(lines)}]\n{''.join(chosen)}"
    return text


def _cut(path: str, text: str, first: int, line: int, total: int) -> str:
    """Return the part that fits, and how to read on."""
    line = max(line, first + 1)
    return (
        f"[lines {first}-{line - 1} of {total}]\n{text}"
        f"\n[cut here; go on with read_file(path={path!r}, start={line})]"
    )


def write_file(rt: Any, path: str, content: str) -> str:
    """Create or replace a file."""
    return str(rt.write_file(path, content))


def edit_file(rt: Any, path: str, old: str, new: str, replace_all: bool = False) -> str:
    """Replace ``old`` in a file by ``new``; it must be there exactly once, unless all are meant."""
    if not old:
        raise ToolError("'old' is empty: give the text to replace, or use write_file")
    encoded = rt.read_file(path, binary=True)
    if encoded == f"file {path} not found":
        raise ToolError(f"file {path} not found")
    data = base64.b64decode(encoded)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not UTF-8 text: change it with a command") from None
    found = text.count(old)
    if not found:
        raise ToolError(f"'old' is not in {path}: read it again and copy the text exactly")
    if found > 1 and not replace_all:
        raise ToolError(
            f"'old' is {found} times in {path}: add lines around it until it is there once, "
            "or set replace_all"
        )
    rt.write_file(path, text.replace(old, new))
    return f"Replaced {found} place{'s' if found > 1 else ''} in {path}"


def download_file(rt: Any, path: str, binary: bool = False) -> str:
    """Return a file of the workspace, whole; as base64 if ``binary``."""
    return str(rt.read_file(path, binary=binary))


def upload_file(rt: Any, src: str, dest: str | None = None) -> str:
    """Copy a file of this machine into the workspace: for users, never for models."""
    return str(rt.upload_file(src, dest))


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


_TEXT = {"type": "string"}
_LINE = {"type": "integer"}

OFFERED = (
    Tool(
        name="read_file",
        description="Read a file, or its lines start to end.",
        parameters=_schema(["path"], path=_TEXT, start=_LINE, end=_LINE),
        func=read_file,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
    Tool(
        name="write_file",
        description="Create or replace a file.",
        parameters=_schema(["path", "content"], path=_TEXT, content=_TEXT),
        func=write_file,
        effect=Effect.RECONCILABLE,
        honours_cancel=True,
    ),
    Tool(
        name="edit_file",
        description="Replace the exact text old by new in a file; old must be unique.",
        parameters=_schema(
            ["path", "old", "new"],
            path=_TEXT,
            old=_TEXT,
            new=_TEXT,
            replace_all={"type": "boolean"},
        ),
        func=edit_file,
        effect=Effect.RECONCILABLE,
        honours_cancel=True,
    ),
)

ACCEPTED = (
    Tool(
        name="download_file",
        description="Return a whole file of the workspace; as base64 if binary.",
        parameters=_schema(["path"], path=_TEXT, binary={"type": "boolean"}),
        func=download_file,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
)
