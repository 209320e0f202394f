"""Each row of the table is a test of its own: under PYGENT_TEST_REQUIRE=all, lacking is failing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from . import installing
from .row import Lacking, Row, use
from .table import ROWS, lines, required

ROOT = Path(__file__).parents[2]
GHOST = """
from tests.requirements import table
from tests.requirements.row import Row, use

table.ROWS["ghost"] = Row("ghost", "to haunt", lambda: use("/dev/null/ghost"), ("ghost",))
pytest_plugins = ["tests.requirements.plugin"]
"""
HAUNTED = """
import pytest

@pytest.mark.needs("ghost")
def test_mark(): assert False

def test_fixture(needs): assert needs("ghost") and False
"""


@pytest.mark.parametrize(
    ("setting", "outcome"),
    [("", {"skipped": 2}), ("git", {"skipped": 2}), ("ghost", {"failed": 1, "errors": 1})],
)
def test_lacking_skips_or_fails_as_asked(pytester, monkeypatch, setting, outcome):
    """What is lacking is skipped and told at the end; what is required and lacking fails."""
    pytester.makeconftest(GHOST)
    pytester.makepyfile(HAUNTED)
    monkeypatch.setenv("PYGENT_TEST_REQUIRE", setting)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly")
    ran.assert_outcomes(**outcome)
    ran.stdout.fnmatch_lines(["*what this machine has*", "ghost *to haunt*apt-get install ghost*"])


@pytest.mark.parametrize("name", list(ROWS))
def test_the_machine_has(name, needs):
    """What a test needs is on this machine, and works."""
    assert not isinstance(needs(name), Lacking)


@pytest.mark.parametrize("name", list(ROWS))
def test_a_row_says_how_it_is_installed(name):
    """Whoever lacks something is told what it is for and how to get it."""
    assert ROWS[name].purpose
    assert ROWS[name].apt or ROWS[name].install


def test_all_requires_every_row():
    """`all` means every row; nothing means none; a list means what it names."""
    assert required("all") == frozenset(ROWS)
    assert required("") == frozenset()
    assert required("git, tmux") == {"git", "tmux"}


def test_an_unknown_name_is_refused():
    """A misspelt requirement must not pass as none."""
    with pytest.raises(ValueError, match=r"names gti: there are .*git"):
        required("gti")


def test_a_failing_probe_says_what_was_tried():
    """A row that is lacking names the command and what came of it."""
    row = Row(
        "ghost", "nothing", lambda: use("sh", "-c", "echo no such spirit; exit 3"), ("ghost",)
    )
    assert row.lacking == "sh ended with 3: no such spirit"
    assert row.how == "apt-get install ghost"


def test_the_table_counts_what_was_not_run(monkeypatch):
    """The table at the end of a run has a line for each row that is lacking."""
    row = Row("ghost", "to haunt", lambda: use(f"{os.devnull}/ghost"), ("ghost",))
    monkeypatch.setitem(ROWS, "ghost", row)
    (line,) = [line for line in lines({"ghost": 7}) if line.startswith("ghost")]
    assert line.split()[:2] == ["ghost", "7"]
    assert "apt-get install ghost" in line


APT = """#!/bin/sh
echo "$@" >>"$HOME/asked"
case "$1" in install) touch "$HOME/ghost" ;; esac
"""


def test_installing_brings_what_is_required_and_lacking(isolated, tmp_path, monkeypatch):
    """What is asked for and has a package is installed, and the row is there afterwards."""
    apt = tmp_path / "apt-get"
    apt.write_text(APT)
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    ghost = Row("ghost", "to haunt", lambda: use("ls", f"{isolated}/ghost"), ("ghost", "chain"))
    other = Row("other", "to wait", lambda: use("false"), ("unasked",))
    monkeypatch.setattr(installing, "ROWS", {"ghost": ghost, "other": other})
    assert ghost.lacking
    installing.install(frozenset({"ghost"}))
    assert (isolated / "asked").read_text().splitlines() == [
        "update -q",
        "install -q -y --no-install-recommends chain ghost",
    ]
    assert ghost.lacking is None


def test_an_ordinary_user_installs_nothing(monkeypatch, capsys):
    """Without root the system is left alone, and what would be installed is said."""
    ghost = Row("ghost", "to haunt", lambda: use("false"), ("ghost",))
    monkeypatch.setattr(installing, "ROWS", {"ghost": ghost})
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    installing.install(frozenset({"ghost"}))
    assert capsys.readouterr().out.startswith("not installed: ghost")
