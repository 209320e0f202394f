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


def check_folder(value: str | None) -> str | None:
    """Return a directory that is there."""
    if value is not None and not os.path.isdir(value):
        raise typer.BadParameter(f"{value!r} is not a directory", param_hint="--workspace")
    return value


def _sandbox(value: str | None) -> str | None:
    if value not in (None, "local"):
        raise typer.BadParameter(f"{value!r} is not in this version: there is local")
    return value


def _number(value: str) -> int:
    """Read a number of things, of which there is at least one."""
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise typer.BadParameter(f"{value!r} is not a number from 1 on")
    return number


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise typer.BadParameter(f"{value!r} is not a number of seconds")
    return seconds


def _version(value: bool) -> None:
    if value:
        streams.write(f"{__version__}\n")
        raise typer.Exit


Docker = Annotated[
    bool | None,
    typer.Option(
        "--docker/--no-docker",
        help="Run commands in a container (not in this version), or say that they may run on this "
        "machine, without isolation.",
    ),
]
Config = Annotated[
    str | None,
    typer.Option(
        "-c", "--config", metavar="FILE", help="Read this TOML file instead of ~/.pygent.toml."
    ),
]
Workspace = Annotated[
    str | None,
    typer.Option(
        "-w", "--workspace", metavar="DIR", help="Work in DIR; a session makes it if need be."
    ),
]
Cwd = Annotated[
    bool, typer.Option("--cwd", help="Work in the current directory, as `run` does anyway.")
]
PyConfig = Annotated[
    str | None,
    typer.Option("--pyconfig", metavar="FILE", help="Run this Python file first."),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "-e", "--env", metavar="NAME=VALUE", callback=_pairs, help="Set a variable (repeatable)."
    ),
]
Load = Annotated[
    str | None,
    typer.Option("--load", metavar="DIR", help="Go on from what /save put there."),
]
Omit = Annotated[
    list[str] | None,
    typer.Option("--omit-tool", metavar="NAME", help="Do without this tool (repeatable)."),
]
Confirm = Annotated[
    bool | None,
    typer.Option("--confirm-bash/--no-confirm-bash", help="Ask before bash runs a command."),
]
Ban = Annotated[
    list[str] | None,
    typer.Option("--ban-cmd", metavar="CMD", help="Refuse this command (repeatable)."),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=_preset,
        help=f"Who the agent is and what it may do: {', '.join(AGENT_PRESETS)}.",
    ),
]
Version = Annotated[
    bool,
    typer.Option("--version", callback=_version, is_eager=True, help="Tell the version."),
]

# Those of `run`. Arguments are told of in the command's own help: Typer adds their types.
Prompt = Annotated[str | None, typer.Argument(metavar="PROMPT", hidden=True)]
Folder = Annotated[
    str | None,
    typer.Option("-w", "--workspace", metavar="DIR", callback=check_folder, help="Work in DIR."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one event per line on standard output, and a result.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="NAME", help="Ask this model; else PYGENT_MODEL."),
]
MaxSteps = Annotated[
    int, typer.Option(metavar="N", parser=_number, help="End after so many model calls.")
]
MaxTime = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", parser=_seconds, help="End after so many seconds."),
]
Sandbox = Annotated[
    str | None,
    typer.Option(
        metavar="TIER",
        callback=_sandbox,
        help="Run commands in this: local, which is no isolation, is all that this version has.",
    ),
]
Persona = Annotated[
    str | None, typer.Option(metavar="TEXT", help='Tell the agent who it is: "a careful reviewer."')
]

# Those of `sessions`.
Limit = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", parser=_number, help="Show at most so many.")
]
Session = Annotated[str | None, typer.Argument(metavar="ID", hidden=True)]
