"""Help, and what a command line that makes no sense is told."""

from __future__ import annotations

import pytest

EVERY = [
    [],
    ["run"],
    ["demo"],
    ["version"],
    ["ui"],
    ["sessions"],
    ["sessions", "list"],
    ["sessions", "show"],
]


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_there_and_speaks_of_arguments_by_name(pygent, command, option):
    """Each command has help, in lines that fit a terminal, without the words of the option parser."""
    ran = pygent(*command, option)
    assert ran.returncode == 0
    assert ran.stdout.startswith(" ".join(["Usage: pygent", *command]))
    for odd in ("<str>", "[[", "{", "x>="):
        assert odd not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "--preset", "reviewer", "x"], "--preset stands before the command"),
        (["run", "-c", "file", "x"], "-c stands before the command"),
        (["run", "fix", "it"], "put the whole prompt in quotes"),
        (["fix the tests"], "no command is called 'fix the tests'"),
        (["fix the tests"], "pygent run"),
        (["run", "--max-steps", "0", "x"], "'0' is not a number from 1 on"),
        (["run", "--max-steps", "two", "x"], "'two' is not a number from 1 on"),
        (["run", "--max-time", "-1", "x"], "'-1' is not a number of seconds"),
        (["-w", "nowhere", "run", "x"], "'nowhere' is not a directory"),
        (["run", ""], "there is nothing to do"),
        (["sessions", "list", "-n", "0"], "'0' is not a number from 1 on"),
    ],
)
def test_what_was_wrong_is_told_with_the_way_out(pygent, arguments, told):
    """Exit code 2, and a line that says what to write instead."""
    ran = pygent(*arguments)
    assert ran.returncode == 2
    assert told in ran.stderr
    assert not list(pygent.folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--omit-tool", "Bash", "run", "x"], "--omit-tool Bash: no tool is called that"),
        (["--load", ".", "run", "x"], "no snapshot at "),
        (["--docker", "run", "x"], "--no-docker"),
    ],
)
def test_what_cannot_be_had_is_told_before_a_session_is_begun(pygent, serve, arguments, told):
    """Exit code 3, one line, and no empty session stays behind."""
    serve()
    ran = pygent(*arguments)
    assert ran.returncode == 3
    assert told in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert pygent("sessions", "list").stdout == ""
