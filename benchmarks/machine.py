"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator


def facts(rounds: int) -> str:
    """Return one sentence about the interpreter, the machine and its load."""
    system = f"{platform.system()} {platform.release()}"
    load = f"load average {os.getloadavg()[0]:.1f}"
    told = f"{platform.python_implementation()} {platform.python_version()}, {_cores()} cores"
    model = next(_models(), "")
    return (
        f"{told}{f' ({model})' if model else ''}, {system}; {load} at the end; "
        f"medians of {rounds} round{'' if rounds == 1 else 's'}, with the least and the most."
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _models() -> Iterator[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            yield from (
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            )
    except OSError:
        return
