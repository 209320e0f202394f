"""Odd surroundings: each gives plain work or one clear line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pygent.testing import call

PLAIN = [
    {"LANG": "C", "LC_ALL": "C"},
    {"PYTHONIOENCODING": "ascii"},
    {"TERM": "dumb"},
    {"TERM": None},
    {"NO_COLOR": "1"},
    {"LC_ALL": "nonsense"},
    {"PATH": "/usr/bin:/bin"},
    {"TMPDIR": "/nowhere"},
]


@pytest.mark.parametrize("env", PLAIN, ids=str)
def test_the_work_is_done_in_any_surroundings(pygent, serve, env):
    """Encodings, terminals and folders that are odd change how it looks, not that it works."""
    serve(call("bash", cmd="printf 'größe \\xff'"), "größe ✓ 漢")
    ran = pygent("run", "größe", env=env)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr
    assert ran.stdout in ("größe ✓ 漢\n", "gr\\xf6\\xdfe \\u2713 \\u6f22\n")


HOMELESS = [
    {"HOME": "/dev/null/home"},
    {"HOME": "/proc/1/nothing"},
    {"PYGENT_HOME": "/dev/null/pygent"},
    {"XDG_DATA_HOME": "/dev/null/data"},
]


@pytest.mark.parametrize("env", HOMELESS, ids=str)
def test_a_home_that_cannot_be_written_is_named(pygent, serve, env):
    """Where sessions cannot be kept, one line says which folder, and what to set; exit code 3."""
    serve()
    without_xdg = dict.fromkeys([n for n in os.environ if n.startswith("XDG_")])
    ran = pygent("run", "go", env={**without_xdg, **env})
    assert ran.returncode == 3, ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "PYGENT_HOME" in ran.stderr
    assert next(iter(env.values())) in ran.stderr


def test_state_lives_under_pygent_home(pygent, serve, tmp_path, isolated):
    """With `PYGENT_HOME` everything that is kept is under it, for the user's eyes alone."""
    own = tmp_path / "own"
    serve("ok")
    assert pygent("run", "go", env={"PYGENT_HOME": str(own)}).returncode == 0
    assert (own / "data" / "sessions.db").is_file()
    assert (own / "data").stat().st_mode & 0o077 == 0
    assert not [path for path in isolated.rglob("*") if path.is_file()]


@pytest.mark.parametrize("arguments", [["version"], ["run", "go"], ["demo"], ["--help"], []])
def test_a_current_directory_that_is_gone(pygent, serve, tmp_path, arguments):
    """What needs no folder works; what needs one says that it is gone."""
    serve()
    gone = tmp_path / "gone"
    gone.mkdir()
    words = " ".join(f"'{word}'" for word in pygent.argv(*arguments))
    ran = subprocess.run(
        ["sh", "-c", f"rmdir '{gone}'; {words}"],
        cwd=gone,
        env=pygent.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    if arguments[:1] == ["run"]:
        assert ran.returncode == 3
        assert "the current directory is gone" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "module", ["docker", "rich", "fastapi", "openai", "questionary", "jsonschema"]
)
def test_a_module_that_is_missing_or_broken_is_not_needed(pygent, serve, module):
    """A turn with a tool works without anything optional."""
    serve(call("bash", cmd="echo hi"), "done")
    code = (
        f"import sys; sys.modules[{module!r}] = None; from pygent.cli import run; sys.exit(run())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "run", "go"],
        cwd=pygent.folder,
        env=pygent.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr


def test_few_files_may_be_open(pygent, serve):
    """A low limit of open files is enough for a turn."""
    serve(call("bash", cmd="echo hi"), "done")
    words = " ".join(f"'{word}'" for word in pygent.argv("run", "go"))
    ran = subprocess.run(
        ["sh", "-c", f"ulimit -n 40; {words}"],
        cwd=pygent.folder,
        env=pygent.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr


def test_nobody_listens_at_the_address(pygent):
    """No network, or no server: one line that names the address, exit code 1."""
    ran = pygent("run", "go", env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert ran.returncode == 1
    assert "127.0.0.1:9" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_setting_that_makes_no_sense_is_named(pygent):
    """A bad address or number is a configuration error, by name."""
    for name, value in (("OPENAI_BASE_URL", "ftp://x"), ("PYGENT_TASK_TIMEOUT", "soon")):
        env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", name: value}
        ran = pygent("run", "go", env=env)
        assert ran.returncode == 3, ran.stderr
        assert name in ran.stderr
        assert value in ran.stderr
