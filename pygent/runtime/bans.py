"""The lists of commands and applications that a model is not to use.

They are a convenience against what a model does by habit, and no boundary: a shell has more ways
to run a program than anybody can list. What must not happen is what a sandbox is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set as AbstractSet

__all__ = ["find_ban"]

_BETWEEN = frozenset(";&|()\n")
_BEFORE_COMMANDS = frozenset(
    (
        *("env", "sudo", "doas", "command", "builtin", "exec", "nohup", "nice", "time", "timeout"),
        *("xargs", "setsid", "stdbuf", "eval"),
        *("!", "{", "if", "then", "elif", "else", "while", "until", "do"),
    )
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))


def find_ban(command: str, commands: AbstractSet[str], apps: AbstractSet[str]) -> str | None:
    """Return what to say when a command line uses something banned, else None.

    A banned command is one that is run; a banned application is a word anywhere.
    """
    if not commands and not apps:
        return None
    for part in _parts(command):
        for name in _run_by(part):
            if name in commands:
                return f"command '{name}' disabled"
        for word in part:
            if _base(word) in apps:
                return f"application '{_base(word)}' disabled"
        if part and any(_base(word) in _SHELLS | {"eval"} for word in part):
            for word in part[1:]:
                if " " in word and (found := find_ban(word, commands, apps)):
                    return found
    return None


def _parts(command: str) -> Iterator[list[str]]:
    """Split a command line into its simple commands, quotes and backslashes taken away."""
    import shlex

    lexer = shlex.shlex(command.replace("\\\n", ""), posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    part: list[str] = []
    try:
        for word in lexer:
            if set(word) <= _BETWEEN:
                yield part
                part = []
            else:
                part.append(word)
    except ValueError:
        # Quotes that do not close, as in a here-document: the words as they stand.
        yield from (piece.split() for piece in re.split(r"[;&|()\n]+", command))
        return
    yield part


def _run_by(words: list[str]) -> Iterator[str]:
    """Yield the program that a simple command runs, and each that it is only started through."""
    through = False
    for word in words:
        name = _base(word)
        if _ASSIGNMENT.match(word) or (through and re.match(r"-|[0-9.]+[smhd]?$", word)):
            continue
        yield name
        if name not in _BEFORE_COMMANDS:
            return
        through = True


def _base(word: str) -> str:
    return word.strip("`$").rpartition("/")[2]
