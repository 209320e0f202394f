"""`pygent demo`, end to end."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pygent.demo import run_demo, show
from pygent.errors import PygentError
from pygent.events import ModelReplied, event_from_dict

PROJECT = show.HERE / "project"


def test_the_demo_ends_green(pygent, tmp_path):
    """No key, no network: the failing test is fixed, the exit code 0, the workspace gone."""
    before = {path: path.read_bytes() for path in PROJECT.iterdir() if path.is_file()}
    ran = pygent("demo", env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "SCRIPTED" in ran.stdout
    assert "FAILED (failures=1)" in ran.stdout
    assert "tests are green" in ran.stdout
    assert len(ran.stdout.splitlines()) <= 60
    assert "\x1b" not in ran.stdout
    folder = re.search(r"workspace  (\S+)", ran.stdout)[1]
    assert Path(folder).is_relative_to(tmp_path / "tmp")
    assert not Path(folder).exists()
    assert {path: path.read_bytes() for path in before} == before
    assert list(pygent.folder.iterdir()) == []


def test_settings_of_the_user_change_nothing(pygent, tmp_path):
    """Neither a workspace nor a history file that is set is touched."""
    own = {
        "PYGENT_WORKSPACE": str(tmp_path / "precious"),
        "PYGENT_HISTORY_FILE": str(tmp_path / "history.json"),
        "PYGENT_CONFIRM_BASH": "1",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "ascii",
    }
    assert pygent("demo", env=own).returncode == 0
    assert not (tmp_path / "precious").exists()
    assert not (tmp_path / "history.json").exists()


def test_the_tools_are_real(monkeypatch, capsys):
    """When the replies do not fix the project, the demo says so and ends with 1."""
    replies = show.ReplayModel(show.HERE / "session.jsonl")
    replies._replies = replies._replies[-1:]
    monkeypatch.setattr(show, "ReplayModel", lambda *_, **__: replies)
    assert run_demo() == 1
    out = capsys.readouterr().out
    assert "The demo did not work" in out
    assert "60m 00s" in out


def test_an_error_is_told(monkeypatch, capsys):
    """A script that is too short is what went wrong, not a traceback."""
    replies = show.ReplayModel(show.HERE / "session.jsonl")
    replies._replies = replies._replies[:1]
    monkeypatch.setattr(show, "ReplayModel", lambda *_, **__: replies)
    assert run_demo() == 1
    assert "the script is at its end" in capsys.readouterr().out
    with pytest.raises(PygentError):
        replies.chat([], "", None)


def test_no_folder_for_temporary_files(pygent, monkeypatch):
    """Where no temporary folder can be made, one line says what to set."""
    code = "import tempfile, sys; tempfile.mkdtemp = lambda **_: open('/nowhere/x');"
    code += "from pygent.cli import run; sys.exit(run(['demo']))"
    import subprocess
    import sys

    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=pygent.environment(),
        cwd=pygent.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 3
    assert "TMPDIR" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_session_file_is_in_the_event_format():
    """Each line is an event that the log could hold."""
    lines = (show.HERE / "session.jsonl").read_text().splitlines()
    import json

    events = [event_from_dict(json.loads(line)) for line in lines]
    assert all(isinstance(event, ModelReplied) for event in events)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_the_sample_project_fails_before(tmp_path):
    """The project ships broken: otherwise there were nothing to see."""
    import shutil
    import subprocess
    import sys

    shutil.copytree(PROJECT, tmp_path / "project")
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"],
        cwd=tmp_path / "project",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.defpath},
    )
    assert ran.returncode == 1
    assert "failures=1" in ran.stderr
