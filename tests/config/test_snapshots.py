"""Snapshots: what they hold, what they may set, and what they never hold."""

from __future__ import annotations

import json
import os

import pytest

from pygent import Agent, Runtime
from pygent.commands import cmd_save
from pygent.config import load_snapshot, save_snapshot
from pygent.errors import ConfigError
from pygent.testing import ScriptedModel


@pytest.fixture(autouse=True)
def restored():
    """Put the environment back as it was."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def agent(tmp_path):
    with Agent(
        runtime=Runtime(use_docker=False, workspace=tmp_path / "ws"),
        model=ScriptedModel(["Hello."]),
        display=False,
    ) as made:
        yield made


def test_a_snapshot_is_saved_and_gone_on_from(agent, tmp_path, monkeypatch):
    """Workspace and conversation come back, by the settings that loading makes."""
    agent.runtime.write_file("foo.txt", "bar")
    agent.step("hi")
    dest = tmp_path / "save"
    monkeypatch.setenv("PYGENT_MODEL", "tiny")
    cmd_save(agent, str(dest))
    monkeypatch.delenv("PYGENT_MODEL")
    workspace = load_snapshot(dest)
    assert workspace == dest / "workspace"
    assert os.environ["PYGENT_WORKSPACE"] == str(workspace)
    assert os.environ["PYGENT_MODEL"] == "tiny"
    with Agent(model=ScriptedModel(), display=False) as again:
        assert again.runtime.read_file("foo.txt") == "bar"
        assert [dict(m) for m in again.history] == [dict(m) for m in agent.history]
    assert (workspace / "foo.txt").exists()


def test_a_snapshot_is_found_from_anywhere(agent, tmp_path, monkeypatch):
    """A snapshot that was named relative to a folder is still there in another one."""
    agent.step("hi")
    monkeypatch.chdir(tmp_path)
    save_snapshot(agent, "save")
    assert load_snapshot("save") == tmp_path / "save" / "workspace"
    assert os.environ["PYGENT_WORKSPACE"] == str(tmp_path / "save" / "workspace")
    assert os.environ["PYGENT_HISTORY_FILE"] == str(tmp_path / "save" / "history.json")


def test_no_secret_is_saved(agent, tmp_path, monkeypatch):
    """Neither a key nor anything that is named like one, nor an address with a password."""
    for name in ("OPENAI_API_KEY", "PYGENT_TOKEN", "PYGENT_SECRET_X", "PYGENT_PASSWORD"):
        monkeypatch.setenv(name, "hush-hush")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hush-hush@host/v1")
    monkeypatch.setenv("PYGENT_PERSONA", "calm")
    dest = save_snapshot(agent, tmp_path / "save")
    assert json.loads((dest / "env.json").read_text()) == {"PYGENT_PERSONA": "calm"}
    for file in dest.rglob("*"):
        assert not file.is_file() or b"hush-hush" not in file.read_bytes()
    assert dest.stat().st_mode & 0o077 == 0


def test_only_the_listed_settings_are_taken(tmp_path, monkeypatch):
    """A snapshot sets what it may, where nothing is set; never where files are, nor other things."""
    snapshot = tmp_path / "snap"
    (snapshot / "workspace").mkdir(parents=True)
    wanted = {
        "OPENAI_API_KEY": "test",
        "PYGENT_MODEL": "theirs",
        "PYGENT_MAX_TASKS": 5,
        "LD_PRELOAD": "/evil.so",
        "PATH": "/evil",
        "PYGENT_HISTORY_FILE": "/etc/passwd",
        "PYGENT_SNAPSHOT": "/other",
    }
    (snapshot / "env.json").write_text(json.dumps(wanted))
    (snapshot / "history.json").write_text("[]")
    monkeypatch.setenv("PYGENT_MODEL", "mine")
    path = os.environ["PATH"]
    load_snapshot(snapshot)
    assert os.environ["OPENAI_API_KEY"] == "test"
    assert os.environ["PYGENT_MODEL"] == "mine"
    assert os.environ["PYGENT_MAX_TASKS"] == "5"
    assert os.environ["PATH"] == path
    assert os.environ["PYGENT_HISTORY_FILE"] == str(snapshot / "history.json")
    assert not {"LD_PRELOAD", "PYGENT_SNAPSHOT", "PYGENT_LOG_FILE"} & set(os.environ)


@pytest.mark.parametrize("text", ["[]", "not json", '{"PYGENT_MODEL": "a\\u0000b"}'])
def test_a_broken_snapshot_is_told(tmp_path, text):
    """What cannot be a list of settings is named; a directory that is not there too."""
    (tmp_path / "env.json").write_text(text)
    with pytest.raises(ConfigError, match=r"env\.json"):
        load_snapshot(tmp_path)
    with pytest.raises(ConfigError, match="no snapshot"):
        load_snapshot(tmp_path / "nowhere")
    (tmp_path / "some folder").mkdir()
    with pytest.raises(ConfigError, match="no snapshot"):
        load_snapshot(tmp_path / "some folder")


def test_a_snapshot_of_other_work_is_left_alone(agent, tmp_path):
    """Saving over another snapshot is refused; saving the same workspace in place is fine."""
    agent.runtime.write_file("a.txt", "a")
    dest = save_snapshot(agent, tmp_path / "save")
    with pytest.raises(ConfigError, match="holds a snapshot already"):
        save_snapshot(agent, dest)
    load_snapshot(dest)
    with Agent(model=ScriptedModel(["Hi."]), display=False) as again:
        again.runtime.write_file("b.txt", "b")
        save_snapshot(again, dest)
        again.step("hello")
    kept = json.loads((dest / "history.json").read_text())
    assert kept[-1] == {"role": "assistant", "content": "Hi."}
    assert (dest / "workspace" / "b.txt").exists()
    assert not (dest / "workspace" / "workspace").exists()


def test_links_are_replaced_and_not_followed(agent, tmp_path):
    """A link that lies where a snapshot is written costs nothing of what it points to."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    dest = tmp_path / "save"
    dest.mkdir()
    (dest / "history.json").symlink_to(precious)
    save_snapshot(agent, dest)
    assert precious.read_text() == "precious"
    assert json.loads((dest / "history.json").read_text())
