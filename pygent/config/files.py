"""Configuration files: ``pygent.toml``, and Python files that are run when they are named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from .paths import home

__all__ = ["PROJECT_FILE", "load_config", "run_py_config", "user_file"]

PathLike = str | os.PathLike[str]

PROJECT_FILE = "pygent.toml"

_TEXTS = {"persona": "PYGENT_PERSONA", "persona_name": "PYGENT_PERSONA_NAME"}
_LISTS = {
    "initial_files": "PYGENT_INIT_FILES",
    "banned_commands": "PYGENT_BANNED_COMMANDS",
    "banned_apps": "PYGENT_BANNED_APPS",
}


def load_config(path: PathLike | None = None) -> dict[str, Any]:
    """Read settings from a TOML file into the environment, and return them.

    Without ``path`` these are ``./pygent.toml`` and ``~/.pygent.toml``, as far as they are there;
    the first one wins. A variable that is set already stays as it is.
    """
    if path is None:
        found = [file for file in _usual_files() if file.is_file()]
    else:
        found = [Path(path).expanduser()]
    config: dict[str, Any] = {}
    for file in found:
        config = {**_read(file), **config}
    for name, value in _variables(config).items():
        os.environ.setdefault(name, value)
    return config


def run_py_config(path: PathLike = "config.py") -> None:
    """Run a Python file, which can register tools and set a model; none there is fine."""
    file = Path(path)
    if not file.is_file():
        return
    import importlib.util

    spec = importlib.util.spec_from_file_location("pygent_config", file)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{file} is not a Python file: give one whose name ends in .py")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def user_file() -> Path:
    """Return where the user's own settings are."""
    return home() / f".{PROJECT_FILE}"


def _usual_files() -> list[Path]:
    try:
        return [Path(PROJECT_FILE), user_file()]
    except ConfigError:  # no home, so nothing there
        return [Path(PROJECT_FILE)]


def _read(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return _checked(file, tomllib.loads(file.read_bytes().decode("utf-8-sig")))
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise ConfigError(f"cannot read the configuration file {file}: {reason}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}, line {line}: not UTF-8: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        # The parser's own text names the line and column.
        raise ConfigError(f"{file}: not TOML: {str(error)[:1].lower()}{str(error)[1:]}") from error


def _checked(file: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings, if each has the type that it needs."""
    for name in _TEXTS:
        if not isinstance(config.get(name, ""), str):
            raise ConfigError(f"{file}: {name} is {config[name]!r:.60}: write it as a text")
    for name in _LISTS:
        value = config.get(name, "")
        if not (isinstance(value, str) or _all(str, value)):
            raise ConfigError(f'{file}: {name} is {value!r:.60}: write it as ["one", "two"]')
    personas = config.get("task_personas", "")
    if not (isinstance(personas, str) or _all(str, personas) or _all(Mapping, personas)):
        raise ConfigError(
            f"{file}: task_personas is {personas!r:.60}: write it as a list of names, or as "
            "[[task_personas]] tables with a name and a description"
        )
    if _all(Mapping, personas) and not _all(str, [one.get("name") for one in personas]):
        raise ConfigError(f"{file}: one of task_personas has no name: give each of them one")
    return config


def _all(kind: Any, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _variables(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings as the variables that stand for them."""
    found = {variable: config[name] for name, variable in _TEXTS.items() if name in config}
    for name, variable in _LISTS.items():
        if name in config:
            found[variable] = _joined(config[name])
    personas = config.get("task_personas")
    if isinstance(personas, list) and personas and isinstance(personas[0], Mapping):
        import json

        found["PYGENT_TASK_PERSONAS_JSON"] = json.dumps(personas)
        found["PYGENT_TASK_PERSONAS"] = _joined([one["name"] for one in personas])
    elif personas is not None:
        found["PYGENT_TASK_PERSONAS"] = _joined(personas)
    return found


def _joined(value: str | Iterable[str]) -> str:
    return value if isinstance(value, str) else os.pathsep.join(value)
