"""The sandbox for users' tests: scripted, and strict about its script."""

from __future__ import annotations

import re

import pytest

from pygent.runtime import CommandResult, Runtime
from pygent.testing.sandbox import FakeSandbox


def test_script():
    """Commands get the results in order, files are real, and nothing runs."""
    sandbox = FakeSandbox(
        [
            ("pytest -q", CommandResult(output="1 failed", exit_code=1)),
            (re.compile("git .*"), "clean\n"),
            "anything\n",
        ]
    )
    pieces: list[str] = []
    with Runtime(sandbox=sandbox) as rt:
        assert rt.bash("pytest -q", stream=pieces.append) == "$ pytest -q\n1 failed\n[exit code 1]"
        assert rt.bash("git status") == "$ git status\nclean\n"
        assert rt.bash("touch x") == "$ touch x\nanything\n"
        assert rt.files.stat("x") is None
        rt.write_file("x", "y")
        assert rt.read_file("x") == "y"
        folder = rt.base_dir
        assert rt.choice.tier == "fake"
    assert not folder.exists()
    assert "".join(pieces) == "$ pytest -q\n1 failed\n[exit code 1]\n"
    assert sandbox.commands == ["pytest -q", "git status", "touch x"]


def test_unexpected_command_fails_twice():
    """A command that is not next fails there, and at the end for whoever swallowed it."""
    for script in ([], [("ls", "")]):
        rt = Runtime(sandbox=FakeSandbox(script))
        with pytest.raises(AssertionError, match="unexpected command 'pwd'"):
            rt.bash("pwd")
        with pytest.raises(AssertionError, match="unexpected command 'pwd'"):
            rt.cleanup()
        rt.cleanup()


def test_unused_result_fails():
    """A result that nobody asked for fails at the end."""
    rt = Runtime(sandbox=FakeSandbox(["never"]))
    with pytest.raises(AssertionError, match="unused results: \\['never'\\]"):
        rt.cleanup()


def test_own_folder(tmp_path):
    """A folder that the test gave is kept."""
    with Runtime(sandbox=FakeSandbox(workspace=tmp_path)) as rt:
        rt.write_file("x", "y")
    assert (tmp_path / "x").read_text() == "y"
