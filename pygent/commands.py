"""The slash commands of an interactive session."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from . import tools
from .agent import Agent
from .config import save_snapshot
from .display import printable
from .log import Log

__all__ = [
    "COMMANDS",
    "Command",
    "cmd_banned",
    "cmd_cmd",
    "cmd_confirm_bash",
    "cmd_cp",
    "cmd_help",
    "cmd_new",
    "cmd_save",
    "cmd_tools",
    "register_command",
]

Handler = Callable[[Any, str], Any]


@dataclass
class Command:
    """What is called as ``handler(agent, argument)``; it may return the agent to go on with."""

    handler: Handler
    description: str | None = None
    usage: str | None = None

    def __post_init__(self) -> None:
        """Take the description from the handler's docstring if there is none."""
        if self.description is None:
            first = (self.handler.__doc__ or "").strip().split("\n")[0]
            self.description = first

    def __call__(self, agent: Any, arg: str) -> Any:
        """Do it."""
        return self.handler(agent, arg)


def say(text: str, *, end: str = "\n") -> None:
    """Write on standard output, without what could move the cursor or cannot be encoded."""
    import sys

    print(printable(text, getattr(sys.stdout, "encoding", None)), end=end, flush=True)  # noqa: T201


def cmd_cmd(agent: Any, arg: str) -> None:
    """Run a raw shell command in the workspace."""
    if not arg.strip():
        say("usage: /cmd COMMAND")
        return
    agent.runtime.bash(arg, timeout=None, stream=lambda text: say(text, end=""))


def cmd_cp(agent: Any, arg: str) -> None:
    """Copy a file or directory into the workspace."""
    parts = _words(arg)
    if len(parts) not in (1, 2):
        say("usage: /cp SRC [DEST]")
        return
    say(agent.runtime.upload_file(*parts))


def cmd_new(agent: Any, arg: str) -> Any:
    """Begin a new conversation; workspace and settings stay."""
    runtime = agent.runtime
    runtime.on_choice = None
    built = agent.system_msg == agent._prompt._built
    log = Log(agent.log.store, title=agent.log.title, workspace=agent.log.workspace)
    fresh: Agent = replace(
        agent,
        history=[],
        history_file=None,
        log=log,
        workspace=None,
        system_msg="" if built else agent.system_msg,
    )
    if runtime.chosen is not None:
        runtime.on_choice(runtime.chosen)  # the new session's log is to tell it too
    agent.close()
    say("Starting a new session.")
    if agent.history_file is not None:
        say(f"The conversation so far stays in {agent.history_file}; the new one is not put there.")
    return fresh


def cmd_help(agent: Any, arg: str) -> None:
    """Tell which commands there are, or how one of them is used."""
    if arg.strip():
        name = f"/{arg.strip().lstrip('/')}"
        command = COMMANDS.get(name)
        if command is None:
            say(f"No help available for {arg}; /help lists the commands")
            return
        say(f"{name} - {command.description}")
        say(f"Usage: {command.usage or name}")
        return
    say("Available commands:")
    for name, command in sorted(COMMANDS.items()):
        say(f"{name} - {command.description}")
        if command.usage and command.usage != name:
            say(f"    {command.usage}")
    say("/exit - quit the session")


def cmd_save(agent: Any, arg: str) -> None:
    """Save workspace, conversation and settings, without secrets."""
    parts = _words(arg)
    if len(parts) != 1:
        say("usage: /save DIR")
        return
    say(f"Saved environment to {save_snapshot(agent, parts[0])}")


def cmd_tools(agent: Any, arg: str) -> None:
    """List the tools, or enable or disable one of them."""
    match arg.split():
        case [] | ["list"]:
            for name in _tool_names(agent):
                say(f"{name} (disabled)" if name in agent.disabled_tools else name)
        case ["enable", name] if name in agent.disabled_tools:
            agent.disabled_tools.remove(name)
            agent.refresh_system_message()
            say(f"Enabled {name}")
        case ["disable", name] if name not in agent.disabled_tools:
            if name not in _tool_names(agent):
                say(f"no tool is called {name}; /tools lists them")
                return
            agent.disabled_tools.append(name)
            agent.refresh_system_message()
            say(f"Disabled {name}")
        case ["enable" | "disable" as action, name]:
            say(f"{name} already {action}d")
        case _:
            say("usage: /tools [list|enable NAME|disable NAME]")


def cmd_banned(agent: Any, arg: str) -> None:
    """List the banned commands, or add or remove one."""
    banned = agent.runtime.banned_commands
    match arg.split():
        case [] | ["list"]:
            say("\n".join(sorted(banned)) or "no command is banned")
        case ["add", name]:
            banned.add(name)
            say(f"Added {name}")
        case ["remove", name] if name in banned:
            banned.remove(name)
            say(f"Removed {name}")
        case ["remove", name]:
            say(f"{name} not banned; /banned lists those that are")
        case _:
            say("usage: /banned [list|add CMD|remove CMD]")


def cmd_confirm_bash(agent: Any, arg: str) -> None:
    """Tell or change whether bash commands need your confirmation."""
    word = arg.strip().lower()
    if not word:
        say("on" if agent.confirm_bash else "off")
    elif word in ("on", "off"):
        agent.confirm_bash = word == "on"
        say(f"confirmation {'enabled' if agent.confirm_bash else 'disabled'}")
    else:
        say("usage: /confirm-bash [on|off]")


def register_command(
    name: str, handler: Handler, description: str | None = None, usage: str | None = None
) -> None:
    """Add a slash command; a name that is taken is a `ValueError`."""
    if name in COMMANDS:
        raise ValueError(f"command {name} already registered")
    COMMANDS[name] = Command(handler, description, usage)


def _words(arg: str) -> list[str]:
    try:
        return shlex.split(arg)
    except ValueError:  # a quote that is not closed is part of the name
        return arg.split()


def _tool_names(agent: Any) -> Iterable[str]:
    own = agent.tool_names() if isinstance(agent, Agent) else tools.TOOLS
    return sorted({*own, *agent.disabled_tools})


COMMANDS: dict[str, Command] = {
    "/cmd": Command(cmd_cmd, usage="/cmd COMMAND"),
    "/cp": Command(cmd_cp, usage="/cp SRC [DEST]"),
    "/new": Command(cmd_new),
    "/help": Command(cmd_help, usage="/help [COMMAND]"),
    "/save": Command(cmd_save, usage="/save DIR"),
    "/tools": Command(cmd_tools, usage="/tools [list|enable NAME|disable NAME]"),
    "/banned": Command(cmd_banned, usage="/banned [list|add CMD|remove CMD]"),
    "/confirm-bash": Command(cmd_confirm_bash, usage="/confirm-bash [on|off]"),
}
