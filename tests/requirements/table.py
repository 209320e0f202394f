"""The table itself: to add a row, write its probe in `probes.py` and declare it here."""

from __future__ import annotations

from functools import partial

from . import probes
from .row import Row

ROWS = {
    row.name: row
    for row in (
        Row(
            "python3.12",
            "the package imports and runs on it",
            partial(probes.python, "3.12"),
            install="any Python 3.12: on PATH, or pyenv install 3.12",
        ),
        Row(
            "python3.13",
            "the package imports and runs on it",
            partial(probes.python, "3.13"),
            install="any Python 3.13: on PATH, or pyenv install 3.13",
        ),
        Row("git", "tests that look at a working tree", probes.git, apt=("git",)),
        Row("tmux", "the command line in a real terminal", probes.tmux, apt=("tmux",)),
        Row(
            "ordinary_user",
            "what root may do proves nothing about rights",
            probes.ordinary_user,
            apt=("util-linux",),
        ),
        Row(
            "private_mounts",
            "a full disk, and one that may only be read",
            probes.private_mounts,
            apt=("util-linux",),
            install="util-linux, and user namespaces allowed",
        ),
    )
}


def required(setting: str) -> frozenset[str]:
    """Return the names that `PYGENT_TEST_REQUIRE` asks for: `all`, or a list with commas."""
    asked = frozenset(part.strip() for part in setting.split(",") if part.strip())
    if "all" in asked:
        return frozenset(ROWS)
    if unknown := asked - frozenset(ROWS):
        raise ValueError(
            f"PYGENT_TEST_REQUIRE names {', '.join(sorted(unknown))}: "
            f"there are {', '.join(ROWS)}, and all"
        )
    return asked


def lines(not_run: dict[str, int]) -> list[str]:
    """Draw the table of what is lacking, with how many tests each row kept from running."""
    lacking = [row for row in ROWS.values() if row.lacking]
    there = [row.name for row in ROWS.values() if not row.lacking]
    drawn = [f"there: {', '.join(there) or 'nothing'}"]
    if not lacking:
        return [*drawn, "lacking: nothing"]
    heads = ("lacking", "not run", "what for", "how to install it", "what was tried")
    cells = [
        (row.name, str(not_run.get(row.name, 0)), row.purpose, row.how, row.lacking or "")
        for row in lacking
    ]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    drawn += [
        "  ".join(cell.ljust(width) for cell, width in zip(cells_of, widths, strict=True)).rstrip()
        for cells_of in (heads, *cells)
    ]
    return drawn
