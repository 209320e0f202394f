"""What `pygent run` tells beside the answer."""

from __future__ import annotations

import pytest

from pygent.testing import call


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call("bash", cmd="echo why; exit 3"), "! bash: exit code 3: why"),
        (call("bash", cmd="false"), "! bash: exit code 1"),
        (call("bash", cmd="sleep 9", timeout=0.2), "! bash: timeout after 0.2s"),
        (call("bash", cmd="dd if=x"), "! bash: command 'dd' disabled"),
        (call("read_file", path="/etc/passwd"), "! read_file: path '/etc/passwd' is outside of"),
        (call("fly", far=True), "! fly: unknown tool 'fly'; available: "),
        (call("grep", pattern="x"), "! grep: tool grep is disabled; available: "),
    ],
)
def test_what_went_wrong_with_a_call_is_told(pygent, serve, asked, told):
    """A line on standard error says what failed and why, without the marks meant for the model."""
    serve(asked, "Hm.")
    ran = pygent("--ban-cmd", "dd", "--omit-tool", "grep", "run", "go")
    assert ran.returncode == 0
    assert [line for line in ran.stderr.splitlines() if line.startswith(told)]
    assert "[error]" not in ran.stderr


def test_a_call_that_worked_is_one_line(pygent, serve):
    """Nothing is told of what a command printed, also where it looks like an ending."""
    serve(call("bash", cmd="echo '[exit code 7] said somebody'; echo fine"), "Hm.")
    assert "!" not in pygent("run", "go").stderr


def test_isolation_is_spoken_of_once_it_is_given_up(pygent, serve):
    """Who says that local is meant gets a line, and no warning."""
    serve("a", "b")
    for arguments in (["run", "--sandbox", "local", "x"], ["--no-docker", "run", "x"]):
        told = pygent(*arguments).stderr
        assert "commands are not isolated" in told
        assert "NOT" not in told
