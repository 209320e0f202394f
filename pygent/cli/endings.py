"""How a command ends: exit code, and the word for it in JSON.

| code | what it says                             | subtype                            |
|------|------------------------------------------|------------------------------------|
| 0    | done                                     | success                            |
| 1    | the run failed                           | error_during_execution             |
| 2    | the command line makes no sense          |                                    |
| 3    | configuration, or authentication         | error_config, error_auth           |
| 4    | a limit was reached: steps, or time      | error_max_turns, error_max_budget  |
| 6    | a permission that nobody could give      | error_permission                   |
| 128+ | a signal: 130 SIGINT, 143 SIGTERM, …     | interrupted                        |
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

from ..errors import APIError, ConfigError, PygentError, SandboxError, StoreError
from ..events import TurnEnded
from .signals import Ended

__all__ = ["Ending", "ending_of", "ending_of_turn"]

_NO_LEAVE = (401, 403)
_TURNS = {
    "stop": (0, "success"),
    "answer": (0, "success"),
    "ask_user": (0, "success"),
    "max_steps": (4, "error_max_turns"),
    "max_replies": (4, "error_max_turns"),
    "timeout": (4, "error_max_budget"),
    "cancelled": (130, "interrupted"),
    "interrupted": (130, "interrupted"),
}
_WORDS = {
    "max_steps": "the limit of steps was reached before the work was done: --max-steps sets a higher one",
    "max_replies": "the limit of plain replies was reached before the work was done",
    "no_reply": "the model replied with nothing, several times",
    "cancelled": "cancelled",
}


@dataclass(frozen=True)
class Ending:
    """An exit code, its word, and a line for the user where something went wrong."""

    code: int
    subtype: str
    error: str | None = None


def ending_of(error: BaseException) -> Ending:
    """Return how a command ends that ended with an error."""
    number = _signal_of(error)
    if number:
        return Ending(128 + number, "interrupted")
    text = " ".join(str(error).split())
    match error:
        case APIError() if error.status in _NO_LEAVE:
            return Ending(3, "error_auth", text)
        case ConfigError() | SandboxError() | StoreError():
            return Ending(3, "error_config", text)
        case PygentError():
            return Ending(1, "error_during_execution", text)
        case OSError() if error.strerror:
            name = f"{error.filename}: " if error.filename else ""
            return Ending(1, "error_during_execution", f"{name}{error.strerror.lower()}")
    return Ending(1, "error_during_execution", f"{type(error).__name__}: {text}")


def _signal_of(error: BaseException) -> int:
    """Return the signal that an error stands for, 0 for none."""
    if isinstance(error, Ended):
        return error.number
    if isinstance(error, KeyboardInterrupt):
        return signal.SIGINT
    return signal.SIGPIPE if isinstance(error, BrokenPipeError) else 0


def ending_of_turn(turn: TurnEnded, *, refused: bool) -> Ending:
    """Return how a run ends whose turn ended like this; ``refused`` tells of calls without leave."""
    code, subtype = _TURNS.get(turn.reason, (1, "error_during_execution"))
    if code == 0 and refused:
        return Ending(
            6,
            "error_permission",
            "a command needed a confirmation that nobody is there to give: without --confirm-bash "
            "and PYGENT_CONFIRM_BASH commands run unasked",
        )
    if code == 0:
        return Ending(code, subtype)
    text = turn.error or _WORDS.get(turn.reason, turn.reason)
    if turn.reason == "timeout":
        text = f"{text}, before the work was done: --max-time sets the limit"
    return Ending(code, subtype, text)
