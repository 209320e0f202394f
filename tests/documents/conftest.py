"""A place to run documents in: an empty folder, a model on the loopback, tasks that are ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pygent import task_tools, tools
from pygent.testing.server import ChatServer, Request

ANSWER = "I am a model on this machine."
ANSWERS = {
    "Which tools do you have?": "A shell, and tools to read, write and search files.",
    "Summarise notes.txt": "Two notes: one, and two.",
}


def answer(request: Request) -> str:
    """Say what the documents show."""
    return ANSWERS.get(request["messages"][-1]["content"], ANSWER)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Serve an answer to whatever is asked, at ``OPENAI_BASE_URL``."""
    with ChatServer(default=answer) as running:
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
