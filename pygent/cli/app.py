"""The commands and their options."""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, NoReturn, ParamSpec

import typer

from ..agent_presets import AGENT_PRESETS
from ..demo import run_demo
from ..errors import PygentError
from ..session import run_interactive
from ..version import __version__
from . import streams
from .entry import guarded
from .headless import Task, run_task
from .prompts import read_prompt
from .sessions import list_sessions, show_session
from .setup import Options, check_model, has_model, prepare
from .welcome import welcome

__all__ = ["app", "main"]

app = typer.Typer(
    help="A coding agent: alone it opens a session in the terminal, `run` does one task.",
    invoke_without_command=True,
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
sessions_app = typer.Typer(help="See the sessions that were kept.", no_args_is_help=True)
app.add_typer(sessions_app, name="sessions")

P = ParamSpec("P")

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


def _ends(work: Callable[P, int]) -> Callable[P, NoReturn]:
    """Make what a command returns the exit code, whatever Typer makes of errors and signals."""

    @functools.wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        raise typer.Exit(guarded(lambda: work(*args, **kwargs)))

    return command


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


@app.callback()
def main(
    ctx: typer.Context,
    docker: Annotated[
        bool | None, typer.Option("--docker/--no-docker", help="Run commands in a container.")
    ] = None,
    config: Annotated[
        str | None, typer.Option("-c", "--config", metavar="FILE", help="Read this TOML file.")
    ] = None,
    workspace: Annotated[
        str | None, typer.Option("-w", "--workspace", metavar="DIR", help="Work in DIR.")
    ] = None,
    cwd: Annotated[bool, typer.Option("--cwd", help="Work in the current directory.")] = False,
    pyconfig: Annotated[
        str | None, typer.Option("--pyconfig", metavar="FILE", help="Run this Python file first.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("-e", "--env", metavar="K=V", callback=_pairs, help="Set a variable."),
    ] = None,
    load: Annotated[
        str | None, typer.Option("--load", metavar="DIR", help="Go on from a snapshot.")
    ] = None,
    omit_tool: Omit = None,
    confirm_bash: Confirm = None,
    ban_cmd: Ban = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset", metavar="NAME", callback=_preset, help=f"{', '.join(AGENT_PRESETS)}."
        ),
    ] = None,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version.")
    ] = False,
) -> None:
    """A coding agent: alone it opens a session in the terminal, `run` does one task."""
    options = Options(
        docker=docker,
        config=config,
        workspace=workspace,
        cwd=cwd,
        pyconfig=pyconfig,
        env=list(env or ()),
        load=load,
        omit_tool=list(omit_tool or ()),
        confirm_bash=confirm_bash,
        ban_cmd=list(ban_cmd or ()),
        preset=preset,
    )
    ctx.obj = options
    if ctx.invoked_subcommand is None:
        _talk(options)


@_ends
def _talk(options: Options) -> int:
    """Open an interactive session, or say what is missing for one."""
    workspace = prepare(options)
    if not has_model():
        streams.write(welcome())
        if not sys.stdout.isatty():
            streams.tell(
                "pygent: no model: set OPENAI_API_KEY, or OPENAI_BASE_URL; "
                "`pygent demo` needs neither"
            )
        return 3
    check_model()
    run_interactive(
        use_docker=options.docker,
        workspace_name=workspace,
        disabled_tools=options.omit_tool,
        confirm_bash=options.confirm_bash,
        banned_commands=options.ban_cmd,
        preset=options.preset,
    )
    return 0


@app.command("run")
@_ends
def run_command(
    ctx: typer.Context,
    prompt: Annotated[
        str | None,
        typer.Argument(metavar="[PROMPT]", help="What to do; - or nothing reads it from standard input."),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option("-w", "--workspace", metavar="DIR", callback=_folder, help="Work in DIR."),
    ] = None,
    json_lines: Annotated[
        bool, typer.Option("--json", help="Write one event per line, and a result.")
    ] = False,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Ask this model.")] = None,
    max_steps: Annotated[int, typer.Option(min=1, help="End after so many model calls.")] = 100,
    max_time: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="SECONDS", callback=_seconds, help="End after so long."),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(metavar="TIER", callback=_sandbox, help="Run commands in this: local."),
    ] = None,
    persona: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Who the agent is told to be.")
    ] = None,
    omit_tool: Omit = None,
    confirm_bash: Confirm = None,
    ban_cmd: Ban = None,
) -> int:
    """Do one task in the current directory and end; the answer goes to standard output.

    Exit codes: 0 done, 1 failed, 2 usage, 3 configuration or key, 4 a limit was reached, 6 a
    command needed a confirmation, 130 interrupted, 143 terminated.
    """
    before: Options = ctx.obj
    text = read_prompt(prompt)
    if not text.strip():
        raise typer.BadParameter("there is nothing to do: give a prompt", param_hint="PROMPT")
    options = replace(
        before,
        workspace=workspace or before.workspace,
        omit_tool=[*before.omit_tool, *(omit_tool or ())],
        ban_cmd=[*before.ban_cmd, *(ban_cmd or ())],
        confirm_bash=before.confirm_bash if confirm_bash is None else confirm_bash,
    )
    return run_task(
        Task(text, options, json_lines, model, max_steps, max_time, sandbox, persona)
    )


@app.command()
@_ends
def demo() -> int:
    """Watch an agent fix a failing test: no key, no network, scripted replies, real tools."""
    return run_demo()


@app.command()
@_ends
def version() -> int:
    """Tell the version."""
    streams.write(f"{__version__}\n")
    return 0


@app.command()
@_ends
def ui() -> int:
    """Open the web page (not in this version)."""
    raise PygentError(
        "the web page is not in this version, it comes with a later one: use `pygent` on a "
        "terminal, or `pygent run`"
    )


@sessions_app.command("list")
@_ends
def list_command(
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many.")] = 20,
) -> int:
    """List the sessions, the newest first."""
    return list_sessions(limit)


@sessions_app.command("show")
@_ends
def show_command(session: Annotated[str, typer.Argument(help="The session's id.")]) -> int:
    """Show what was said and done in a session."""
    return show_session(session)
