"""The one screen that `pygent` shows when there is no model to talk to."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..version import __version__
from .servers import USUAL, Server, find_servers

__all__ = ["welcome"]

_HEAD = """\
Pygent {version} needs a model to talk to. Set a key, or the address of a server:

  export OPENAI_API_KEY=...                   # for https://api.openai.com/v1
  export OPENAI_BASE_URL=http://HOST:PORT/v1  # any OpenAI-compatible server
  export PYGENT_MODEL=...                     # gpt-4.1-mini unless you set it
"""
_TAIL = """
Then         pygent                           # talk
             pygent run "fix the tests"       # one task, no terminal needed
Before that  pygent demo                      # watch it work, without a key
"""
_SHOWN = 5


def welcome(servers: Sequence[Server] | None = None) -> str:
    """Return the screen, with the servers that answer on this machine."""
    found = find_servers() if servers is None else servers
    return "\n".join([_HEAD.format(version=__version__), *_on_this_machine(found), _TAIL])


def _on_this_machine(found: Sequence[Server]) -> list[str]:
    if not found:
        looked = ", ".join(f"{name} ({port})" for name, port in USUAL.items())
        return ["On this machine no server answers. Looked for", f"  {looked}."]
    lines = ["On this machine these answer:"]
    for server in found:
        more = len(server.models) - _SHOWN
        names = ", ".join(server.models[:_SHOWN]) or "no models yet"
        lines += [
            "",
            f"  {server.name}: {names}{f' and {more} more' if more > 0 else ''}",
            f"    export OPENAI_BASE_URL={server.url}",
        ]
        if server.models:
            lines.append(f"    export PYGENT_MODEL={shlex.quote(server.models[0])}")
    return lines
