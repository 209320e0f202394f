"""Configuration files: what they set, what they leave, and how a broken one is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import pygent
from pygent.config import load_config, run_py_config
from pygent.errors import ConfigError

WHOLE = """
persona = "a bot."
persona_name = "Bot"
initial_files = ["seed.txt", "other.txt"]
banned_commands = ["rm"]
banned_apps = ["vim"]
[[task_personas]]
name = "a"
description = "first"
[[task_personas]]
name = "b"
"""


@pytest.fixture(autouse=True)
def restored(monkeypatch, tmp_path):
    """Put the environment back as it was."""
    before = dict(os.environ)
    monkeypatch.chdir(tmp_path)
    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]


def test_the_promised_names():
    """`load_config` is where it was: in `pygent` and in `pygent.config`."""
    assert pygent.load_config is load_config


def test_every_key_sets_its_variable(tmp_path):
    """All keys of a file become the settings that they stand for; the file's content comes back."""
    (tmp_path / "pygent.toml").write_text(WHOLE)
    config = load_config()
    assert config["persona"] == os.environ["PYGENT_PERSONA"] == "a bot."
    assert os.environ["PYGENT_PERSONA_NAME"] == "Bot"
    assert os.environ["PYGENT_INIT_FILES"] == os.pathsep.join(["seed.txt", "other.txt"])
    assert os.environ["PYGENT_BANNED_COMMANDS"] == "rm"
    assert os.environ["PYGENT_BANNED_APPS"] == "vim"
    assert os.environ["PYGENT_TASK_PERSONAS"] == os.pathsep.join(["a", "b"])
    assert json.loads(os.environ["PYGENT_TASK_PERSONAS_JSON"])[0]["description"] == "first"


def test_what_is_set_stays(tmp_path, monkeypatch):
    """A variable wins over a file."""
    monkeypatch.setenv("PYGENT_PERSONA", "mine")
    (tmp_path / "pygent.toml").write_text('persona = "theirs"')
    load_config()
    assert os.environ["PYGENT_PERSONA"] == "mine"


def test_the_project_wins_over_the_home(tmp_path, isolated):
    """Both usual files are read; where both say something, the nearer one counts."""
    (tmp_path / "pygent.toml").write_text('persona = "near"')
    (isolated / ".pygent.toml").write_text('persona = "far"\npersona_name = "Far"')
    assert load_config() == {"persona": "near", "persona_name": "Far"}
    assert os.environ["PYGENT_PERSONA"] == "near"
    assert os.environ["PYGENT_PERSONA_NAME"] == "Far"


def test_no_file_is_fine_unless_it_was_named(tmp_path):
    """Without files there are no settings; a file that was named must be there."""
    assert load_config() == {}
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_config(tmp_path / "nowhere.toml")


def test_no_home_is_no_trouble(tmp_path, monkeypatch):
    """Where there is no home, only the project's file is looked for."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    (tmp_path / "pygent.toml").write_text('persona = "near"')
    assert load_config() == {"persona": "near"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'persona = "a"\nnot toml', "line 2"),
        (b'persona = "a"\n\n# \xff', "line 3"),
        (b"persona = 3", "persona is 3"),
        (b"banned_commands = [1]", r"banned_commands is \[1\]"),
        (b"initial_files = {}", "initial_files"),
        (b"task_personas = [1]", "task_personas"),
        (b"[[task_personas]]\ndescription = 'x'", "no name"),
    ],
)
def test_a_broken_file_is_told_and_sets_nothing(tmp_path, text, said):
    """The error names the file and the line or the key; no setting is taken from the file."""
    file = tmp_path / "mine.toml"
    file.write_bytes(text)
    before = dict(os.environ)
    with pytest.raises(ConfigError, match=said) as caught:
        load_config(file)
    assert str(file) in str(caught.value)
    assert dict(os.environ) == before


def test_a_python_file_acts_at_once(tmp_path):
    """`run_py_config` runs what it is given, and minds nothing if there is nothing."""
    run_py_config()
    Path("config.py").write_text("import os\nos.environ['PYGENT_TEST_VAR'] = 'ok'\n")
    run_py_config()
    assert os.environ["PYGENT_TEST_VAR"] == "ok"
    (tmp_path / "config.txt").write_text("")
    with pytest.raises(ConfigError, match=r"config\.txt"):
        run_py_config(tmp_path / "config.txt")
