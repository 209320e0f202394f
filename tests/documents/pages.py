"""Running the documents: Python blocks in order, and what they and the commands show."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from sybil import Document, Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, SkipParser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# The record of how the documentation tool was chosen has nothing to run, and is not ours to read.
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])

_SHOWN = "what the blocks printed"


def pattern(expected: str) -> str:
    """Return the expression for a text in which ``…`` stands for anything within a line.

    A line that is ``…`` alone stands for any lines.
    """
    lines = []
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append("[^\n]*".join(map(re.escape, line.split("…"))) + r"[ \t]*\n")
    return "".join(lines)


def assert_shows(actual: str, expected: str) -> None:
    """Fail unless a text is as the document shows it."""
    found = actual.strip("\n") + "\n"
    if not re.fullmatch(pattern(expected), found):
        raise AssertionError(f"the document shows\n{expected.strip()}\n\nand it is\n{found}")


def _run_python(example: Example) -> None:
    """Run a block in the page's namespace, and keep what it prints."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        PythonEvaluator()(example)
    example.namespace[_SHOWN] = example.namespace.get(_SHOWN, "") + shown.getvalue()


def _check_output(example: Example) -> None:
    """Compare what was printed since the last such block."""
    assert_shows(example.namespace.pop(_SHOWN, ""), str(example.parsed))


def _run_console(example: Example) -> None:
    """Run the commands of a block, and compare what each of them shows."""
    for part in re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        assert_shows(run_command(command), expected)


def run_command(command: str) -> str:
    """Run a line of shell in which ``pygent`` is this clone's; return all that it prints."""
    function = f'pygent() {{ {shlex.quote(sys.executable)} -m pygent "$@"; }}\n'
    ran = subprocess.run(
        ["/bin/bash", "-c", function + command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.stdout


SYBIL = Sybil(
    parsers=[
        CodeBlockParser("python", _run_python),
        CodeBlockParser("output", _check_output),
        CodeBlockParser("console", _run_console),
        SkipParser(),
    ],
    filenames=["*.md"],
)


def run_page(page: Path, namespace: dict[str, Any]) -> None:
    """Run a page from top to bottom, in one namespace."""
    document: Document = SYBIL.parse(page)
    document.namespace.update(namespace)
    for example in document.examples():
        example.evaluate()
