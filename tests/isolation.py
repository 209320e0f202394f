"""Each test runs with a home of its own, no settings of ours, and what it registers is forgotten."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_OURS = ("PYGENT_", "OPENAI_")
_XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": ".run",
}

# What a test may set for the whole process, and the call that unsets it.
_RESETS = (
    ("pygent.models", "set_custom_model", (None,)),
    ("pygent.tools", "reset_tools", ()),
    ("pygent.system_message", "set_system_message_builder", (None,)),
)


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the test an empty home, returned, and an environment without settings of ours.

    The working directory stays as it is. `PYGENT_HOME` is not set, so that the test sees the
    directories that a user gets; they are under the home.
    """
    home = tmp_path / "home"
    scratch = tmp_path / "tmp"
    home.mkdir()
    scratch.mkdir()
    for name in list(os.environ):
        if name.startswith(_OURS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name, place in _XDG.items():
        monkeypatch.setenv(name, str(home / place))
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield home
    forget_what_was_registered()


def forget_what_was_registered() -> None:
    """Put back the tools, the model and the prompt builder that a fresh process has."""
    for module, function, arguments in _RESETS:
        reset = getattr(sys.modules.get(module), function, None)
        if reset is not None:
            reset(*arguments)
