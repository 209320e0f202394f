"""The command line as its users run it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pygent.store import SQLiteStore
from pygent.testing import ChatServer

ROOT = Path(__file__).parents[2]


class Command:
    """Runs `python -m pygent` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "pygent", *arguments]

    def __call__(
        self, *arguments: str, env: dict[str, str | None] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        options.setdefault("timeout", 60)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(
            self.argv(*arguments),
            cwd=options.pop("cwd", self.folder),
            env=self.environment(env),
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    def environment(self, env: dict[str, str | None] | None = None) -> dict[str, str]:
        merged = {**self.env, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(
            self.argv(*arguments),
            cwd=self.folder,
            env=self.environment(options.pop("env", None)),
            text=True,
            **options,
        )

    def events(self, session: str | None = None) -> list[dict[str, Any]]:
        """Return what was kept of a session, the last one by default."""
        data = Path(self.env["XDG_DATA_HOME"]) / "pygent"
        store = SQLiteStore(data / "sessions.db", read_only=True)
        try:
            name = session or store.sessions()[0].id
            return list(store.read(name))
        finally:
            store.close()


@pytest.fixture
def pygent(isolated: Path, tmp_path: Path) -> Command:
    folder = tmp_path / "work"
    folder.mkdir()
    return Command(folder)


@pytest.fixture
def serve(pygent: Command) -> Iterator[Callable[..., ChatServer]]:
    """Start a model server with a script, and point the command line at it."""
    servers: list[ChatServer] = []

    def start(*replies: Any, **options: Any) -> ChatServer:
        server = ChatServer(replies, **options)
        server.__enter__()
        servers.append(server)
        pygent.env["OPENAI_BASE_URL"] = server.url
        return server

    yield start
    for server in servers:
        server.close()
        server.check()


@pytest.fixture
def lines() -> Callable[[str], list[dict[str, Any]]]:
    """Read what `--json` wrote."""
    return lambda text: [json.loads(line) for line in text.splitlines()]
