"""The options: how each is written, and what it may hold."""

from __future__ import annotations

import math
import os
from typing import Annotated

import typer

from ..agent_presets import AGENT_PRESETS
from ..version import __version__
from . import streams


def _pairs(values: list[str] | None) -> list[str]:
    for value in values or ():
        name, sign, rest = value.partition("=")
        if not (name and sign) or "\0" in rest:
            raise typer.BadParameter(f"{value!r} is not of the form NAME=VALUE")
    return list(values or ())


def _preset(value: str | None) -> str | None:
    if value is not None and value not in AGENT_PRESETS:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(AGENT_PRESETS)}")
    return value


def _folder(value: str | None) -> str | None:
    if value is not None and not os.path.isdir(value):
        raise typer.BadParameter(f"{value!r} is not a directory")
    return value


def _sandbox(value: str | None) -> str | None:
    if value not in (None, "local"):
        raise typer.BadParameter(f"{value!r} is not in this version: there is local")
    return value


def _seconds(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number of seconds")
    return value


def _version(value: bool) -> None:
    if value:
        streams.write(f"{__version__}\n")
        raise typer.Exit


Docker = Annotated[
    bool | None, typer.Option("--docker/--no-docker", help="Run commands in a container.")
]
Config = Annotated[
    str | None, typer.Option("-c", "--config", metavar="FILE", help="Read this TOML file.")
]
Workspace = Annotated[
    str | None, typer.Option("-w", "--workspace", metavar="DIR", help="Work in DIR.")
]
Cwd = Annotated[bool, typer.Option("--cwd", help="Work in the current directory.")]
PyConfig = Annotated[
    str | None, typer.Option("--pyconfig", metavar="FILE", help="Run this Python file first.")
]
Env = Annotated[
    list[str] | None,
    typer.Option("-e", "--env", metavar="K=V", callback=_pairs, help="Set a variable."),
]
Load = Annotated[str | None, typer.Option("--load", metavar="DIR", help="Go on from a snapshot.")]
Omit = Annotated[
    list[str] | None,
    typer.Option("--omit-tool", metavar="NAME", help="Disable a tool (repeatable)."),
]
Confirm = Annotated[
    bool | None,
    typer.Option("--confirm-bash/--no-confirm-bash", help="Ask before bash runs a command."),
]
Ban = Annotated[
    list[str] | None,
    typer.Option("--ban-cmd", metavar="CMD", help="Refuse a command (repeatable)."),
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", callback=_preset, help=f"{', '.join(AGENT_PRESETS)}."),
]
Version = Annotated[
    bool,
    typer.Option("--version", callback=_version, is_eager=True, help="Tell the version."),
]

# Those of `run`.
Prompt = Annotated[
    str | None,
    typer.Argument(
        metavar="[PROMPT]", help="What to do; - or nothing reads it from standard input."
    ),
]
Folder = Annotated[
    str | None,
    typer.Option("-w", "--workspace", metavar="DIR", callback=_folder, help="Work in DIR."),
]
Json = Annotated[bool, typer.Option("--json", help="Write one event per line, and a result.")]
Model = Annotated[str | None, typer.Option("--model", "-m", metavar="NAME", help="Ask this model.")]
MaxSteps = Annotated[int, typer.Option(min=1, metavar="N", help="End after so many model calls.")]
MaxTime = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="SECONDS", callback=_seconds, help="End after so long."),
]
Sandbox = Annotated[
    str | None,
    typer.Option(metavar="TIER", callback=_sandbox, help="Run commands in this: local."),
]
Persona = Annotated[str | None, typer.Option(metavar="TEXT", help="Who the agent is told to be.")]

# Those of `sessions`.
Limit = Annotated[int, typer.Option(min=1, metavar="N", help="Show at most so many.")]
Session = Annotated[str, typer.Argument(metavar="ID", help="The session's id.")]
