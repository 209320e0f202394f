"""What this process has used so far."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from typing import NamedTuple


class Used(NamedTuple):
    """Seconds: of the clock, and of the CPU by this process and by its children."""

    wall: float
    cpu_self: float
    cpu_children: float

    @property
    def cpu(self) -> float:
        """All of the CPU's."""
        return self.cpu_self + self.cpu_children


def measured(work: Callable[[], object]) -> Used:
    """Do some work and return what it took."""
    before = _now()
    work()
    after = _now()
    return Used(*(late - early for early, late in zip(before, after, strict=True)))


def _now() -> tuple[float, float, float]:
    mine = resource.getrusage(resource.RUSAGE_SELF)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        time.perf_counter(),
        mine.ru_utime + mine.ru_stime,
        theirs.ru_utime + theirs.ru_stime,
    )


def memory(peak: bool = False) -> float:
    """Return the memory that this process holds, or held at its peak, in KiB."""
    wanted = "VmHWM:" if peak else "VmRSS:"
    if not os.path.exists("/proc/self/status"):
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used / 1024 if os.uname().sysname == "Darwin" else used
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        return next(float(line.split()[1]) for line in status if line.startswith(wanted))
