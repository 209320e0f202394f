"""The `grep` and `glob` tools, over the files that the runtime sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...cancel import CancelScope
from ...errors import PathError, ToolError
from ..spec import Effect, Tool

__all__ = ["OFFERED", "find", "grep"]

MAX_LINES = 200
MAX_FILES = 500
MAX_BYTES = 2 * 1024 * 1024
MAX_WIDTH = 300
_SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"))


def grep(rt: Any, pattern: str, path: str = ".", glob: str | None = None) -> str:
    """Return the lines that match a regular expression, as ``file:line: text``."""
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise ToolError(f"pattern {pattern!r} is not a regular expression: {error}") from None
    named = None if glob is None else _glob_pattern(glob)
    found: list[str] = []
    for name in _files(rt, path):
        if named is None or named.fullmatch(name):
            found.extend(_matches(rt, name, wanted))
        if len(found) > MAX_LINES:
            found[MAX_LINES:] = [f"[more than {MAX_LINES} lines match: narrow the search]"]
            break
    return "\n".join(found) or f"no line matches {pattern!r}"


def find(rt: Any, pattern: str, path: str = ".") -> str:
    """Return the files whose path matches a pattern such as ``src/**/*.py``, one a line."""
    wanted = _glob_pattern(pattern)
    found: list[str] = []
    for name in _files(rt, path):
        if wanted.fullmatch(name):
            found.append(name)
        if len(found) > MAX_FILES:
            found[MAX_FILES:] = [f"[more than {MAX_FILES} files match: narrow the search]"]
            break
    return "\n".join(found) or f"no file matches {pattern!r}"


def _files(rt: Any, path: str) -> Iterator[str]:
    """Yield the paths of the regular files below a path; a file yields itself."""
    files, scope = rt.files, CancelScope.current()
    here = files.stat(path)
    if here is None:
        raise ToolError(f"{path} not found")
    if here.kind == "file":
        yield path
        return
    for entry in files.walk(path, enter=lambda e: e.path.rsplit("/", 1)[-1] not in _SKIPPED):
        scope.check()
        if entry.kind == "file":
            yield entry.path


def _matches(rt: Any, name: str, wanted: re.Pattern[str]) -> Iterator[str]:
    try:
        data = rt.files.read(name, limit=MAX_BYTES)
    except PathError:
        return  # gone since it was listed, or not ours to read
    if b"\0" in data[:8192]:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if wanted.search(line):
            yield f"{name}:{number}: {line[:MAX_WIDTH]}"


def _glob_pattern(pattern: str) -> re.Pattern[str]:
    """Return the expression for a glob; one without a slash matches in every directory."""
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern.removeprefix("./"))
    return re.compile("".join(map(_translated, parts)), re.DOTALL)


def _translated(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in known:
        return known[part]
    if part.startswith("[") and part.endswith("]"):
        inner = part[1:-1].replace("\\", "\\\\")
        return f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    return re.escape(part)


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": ["pattern"]}


_TEXT = {"type": "string"}

OFFERED = (
    Tool(
        name="grep",
        description="Find lines by regular expression, below path, in files that match glob.",
        parameters=_schema(pattern=_TEXT, path=_TEXT, glob=_TEXT),
        func=grep,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
    Tool(
        name="glob",
        description="Find files by pattern, such as src/**/*.py.",
        parameters=_schema(pattern=_TEXT, path=_TEXT),
        func=find,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
)
