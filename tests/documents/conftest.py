"""A place to run documents in: an empty folder, a model on the loopback, tasks that are ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pygent import task_tools, tools
from pygent.testing.server import ChatServer

ANSWER = "I am a model on this machine."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Serve one answer to whatever is asked, at ``OPENAI_BASE_URL``."""
    with ChatServer(default=ANSWER) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        yield running


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder, and end the tasks that were started meanwhile."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    if tools._task_manager is not None:
        tools._task_manager.close()
        task_tools.set_task_manager(None)
