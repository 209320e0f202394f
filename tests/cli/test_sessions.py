"""`pygent sessions`: what was kept, shown again."""

from __future__ import annotations

from pygent.testing import Fault, Reply, call, calls


def test_before_the_first_session(pygent):
    """Nothing to list is no failure; nothing to show is told."""
    ran = pygent("sessions", "list")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "no sessions yet\n")
    ran = pygent("sessions", "show")
    assert ran.returncode == 1
    assert ran.stderr == "pygent: there are no sessions yet\n"


def test_a_session_is_shown_as_it_went(pygent, serve):
    """Folder, sandbox, messages, calls and their results, in order; the newest one by default."""
    serve(
        "An older one.",
        calls(
            call("read_file", path="nowhere"),
            call("bash", cmd="echo hi; exit 3"),
            text="Let me see.",
        ),
        "Hm.",
    )
    pygent("run", "older")
    pygent("run", "newer")
    ran = pygent("sessions", "show")
    assert ran.returncode == 0
    head, *lines = ran.stdout.splitlines()
    assert head.startswith("session ")
    assert head.endswith(f" in {pygent.folder}")
    assert lines == [
        "[sandbox local: commands were not isolated]",
        "user: newer",
        "agent: Let me see.",
        '> read_file {"path": "nowhere"}',
        "[read_file] file nowhere not found",
        "$ echo hi; exit 3",
        "hi",
        "[exit code 3]",
        "agent: Hm.",
    ]


def test_how_a_session_failed_is_shown(pygent, serve):
    """An error and a reply that was cut off are part of what happened."""
    begun = b'data: {"choices": [{"index": 0, "delta": {"content": "Half a"}}]}\n\n'
    serve(Reply(body=[begun, Fault.CUT]), Reply(status=500, body={"error": {"message": "broken"}}))
    pygent("run", "cut")
    shown = pygent("sessions", "show").stdout
    assert "agent: Half a [cut off]\n[error: the reply was cut off" in shown
    pygent("run", "fail")
    assert "broken]" in pygent("sessions", "show").stdout.splitlines()[-1]


def test_a_session_that_is_not_there(pygent, serve):
    """The command that lists them is named, and is one."""
    serve("ok")
    pygent("run", "go")
    ran = pygent("sessions", "show", "nope")
    assert ran.returncode == 3
    assert "no session 'nope': `pygent sessions list` shows" in ran.stderr
    assert pygent("sessions", "list", "-n", "1").returncode == 0
