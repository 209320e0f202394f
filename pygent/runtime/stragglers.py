"""Finding and ending what a command left running, also outside of its process group.

Every command carries a marker in its environment, which its children inherit. On Linux, who has
it is asked of ``/proc``; elsewhere the process group is all there is.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator

__all__ = ["descendants", "end", "kill_marked"]

_PATIENCE = 1.0
_SURE_WINDOW = 2.0
_FEW = 500
_CHANGING = (0.001, 0.004, 0.016)


def end(marker: bytes, pipe: str, leader: int, started: float, killed: Iterable[int] = ()) -> bool:
    """Kill whatever belongs to a command; whether all of it is dead.

    A process belongs to it when it carries the ``marker`` or still holds its ``pipe``. ``leader``
    must not have been reaped yet, and ``started`` is when it was made, on the monotonic clock.
    ``killed`` are others whose end is waited for.
    """
    give_up = time.monotonic() + _PATIENCE
    pause = 0.001
    dying = set(killed)
    while True:
        found = any(map(_lives, dying))
        for pid in _candidates(leader, started):
            if pid != leader and _belongs(pid, marker, pipe):
                found = True
                dying.add(pid)  # it forgets whose it is before it is dead
                _kill(pid)
        if not found:
            return True
        if time.monotonic() > give_up:
            return False
        # The killed need a moment to go, and one may have made another before that.
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def kill_marked(marker: bytes) -> None:
    """Kill every process that carries a marker."""
    for pid in _all():
        if _belongs(pid, marker, ""):
            _kill(pid)


def descendants(leader: int) -> list[int]:
    """Return the processes below another one, as long as the chain of parents is whole."""
    parents: dict[int, list[int]] = {}
    for pid in _all():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(pid)
    below = [leader]
    for pid in below:
        below += parents.get(pid, [])
    return below[1:]


def _candidates(leader: int, started: float) -> Iterable[int]:
    """Return the processes that may have been made since the leader was.

    Numbers are given out in order, so mostly these are few or none. After a while the numbers may
    have gone round once, and then everybody is asked.
    """
    if time.monotonic() - started < _SURE_WINDOW:
        last = _last_pid()
        if last is None:
            return ()
        if leader <= last <= leader + _FEW:
            return range(leader + 1, last + 1)
    return _all()


def _last_pid() -> int | None:
    try:
        file = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return int(os.read(file, 100).split()[-1])
    finally:
        os.close(file)


def _all() -> Iterator[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if name.isdecimal():
            yield int(name)


def _belongs(pid: int, marker: bytes, pipe: str) -> bool:
    try:
        if marker in _variables(pid):
            return pid != os.getpid()
        return pid != os.getpid() and any(
            os.readlink(f"/proc/{pid}/fd/{number}") == pipe for number in (1, 2)
        )
    except OSError:
        return False


def _variables(pid: int) -> bytes:
    """Return a process's environment; while it changes to another program it seems to have none."""
    for pause in _CHANGING:
        found = _environ(pid)
        if found or not _lives(pid):
            return found
        os.readlink(f"/proc/{pid}/exe")  # an OSError for the kernel's own threads
        time.sleep(pause)
    return _environ(pid)


def _environ(pid: int) -> bytes:
    with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
        return file.read()


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
