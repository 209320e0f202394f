"""What `Runtime.bash` says around a command's output, and what it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

from ..errors import ConfigError
from .sandbox import CommandResult

__all__ = ["Teller", "check_command", "check_list", "check_timeout", "ending", "with_ending"]

T = TypeVar("T")

_LONGEST = 120_000


def check_command(command: object) -> str:
    """Return a command that can be handed to a shell, or say why it cannot."""
    if not isinstance(command, str):
        raise TypeError(f"a command is a string, not {type(command).__name__}: {command!r:.80}")
    if "\0" in command:
        raise ValueError(f"a command cannot hold a NUL character: {command!r:.80}")
    try:
        size = len(command.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"a command cannot hold half a character: {command!r:.80}") from error
    if size > _LONGEST:
        raise ValueError(
            f"a command of {size} bytes is too long: write it to a file and run that "
            f"(at most {_LONGEST} bytes)"
        )
    return command


def check_timeout(timeout: object) -> float | None:
    """Return a number of seconds that is not negative, or None for no limit."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout={timeout!r} is no number of seconds")
    if math.isnan(timeout) or timeout < 0:
        raise ValueError(f"timeout={timeout!r} is not a number of seconds from 0 on")
    return None if math.isinf(timeout) else float(timeout)


def check_list(name: str, value: Iterable[T] | None) -> Iterable[T]:
    """Return a list, empty where none was given; a text is not taken for a list of letters."""
    if isinstance(value, str | bytes):
        raise ConfigError(f"{name} is {value!r:.80}: give a list, [{value!r:.80}]")
    return value or ()


def ending(result: CommandResult, timeout: float | None) -> str:
    """Return the last line about a command: empty when it ended well."""
    if result.timed_out:
        return f"[timeout after {_seconds(timeout)}s]"
    if result.signal is not None:
        return f"[killed by {result.signal}]"
    if result.exit_code:
        return f"[exit code {result.exit_code}]"
    return ""


def with_ending(output: str, last: str) -> str:
    """Put the last line below the output, on a line of its own."""
    return f"{output}\n{last}" if last and output and not output.endswith("\n") else output + last


class Teller:
    """Hands pieces to whoever watches, and knows whether a line is still open."""

    def __init__(self, call: Callable[[str], None]) -> None:
        self._call = call
        self._open = False

    def __call__(self, text: str) -> None:
        """Hand on a piece."""
        self._open = not text.endswith("\n")
        self._call(text)

    def last(self, text: str) -> None:
        """Hand on the last line, if there is one to say."""
        if text:
            self._call(f"\n{text}\n" if self._open else f"{text}\n")


def _seconds(timeout: float | None) -> str:
    if timeout is None:
        return "?"
    return str(int(timeout)) if timeout == int(timeout) else repr(timeout)
