"""`Session`: reads messages, runs commands, drives an agent; how it looks is a subclass's affair."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import Any

from ..agent import Agent
from ..commands import COMMANDS, say
from ..errors import PygentError
from .asking import approver, question_of
from .screen import Screen

__all__ = ["Session"]

TWICE = 2.0
"""Within so many seconds a second Ctrl-C at the prompt ends the session."""

_OPEN = """\
WARNING: commands are NOT isolated. They run on this machine, as you, and can
read and change all that you can. (--no-docker says that you mean it)"""
_MEANT = "Commands are not isolated ({})."
_COMMAND = re.compile(r"/[\w-]*(\s|$)")


class Session(ABC):
    """An interactive session with an agent.

    Only ``get_input`` has to be written; it may raise `EOFError` when the user is gone.
    """

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self._interrupted = -TWICE

    @abstractmethod
    def get_input(self, prompt: str) -> str:
        """Return what the user answers to a prompt."""

    def ask(self, prompt: str, options: list[str]) -> str:
        """Return which of the options the user chose, or whatever the user said instead."""
        return self.get_input(f"{prompt} ({'/'.join(options)}): ")

    def start_message(self) -> None:
        """Say who is there and where commands run."""
        mode = "Docker" if self.agent.runtime.use_docker else "local"
        say(f"{self.agent.persona.name} ({mode}) started. (Type /exit to quit)")
        choice = getattr(self.agent.runtime, "choice", None)
        if choice is not None and not choice.isolated:
            say(_OPEN if choice.asked_for is None else _MEANT.format(choice.asked_for))
        say("Type /help for a list of available commands.")

    def end_session(self) -> None:
        """Close the agent; a workspace that was named stays, a temporary one is deleted."""
        self.agent.close()
        self.agent.runtime.cleanup()

    def run(self) -> None:
        """Talk until ``/exit``, the end of input, or Ctrl-C twice at the prompt."""
        try:
            self.start_message()
            message: str | None = ""
            while message is not None:
                message = self._handle(message or self._read())
        finally:
            self.end_session()

    def _read(self) -> str | None:
        """Return the next message; None when the user is gone."""
        while True:
            try:
                line = self.get_input(">>> ")
            except EOFError:
                say("")  # what follows is not to stand behind the prompt
                return None
            except KeyboardInterrupt as error:
                _only_ctrl_c(error)
                now = time.monotonic()
                if now - self._interrupted < TWICE:
                    say("")
                    return None
                self._interrupted = now
                say("\n(Ctrl-C again exits, as does /exit)")
            else:
                self._interrupted = -TWICE
                return line

    def _handle(self, text: str | None) -> str | None:
        """Do what a line asks for; returns the next one, empty to read it, or None at the end."""
        words = (text or "").split(maxsplit=1)
        if text is None or words[:1] == ["/exit"] or text.strip() in ("quit", "q"):
            return None
        if not words:
            return ""
        if words[0] in COMMANDS:
            self._command(words[0], words[1] if len(words) > 1 else "")
            return ""
        if _COMMAND.match(text):
            say(f"no command is called {words[0]}; /help lists them, a leading blank sends it")
            return ""
        return self._converse(text)

    def _command(self, name: str, argument: str) -> None:
        try:
            result = COMMANDS[name](self.agent, argument)
        except KeyboardInterrupt as error:
            _only_ctrl_c(error)
            say("\n[interrupted]")
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - a command's failure is told, and ends nothing
            say(_told(error))
        else:
            if isinstance(result, Agent):
                self.agent = result

    def _converse(self, text: str) -> str | None:
        """Have the agent work on a message and answer its questions; returns the next message."""
        while True:
            question = question_of(self._turn(text))
            if question is None:
                return ""
            prompt, options = question
            if not options:
                say(f"{self.agent.persona.name} asks: {prompt}")
                return ""
            try:
                answer = self.ask(prompt or "Choose", options)
            except EOFError:
                return None
            except KeyboardInterrupt as error:
                _only_ctrl_c(error)
                say("")
                return ""
            if answer not in options:
                return answer
            text = answer

    def _turn(self, text: str) -> Any:
        """Have the agent work on one message; whatever goes wrong, the session goes on."""
        agent, reply, problem = self.agent, None, ""
        shown = getattr(agent, "log", None) is not None and agent.display is not False
        screen = Screen(agent) if shown else None
        try:
            with screen or nullcontext(), approver(agent, self.get_input):
                # A turn ends with a plain answer, where the agent knows how to do that.
                work = agent.run if hasattr(agent, "run") else agent.run_until_stop
                reply = work(text)
        except KeyboardInterrupt as error:
            _only_ctrl_c(error)
            problem = "\n[interrupted]"
        except Exception as error:  # noqa: BLE001 - told below; the next message goes on
            problem = _told(error)
        if screen is not None and screen.gone is not None:
            raise screen.gone
        if problem:
            say(problem)
        return reply


def _only_ctrl_c(error: KeyboardInterrupt) -> None:
    """Let pass on what is more than the user's Ctrl-C: a signal that ends the process."""
    if type(error) is not KeyboardInterrupt:
        raise error


def _told(error: Exception) -> str:
    """Return a failure in one line."""
    text = " ".join(str(error).split())
    return f"error: {text}" if isinstance(error, PygentError) else f"{type(error).__name__}: {text}"
