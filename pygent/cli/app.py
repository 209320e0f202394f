"""The commands."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, ParamSpec

import typer

from ..demo import run_demo
from ..errors import PygentError
from ..session import run_interactive
from ..version import __version__
from . import options as o, streams
from .guard import guarded
from .headless import Task, run_task
from .prompts import read_prompt
from .sessions import list_sessions, show_session
from .setup import Options, check_model, has_model, prepare
from .usage import Group, TaskCommand
from .welcome import welcome

__all__ = ["app", "main"]

P = ParamSpec("P")

app = typer.Typer(
    help="A coding agent: alone it opens a session in the terminal, `run` does one task.",
    cls=Group,
    invoke_without_command=True,
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
sessions_app = typer.Typer(help="See the sessions that were kept.", no_args_is_help=True)
app.add_typer(sessions_app, name="sessions")


def _ends(work: Callable[P, int]) -> Callable[P, NoReturn]:
    """Make what a command returns the exit code, whatever Typer makes of errors and signals."""

    @functools.wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        raise typer.Exit(guarded(lambda: work(*args, **kwargs)))

    return command


@app.callback()
def main(
    ctx: typer.Context,
    docker: o.Docker = None,
    config: o.Config = None,
    workspace: o.Workspace = None,
    cwd: o.Cwd = False,
    pyconfig: o.PyConfig = None,
    env: o.Env = None,
    load: o.Load = None,
    omit_tool: o.Omit = None,
    confirm_bash: o.Confirm = None,
    ban_cmd: o.Ban = None,
    preset: o.Preset = None,
    version: o.Version = False,
) -> None:
    """Take the options that hold for every command; without a command, open a session."""
    ctx.obj = Options(
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
    if ctx.invoked_subcommand is None:
        _talk(ctx.obj)


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


@app.command("run", cls=TaskCommand)
@_ends
def run_command(
    ctx: typer.Context,
    prompt: o.Prompt = None,
    workspace: o.Folder = None,
    json_lines: o.Json = False,
    model: o.Model = None,
    max_steps: o.MaxSteps = 100,
    max_time: o.MaxTime = None,
    sandbox: o.Sandbox = None,
    persona: o.Persona = None,
    omit_tool: o.Omit = None,
    confirm_bash: o.Confirm = None,
    ban_cmd: o.Ban = None,
) -> int:
    """Do one task in the current directory and end.

    PROMPT says what to do; without it, or with -, it is read from standard input. What is piped in
    besides a PROMPT is appended to it. The answer goes to standard output, all else to standard
    error.

    Exit codes: 0 done, 1 failed, 2 usage, 3 configuration or key, 4 a limit was reached, 6 a
    command needed a confirmation, 130 interrupted, 143 terminated.
    """
    before: Options = ctx.obj
    text = read_prompt(prompt)
    if not text.strip():
        raise typer.BadParameter(
            'there is nothing to do: say it, as in pygent run "fix the tests"', param_hint="PROMPT"
        )
    if workspace is None and before.workspace is not None:
        o.check_folder(before.workspace)
    options = replace(
        before,
        workspace=workspace or before.workspace,
        omit_tool=[*before.omit_tool, *(omit_tool or ())],
        ban_cmd=[*before.ban_cmd, *(ban_cmd or ())],
        confirm_bash=before.confirm_bash if confirm_bash is None else confirm_bash,
    )
    return run_task(Task(text, options, json_lines, model, max_steps, max_time, sandbox, persona))


@app.command()
@_ends
def demo() -> int:
    """Watch an agent fix a failing test.

    No key and no network are needed: the replies are scripted, the tools are real.
    """
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
def list_command(limit: o.Limit = 20) -> int:
    """List the sessions, the newest first."""
    return list_sessions(limit)


@sessions_app.command("show")
@_ends
def show_command(session: o.Session = None) -> int:
    """Show what was said and done in a session.

    ID is the session's name; without it, the last one is shown.
    """
    return show_session(session)
