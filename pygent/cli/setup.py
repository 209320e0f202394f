"""What the options of the bare command set up, before anything runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .. import config, models, tools
from ..errors import APIError, ConfigError
from ..models import OpenAIModel
from ..models.endpoint import DEFAULT_BASE_URL, resolve, setting
from . import streams

__all__ = ["Options", "check_model", "current_dir", "has_model", "prepare"]


@dataclass(frozen=True)
class Options:
    """What was said before the sub-command, or without one."""

    docker: bool | None = None
    config: str | None = None
    workspace: str | None = None
    cwd: bool = False
    pyconfig: str | None = None
    env: list[str] = field(default_factory=list)
    load: str | None = None
    omit_tool: list[str] = field(default_factory=list)
    confirm_bash: bool | None = None
    ban_cmd: list[str] = field(default_factory=list)
    preset: str | None = None


def prepare(options: Options) -> str | None:
    """Read the settings that were named, and the user's own; returns the workspace, if one was.

    What lies in the current directory is not read unasked: it may be anybody's.
    """
    for item in options.env:
        name, _, value = item.partition("=")
        os.environ[name] = value
    if options.config is not None:
        config.load_config(options.config)
    else:
        _load_user_file()
    workspace = options.workspace
    snapshot = options.load or config.text("PYGENT_SNAPSHOT")
    if snapshot is not None:
        before = set(os.environ)
        workspace = str(config.load_snapshot(snapshot))
        taken = sorted(name for name in config.SETTINGS if name in {*os.environ} - before)
        if taken:
            streams.tell(f"from the snapshot: {', '.join(taken)}")
    if options.pyconfig is not None:
        _run_file(options.pyconfig)
    for name in options.omit_tool:
        if name not in tools.TOOLS:
            raise ConfigError(
                f"--omit-tool {name}: no tool is called that: there are {', '.join(sorted(tools.TOOLS))}"
            )
    return current_dir() if options.cwd else workspace


def _run_file(path: str) -> None:
    if not Path(path).is_file():
        raise ConfigError(f"--pyconfig {path}: there is no such file")
    try:
        config.run_py_config(path)
    except Exception as error:
        import traceback

        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == path]
        place = f", line {lines[-1]}" if lines else ""
        raise ConfigError(f"{path}{place}: {type(error).__name__}: {error}") from error


def current_dir() -> str:
    """Return the current directory; a `ConfigError` if it is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise ConfigError(
            "the current directory is gone: change to one that is there, or give --workspace"
        ) from None


def has_model() -> bool:
    """Whether there is somebody to ask: a custom model, a key, or an address that needs none."""
    if models.CUSTOM_MODEL is not None or setting("OPENAI_API_KEY"):
        return True
    return setting("OPENAI_BASE_URL").rstrip("/") != DEFAULT_BASE_URL


def check_model() -> None:
    """Raise if the model cannot even be asked, before anything is made."""
    if models.CUSTOM_MODEL is None or isinstance(models.CUSTOM_MODEL, OpenAIModel):
        try:
            resolve()
        except APIError as error:
            raise (error if not has_model() else ConfigError(str(error))) from None


def _load_user_file() -> None:
    try:
        own = config.user_file()
    except ConfigError:
        return
    try:
        there = own.is_file()
    except OSError:
        there = False
    if there:
        config.load_config(own)
    if Path(config.PROJECT_FILE).is_file():
        streams.tell(
            f"./{config.PROJECT_FILE} is there and was not read: -c {config.PROJECT_FILE} reads it"
        )
