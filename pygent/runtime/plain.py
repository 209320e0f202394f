"""Commands that need no shell: starting one costs as much as the rest of a small command."""

from __future__ import annotations

import re

__all__ = ["plain_words"]

# Nothing a shell would look at twice: no quote, variable, pattern, redirection or assignment.
_PLAIN = re.compile(r"[A-Za-z0-9_.,:@%+/-]+(?: +[A-Za-z0-9_.,:@%+/=-]+)*")

# What a shell does itself, and other than a program of that name would.
_BUILTIN = frozenset(
    [
        ".",
        ":",
        "alias",
        "bg",
        "bind",
        "break",
        "builtin",
        "caller",
        "case",
        "cd",
        "command",
        "compgen",
        "complete",
        "compopt",
        "continue",
        "coproc",
        "declare",
        "dirs",
        "disown",
        "do",
        "done",
        "echo",
        "elif",
        "else",
        "enable",
        "esac",
        "eval",
        "exec",
        "exit",
        "export",
        "fc",
        "fg",
        "fi",
        "for",
        "function",
        "getopts",
        "hash",
        "help",
        "history",
        "if",
        "in",
        "jobs",
        "kill",
        "let",
        "local",
        "logout",
        "mapfile",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "read",
        "readarray",
        "readonly",
        "return",
        "select",
        "set",
        "shift",
        "shopt",
        "source",
        "suspend",
        "test",
        "then",
        "time",
        "times",
        "trap",
        "type",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "until",
        "wait",
        "while",
    ]
)


def plain_words(command: str) -> list[str] | None:
    """Return the words of a command that a shell would only split and execute; None of others.

    The caller falls back to the shell when no such program can be started.
    """
    if not _PLAIN.fullmatch(command):
        return None
    words = command.split()
    if words[0] in _BUILTIN or (words[0] in ("true", "false") and len(words) > 1):
        return None
    return words
