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
    # The settings outlive a change of the current directory.
    folder = Path(path).expanduser().absolute()
    if not any((folder / part).exists() for part in ("workspace", "env.json")):
        raise ConfigError(f"no snapshot at {folder}: give the directory that /save made")
    for name, value in _settings(folder / "env.json").items():
        if name in SETTINGS:
            if "\0" in str(value):
                raise ConfigError(f"{folder / 'env.json'}: {name} holds a NUL byte: repair it")
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

    A snapshot of another workspace at the same place is left alone: that is a `ConfigError`.
    """
    import json

    folder = Path(dest).expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _save_workspace(agent.runtime, folder / "workspace")
        history = [dict(entry) for entry in agent.history]
        _write(folder / "history.json", json.dumps(history, indent=1), live=agent.history_file)
        _write(folder / "env.json", json.dumps(_harmless_settings(), indent=2))
        if agent.log_file is not None and Path(agent.log_file).is_file():
            log = Path(agent.log_file)
            _write(folder / "cli.log", log.read_bytes(), live=log)
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise ConfigError(f"cannot save to {folder}: {reason}; give another directory") from error
    return folder


def _save_workspace(runtime: Any, target: Path) -> None:
    if target.exists() and os.path.samefile(target, runtime.base_dir):
        return
    if target.is_symlink() or (target.exists() and any(target.iterdir())):
        raise ConfigError(
            f"{target.parent} holds a snapshot already: give another directory, or delete it first"
        )
    runtime.export_file(".", target)


def _harmless_settings() -> dict[str, str]:
    found = {name: os.environ[name] for name in SETTINGS if name in os.environ}
    return {
        name: value
        for name, value in found.items()
        if not _SECRET.search(name) and not (name.endswith("_URL") and "@" in value)
    }


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


def _write(file: Path, content: str | bytes, *, live: PathLike | None = None) -> None:
    """Replace a file, unless it is ``live`` and up to date; links are replaced, not followed."""
    if live is not None and file.exists() and os.path.exists(live) and os.path.samefile(file, live):
        return
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    temporary = file.with_name(f".{file.name}-{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(temporary, flags, 0o600), "wb") as opened:
        opened.write(data)
    os.replace(temporary, file)
