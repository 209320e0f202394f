"""A test that leaves processes or threads behind fails, by name, instead of the next one.

A process counts as left behind when it is a child of the test process, or when it works in the
test's own folder (a command that a runtime started and lost has its workspace there).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_PATIENCE = 3.0  # what has been told to stop may take a moment to be gone
_PROC = Path("/proc")


def _stat(pid: int) -> tuple[str, int] | None:
    """Return a process's state and parent; None when it is gone."""
    try:
        state, parent = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return state, int(parent)


def _works_in(pid: int, folder: str) -> bool:
    try:
        place = str((_PROC / str(pid) / "cwd").readlink()).removesuffix(" (deleted)")
    except OSError:
        return False
    return place == folder or place.startswith(f"{folder}/")


def processes(folder: Path) -> dict[int, str]:
    """Return the processes that this one started, or that work in the folder: pid to command.

    Where the system has no /proc to look in, none are found.
    """
    if not _PROC.is_dir():
        return {}
    me = os.getpid()
    found = {}
    for pid in (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal()):
        stat = None if pid == me else _stat(pid)
        if stat is None:
            continue
        state, parent = stat
        if parent == me or (state != "Z" and _works_in(pid, str(folder))):
            command = (_PROC / str(pid) / "comm").read_text().strip() if _stat(pid) else "gone"
            found[pid] = f"{command} ({state})"
    return found


def threads() -> set[threading.Thread]:
    """Return the living threads that would keep the process from ending."""
    return {one for one in threading.enumerate() if not one.daemon}


def remaining(look: Callable[[], list[str]], patience: float = _PATIENCE) -> list[str]:
    """Look until there is nothing left, or the patience is used up."""
    deadline = time.monotonic() + patience
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


@pytest.fixture(autouse=True)
def _nothing_left_behind(isolated: Path, tmp_path: Path) -> Iterator[None]:
    before, threads_before = set(processes(tmp_path)), threads()
    yield

    def left() -> list[str]:
        started = processes(tmp_path)
        return [
            *(f"process {pid}: {what}" for pid, what in started.items() if pid not in before),
            *(f"thread {one.name}" for one in threads() - threads_before),
        ]

    if still := remaining(left):
        pytest.fail(f"left behind: {', '.join(sorted(still))}", pytrace=False)
