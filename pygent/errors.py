"""Every error Pygent raises on purpose.

* PygentError
  x ConfigError             a setting, file or argument makes no sense
  x APIError                the model could not be reached or refused the request
    + ReplyError            what it answered cannot be used: cut short, not a reply
      - EmptyReply          it answered with nothing at all
  x SandboxError            a sandbox could not be started or has gone away
  x PathError               a path leaves the workspace, or is not what it should be
  x ToolError               a tool failed in a way the model should hear about
  x StoreError              a session could not be written or read
    + SessionNotFound
  x Cancelled               the work was asked to stop
    + TimedOut              it ran past its deadline

An error's text is lower case and names the value that was wrong and what to do about it.
"""

from __future__ import annotations

__all__ = [
    "APIError",
    "Cancelled",
    "ConfigError",
    "EmptyReply",
    "PathError",
    "PygentError",
    "ReplyError",
    "SandboxError",
    "SessionNotFound",
    "StoreError",
    "TimedOut",
    "ToolError",
]


class PygentError(Exception):
    """Base class: catch this to catch anything Pygent raises on purpose."""


class ConfigError(PygentError, ValueError):
    """A setting, a file or an argument makes no sense."""


class APIError(PygentError):
    """The model could not be reached, or refused the request.

    ``status`` is the HTTP status (None when there was no answer), ``body`` the start of what
    came back, ``request_id`` the server's own name for the request.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        body: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = body
        self.request_id = request_id


class ReplyError(APIError):
    """The server answered, but not with a usable reply."""


class EmptyReply(ReplyError):
    """The server answered with neither text nor a tool call."""


class SandboxError(PygentError):
    """A sandbox could not be started, or has gone away."""


class PathError(PygentError, ValueError):
    """A path leaves the workspace, or names something that cannot be used as asked."""


class ToolError(PygentError):
    """A tool failed in a way the model should hear about."""


class StoreError(PygentError):
    """A session could not be written or read."""


class SessionNotFound(StoreError):
    """The store has no session of that name."""


class Cancelled(PygentError):
    """The work was asked to stop.

    ``output`` is what a command had printed by then; ``abandoned`` says that the code could not be
    stopped and may still be running.
    """

    output: str = ""
    abandoned: bool = False


class TimedOut(Cancelled):
    """The work ran past its deadline, ``seconds`` after it began."""

    def __init__(self, message: str, *, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds
