"""The demo itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from ..agent import Agent
from ..config import text
from ..errors import ConfigError, PygentError
from ..log import Log
from ..runtime import Runtime
from .page import Page
from .replay import ReplayModel

__all__ = ["run_demo"]

HERE = Path(__file__).parent
TASK = "The tests of this project fail. Find out why, and fix it."
CHECK = "python3 -m unittest"
_PACE = 0.03


def run_demo() -> int:
    """Let an agent fix the sample project, and show it; returns 0 if its tests are green then."""
    watched = sys.stdout.isatty()
    page = Page(coloured=watched and not text("NO_COLOR") and text("TERM") != "dumb")
    with _project() as (folder, runtime):
        page.title(folder, TASK)
        agent = Agent(
            runtime=runtime,
            model=ReplayModel(HERE / "session.jsonl", pace=_PACE if watched else 0.0),
            model_name="scripted",
            history_file=None,
            log_file=None,
            confirm_bash=False,
            display=False,
            log=Log(),
        )
        problem = _work(agent, page)
        checked = runtime.run(CHECK)
        if problem or checked.exit_code != 0:
            page.failed(problem or f"{CHECK} still fails:\n{checked.output}")
            return 1
        page.done(CHECK, folder)
    return 0


def _work(agent: Agent, page: Page) -> str:
    """Do the task; returns what went wrong, if anything."""
    try:
        with closing(agent.stream(TASK)) as items:
            for item in items:
                page.show(item)
    except PygentError as error:
        return str(error)
    finally:
        agent.close()
    return ""


@contextmanager
def _project() -> Generator[tuple[Path, Runtime]]:
    """Make a copy of the sample project, and delete it in the end."""
    import shutil
    import tempfile

    files = sorted(path for path in (HERE / "project").iterdir() if path.is_file())
    try:
        folder = Path(tempfile.mkdtemp(prefix="pygent-demo-"))
    except OSError as error:
        raise ConfigError(
            "no folder for temporary files can be written to: set TMPDIR to one that can"
        ) from error
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    runtime = Runtime(
        workspace=folder,
        initial_files=files,
        sandbox="local",
        env={"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        yield folder, runtime
    finally:
        runtime.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
