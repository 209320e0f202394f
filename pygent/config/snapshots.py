"""Snapshots: a directory with a workspace, its conversation and the settings it was made with."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError

__all__ = ["SETTINGS", "load_snapshot", "save_snapshot"]

PathLike = str | os.PathLike[str]

SETTINGS = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "PYGENT_BANNED_APPS",
    "PYGENT_BANNED_COMMANDS",
    "PYGENT_CONFIRM_BASH",
    "PYGENT_IMAGE",
    "PYGENT_INIT_FILES",
    "PYGENT_MAX_TASKS",
    "PYGENT_MODEL",
    "PYGENT_PERSONA",
    "PYGENT_PERSONA_NAME",
    "PYGENT_STEP_TIMEOUT",
    "PYGENT_TASK_PERSONAS",
    "PYGENT_TASK_PERSONAS_JSON",
    "PYGENT_TASK_TIMEOUT",
    "PYGENT_USE_DOCKER",
)
"""What a snapshot may set. Where the workspace and the files are, the snapshot itself says."""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")


def load_snapshot(path: PathLike) -> Path:
    """Make a snapshot's settings and files those of this process; returns its workspace.

    Only the listed settings are taken, and none that is set already.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"no snapshot at {folder}: give the directory that /save made")
    for name, value in _settings(folder / "env.json").items():
        if name in SETTINGS:
            os.environ.setdefault(name, str(value))
    workspace = folder / "workspace"
    os.environ["PYGENT_WORKSPACE"] = str(workspace)
    for name, file in (
        ("PYGENT_HISTORY_FILE", folder / "history.json"),
        ("PYGENT_LOG_FILE", folder / "cli.log"),
    ):
        if file.is_file():
            os.environ[name] = str(file)
    return workspace


def save_snapshot(agent: Any, dest: PathLike) -> Path:
    """Save an agent's workspace, its conversation and the settings, without any secret.

    What an earlier snapshot left at the same place is replaced or overwritten, never mixed with
    this one's conversation.
    """
    import json

    folder = Path(dest).expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        agent.runtime.export_file(".", folder / "workspace")
        history = [_plain(entry) for entry in agent.history]
        _write(folder / "history.json", json.dumps(history, indent=1))
        settings = {
            name: os.environ[name]
            for name in SETTINGS
            if name in os.environ and not _SECRET.search(name)
        }
        _write(folder / "env.json", json.dumps(settings, indent=2))
        if agent.log_file is not None and Path(agent.log_file).is_file():
            _write(folder / "cli.log", Path(agent.log_file).read_bytes())
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise ConfigError(f"cannot save to {folder}: {reason}; nothing else was changed") from error
    return folder


def _settings(file: Path) -> Mapping[str, Any]:
    import json

    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{file} is not JSON: {error}; repair or delete it") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file} holds {type(found).__name__}, not names and values")
    return found


def _plain(entry: Any) -> dict[str, Any]:
    return dict(entry)


def _write(file: Path, content: str | bytes) -> None:
    """Replace a file; a link that somebody left at its place is replaced, not followed."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    temporary = file.with_name(f".{file.name}-{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(temporary, flags, 0o600), "wb") as opened:
        opened.write(data)
    os.replace(temporary, file)
