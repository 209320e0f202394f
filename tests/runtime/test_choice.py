"""Which tier runs the commands, and that it is never a silent fallback."""

from __future__ import annotations

import warnings

import pytest

from pygent.errors import ConfigError, SandboxError
from pygent.runtime import Runtime, SandboxWarning, TierChoice, choice


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """As in a new process: nobody was warned."""
    monkeypatch.setattr(choice, "_warned", False)


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        ({"use_docker": False}, None),
        ({"sandbox": "local"}, None),
        ({}, ("PYGENT_USE_DOCKER", "0")),
        ({}, ("PYGENT_SANDBOX", "local")),
        ({"use_docker": False}, ("PYGENT_SANDBOX", "docker")),
    ],
)
def test_local_when_asked(arguments, setting, monkeypatch):
    """What was asked for is not warned about."""
    if setting:
        monkeypatch.setenv(*setting)
    with warnings.catch_warnings(), Runtime(**arguments) as rt:
        warnings.simplefilter("error")
        assert rt.use_docker is False
        assert rt.choice.tier == "local"
        assert rt.choice.asked_for


def test_local_when_nothing_was_asked_warns_once():
    """Commands that run without isolation by nobody's wish are warned about, at the user's line."""
    with Runtime() as rt, pytest.warns(SandboxWarning, match="use_docker=False") as caught:
        rt.bash("true")
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings(), rt, Runtime() as other:
        warnings.simplefilter("error")
        assert rt.bash("echo hi").endswith("hi\n")
        assert other.bash("echo hi").endswith("hi\n")


def test_choice_is_told_instead():
    """A callback gets the choice, once, whatever it is, and replaces the warning."""
    told: list[TierChoice] = []
    for asked in (None, False):
        rt = Runtime(use_docker=asked)
        rt.on_choice = told.append
        assert rt.chosen is None
        rt.bash("true")
        rt.cleanup()
        rt.bash("true")
        rt.cleanup()
        assert rt.chosen is told[-1]
    assert [(one.tier, one.isolated, one.asked_for) for one in told] == [
        ("local", False, None),
        ("local", False, "use_docker=False"),
    ]
    assert told[0].gaps
    assert told[0].reason


@pytest.mark.parametrize(
    ("arguments", "setting", "named"),
    [
        ({"use_docker": True}, None, "use_docker=True"),
        ({"sandbox": "docker"}, None, "docker"),
        ({"sandbox": "bubblewrap"}, None, "bubblewrap"),
        ({"sandbox": "landlock"}, None, "landlock"),
        ({}, ("PYGENT_USE_DOCKER", "1"), "PYGENT_USE_DOCKER=1"),
        ({}, ("PYGENT_SANDBOX", "docker"), "PYGENT_SANDBOX=docker"),
        ({"use_docker": True}, ("PYGENT_SANDBOX", "local"), "use_docker=True"),
        ({}, ("PYGENT_SANDBOX", "required"), "PYGENT_SANDBOX=required"),
        ({"use_docker": False}, ("PYGENT_SANDBOX", "required"), "PYGENT_SANDBOX=required"),
    ],
)
def test_what_cannot_be_had_is_an_error(arguments, setting, named, monkeypatch):
    """A tier that was asked for and is not there fails at the choice, and runs nothing."""
    if setting:
        monkeypatch.setenv(*setting)
    rt = Runtime(**arguments)
    with pytest.raises(SandboxError, match=named):
        rt.bash("touch ran")
    with pytest.raises(SandboxError, match=r"without isolation"):
        _ = rt.use_docker
    assert rt.chosen is None
    assert rt.files.list() == []
    rt.cleanup()


def test_unknown_names(monkeypatch):
    """A tier that nobody knows is an error that lists them."""
    with pytest.raises(ConfigError, match="'dcoker' is not known: it is one of docker"):
        Runtime(sandbox="dcoker")
    with pytest.raises(ConfigError, match="give one"):
        Runtime(use_docker=True, sandbox="local")
    monkeypatch.setenv("PYGENT_SANDBOX", "jail")
    with pytest.raises(ConfigError, match="jail"):
        Runtime().bash("true")
