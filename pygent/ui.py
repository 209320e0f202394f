"""The promised place of the web page, which comes with a later version."""

from __future__ import annotations

import sys
from typing import NoReturn

from .errors import PygentError

__all__ = ["main", "run_gui"]


def run_gui(use_docker: bool | None = None) -> NoReturn:
    """Raise a `PygentError`: there is no web page in this version."""
    raise PygentError(
        "run_gui() is not in this version: the web page comes with a later one; until then use "
        "`pygent` on a terminal, or `pygent run`"
    )


def main() -> int:
    """Say that there is no web page, for the script ``pygent-ui``."""
    try:
        run_gui()
    except PygentError as error:
        print(f"pygent-ui: {error}", file=sys.stderr)  # noqa: T201
    return 1
