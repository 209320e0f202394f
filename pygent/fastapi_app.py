"""The promised place of the HTTP server, which comes with a later version."""

from __future__ import annotations

from typing import NoReturn

from .errors import PygentError

__all__ = ["create_app"]


def create_app() -> NoReturn:
    """Raise a `PygentError`: there is no server in this version."""
    raise PygentError(
        "create_app() is not in this version: the HTTP server comes with a later one; until then "
        "drive an Agent with run() or stream()"
    )
