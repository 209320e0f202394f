"""The snippets of the documents that the package grew from."""

from __future__ import annotations

import ast
import re
from pathlib import Path

KEPT = Path(__file__).parent / "seeds"
ORIGINALS = Path(__file__).parents[3] / "shared" / "seeds"

PLAIN = "000_1701edb92fe973f5.txt"
FENCED = "001_8412e4bfe0fd4a49.txt"
REFERENCE = "002_cbd146405762f9d3.txt"
ARCHITECTURE = "003_04570a5b69f3a377.txt"

NAMES = ("echo", "http", "bash", "global", "delegate", "combined")


def read(name: str) -> str:
    """Return one of the documents, as it is kept beside this file."""
    return (KEPT / name).read_text(encoding="utf-8")


def fenced(text: str) -> list[str]:
    """Return the Python blocks of a page in Markdown."""
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def unfenced(text: str) -> list[str]:
    """Return the code of a page that lost its markup: from an import on, as far as it parses."""
    lines, found, at = text.splitlines(keepends=True), [], 0
    while at < len(lines):
        end = _code_end(lines, at) if re.match(r"(import|from) \w", lines[at]) else at
        if end > at:
            found.append("".join(lines[at:end]).rstrip("\n") + "\n")
        at = max(end, at + 1)
    return found


def _code_end(lines: list[str], start: int) -> int:
    """Return the end of the longest run of lines that is a program."""
    end = start
    for stop in range(start + 1, len(lines) + 1):
        try:
            ast.parse("".join(lines[start:stop]))
        except SyntaxError:
            continue
        end = stop
    return end


SNIPPETS = dict(zip(NAMES, unfenced(read(PLAIN)), strict=True))
