"""Where things are kept."""

from __future__ import annotations

import os
import stat

import pytest

from pygent.config import cache_dir, config_dir, data_dir, make_dir, state_dir
from pygent.errors import ConfigError

ALL = {
    config_dir: ("XDG_CONFIG_HOME", ".config"),
    data_dir: ("XDG_DATA_HOME", ".local/share"),
    state_dir: ("XDG_STATE_HOME", ".local/state"),
    cache_dir: ("XDG_CACHE_HOME", ".cache"),
}


@pytest.mark.parametrize("place", ALL, ids=lambda place: place.__name__)
def test_the_xdg_directories(place, isolated, tmp_path, monkeypatch):
    """A variable that is absolute is heeded, any other gives the usual place; nothing is made."""
    variable, usual = ALL[place]
    monkeypatch.setenv(variable, str(tmp_path / "x"))
    assert place() == tmp_path / "x" / "pygent"
    for value in ("", "relative/path"):
        monkeypatch.setenv(variable, value)
        assert place() == isolated / usual / "pygent"
    assert list(isolated.iterdir()) == []


def test_one_setting_moves_them_all(tmp_path, monkeypatch):
    """With `PYGENT_HOME` all of them are in it, and stay apart."""
    monkeypatch.setenv("PYGENT_HOME", str(tmp_path / "own"))
    found = {place() for place in ALL}
    assert len(found) == len(ALL)
    assert all(path.parent == tmp_path / "own" for path in found)


def test_what_is_made_is_the_users_alone(tmp_path):
    """A directory is made with its parents, readable by nobody else; it may be there already."""
    made = make_dir(tmp_path / "a" / "b")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert make_dir(made) == made


def test_what_cannot_be_made_is_named(tmp_path, monkeypatch):
    """The error has the path and the setting that helps."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"file.*PYGENT_HOME"):
        make_dir(tmp_path / "file" / "below")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.delenv("XDG_DATA_HOME")
    with pytest.raises(ConfigError, match="HOME"):
        data_dir()
