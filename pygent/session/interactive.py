"""The session on a plain terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..agent import Agent
from ..agent_presets import AGENT_PRESETS
from ..commands import say
from ..config import make_dir, state_dir, text
from ..errors import ConfigError
from ..runtime import Runtime
from ..runtime.choice import decide
from .base import Session
from .storing import stored_log

__all__ = ["CliSession", "run_interactive"]


class CliSession(Session):
    """A session on standard input and output, in plain text.

    ``hint`` is what to say of the workspace, behind its path.
    """

    hint = ""

    def start_message(self) -> None:
        """Say who is there, where commands run, and where files are."""
        super().start_message()
        say(f"Workspace: {self.agent.runtime.base_dir}{self.hint}")

    def get_input(self, prompt: str) -> str:
        """Return a line that the user typed."""
        if sys.stdin is not None and sys.stdin.isatty():
            _edit_lines()
        return input(prompt)

    def end_session(self) -> None:
        """Close the agent, and say where the session is kept."""
        super().end_session()
        log = getattr(self.agent, "log", None)
        if log is not None and log.store is not None and log.state.last_turn is not None:
            say(f"The session is kept: pygent sessions show {log.session}")


def _edit_lines() -> None:
    """Have input() edit lines and remember them; what is pasted at once is one message."""
    try:
        import readline
    except ImportError:
        return
    if text("TERM") not in (None, "dumb"):
        readline.parse_and_bind("set enable-bracketed-paste on")


def run_interactive(
    use_docker: bool | None = None,
    workspace_name: str | Path | None = None,
    disabled_tools: Iterable[str] | None = None,
    confirm_bash: bool | None = None,
    banned_commands: Iterable[str] | None = None,
    preset: str | None = None,
) -> None:
    """Talk to a new agent in the terminal; the session is kept among the user's sessions.

    ``workspace_name`` is a directory, made if need be, and never deleted. Without one, and without
    ``PYGENT_WORKSPACE``, the session gets a new one of its own, which is kept if anything is in it.
    """
    if preset is not None and preset not in AGENT_PRESETS:
        raise ConfigError(f"no preset is called {preset!r}: there are {', '.join(AGENT_PRESETS)}")
    decide(None, use_docker)  # what cannot be had leaves no empty session
    workspace = None if workspace_name is None else Path.cwd() / workspace_name
    own: dict[str, Any] = {} if confirm_bash is None else {"confirm_bash": confirm_bash}
    log = stored_log(workspace)
    made_up = None
    if workspace is None and text("PYGENT_WORKSPACE") is None:
        workspace = made_up = make_dir(state_dir() / "workspaces") / log.session
        log.workspace = str(workspace)
    try:
        agent = (Agent if preset is None else AGENT_PRESETS[preset].create_agent)(
            runtime=Runtime(
                use_docker=use_docker, workspace=workspace, banned_commands=banned_commands
            ),
            disabled_tools=list(disabled_tools or ()),
            log=log,
            **own,
        )
        session = CliSession(agent)
        session.hint = " (made for this session; --cwd works where you are)" if made_up else ""
        session.run()
    finally:
        if made_up is not None:
            _leave(made_up)
        if log.store is not None:
            log.store.close()


def _leave(workspace: Path) -> None:
    """Remove a workspace that is empty, and say where one is that is not."""
    try:
        workspace.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        say(f"The workspace is kept: {workspace}")
