"""The table at work in pytest: the mark, the fixture, and the table at the end of a run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import pytest

from .table import ROWS, lines, required

_SETTING = os.environ.get("PYGENT_TEST_REQUIRE", "")
_WORD = "lacking"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a setting that names no row."""
    try:
        required(_SETTING)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def _need(name: str) -> object:
    if name not in ROWS:
        pytest.fail(f"no row is called {name!r}: see tests/requirements/table.py", pytrace=False)
    row = ROWS[name]
    if row.lacking is None:
        return row.found
    if name in required(_SETTING):
        pytest.fail(f"{_WORD} {name}: {row.lacking}; install it: {row.how}", pytrace=False)
    pytest.skip(f"{_WORD} {name}: {row.lacking}")


@pytest.fixture(scope="session")
def needs() -> Callable[[str], object]:
    """Ask for a row by its name and get what its probe found; the test ends where it is lacking."""
    return _need


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Heed the mark `needs`."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            _need(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End the run with what this machine kept from being tried."""
    counts: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        words = reason.removeprefix("Skipped: ").split(":")[0].split()
        if len(words) > 1 and words[0] == _WORD:
            counts[words[1]] += 1
    terminalreporter.section("what this machine has of what the tests need")
    for line in lines(counts):
        terminalreporter.write_line(line)
