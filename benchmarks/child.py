"""The measured process: ``python -m benchmarks.child WHAT JSON`` measures once, prints JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import threading
import time
from typing import Any

from .mock import prompt
from .usage import measured, memory

WARM_UP = 3


def side(who: str, first: str = "") -> Any:
    """Return whoever is measured; only that is imported."""
    if who == "floor":
        from .floor import Floor

        with open(first, "rb") as file:
            return Floor(os.environ["OPENAI_BASE_URL"], file.read())
    from .ours import Ours, OursWatched

    return OursWatched() if who == "ours watched" else Ours()


def steps(who: str, first: str, steps: int, command: str = "true") -> dict[str, float]:
    """One session of so many steps, each a command: CPU milliseconds a step."""
    one = side(who, first)
    one.session(prompt(WARM_UP))
    used = measured(lambda: _same(one.session(prompt(steps, command)), steps))
    return {
        "cpu_ms": used.cpu / steps * 1e3,
        "self_ms": used.cpu_self / steps * 1e3,
        "wall_ms": used.wall / steps * 1e3,
    }


def agents(who: str, first: str, agents: int, steps: int) -> dict[str, float]:
    """So many sessions at once, a thread each: CPU seconds of all, and the clock's."""
    one = side(who, first)
    one.session(prompt(WARM_UP))
    ran: list[int] = []
    threads = [
        threading.Thread(target=lambda: ran.append(one.session(prompt(steps))))
        for _ in range(agents)
    ]

    def work() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        _same(sum(ran), agents * steps)

    used = measured(work)
    return {"cpu_s": used.cpu, "wall_s": used.wall, "peak_mib": memory(peak=True) / 1024}


def holding(agents: int, steps: int) -> dict[str, float]:
    """How much memory one more agent takes: idle, or after a turn of so many steps."""
    from .ours import make_agent, work

    with make_agent() as first:
        work(first, prompt(WARM_UP))
    gc.collect()
    before, held = memory(), []
    for _ in range(agents):
        held.append(make_agent())
        if steps:
            _same(work(held[-1], prompt(steps)), steps)
    gc.collect()
    grown = memory() - before
    for agent in held:
        agent.close()
        agent.runtime.cleanup()
    return {"kib": grown / agents}


def request() -> dict[str, Any]:
    """The first request of an agent with the tools that are offered by default."""
    from urllib.request import urlopen

    side("ours").session(prompt())
    address = os.environ["OPENAI_BASE_URL"]
    with urlopen(f"{address}/first") as answer:
        body = answer.read()
    parts = json.loads(body)
    return {
        "bytes": len(body),
        "tools_bytes": len(json.dumps(parts["tools"], separators=(",", ":"))),
        "tools": len(parts["tools"]),
        "body": body.decode(),
    }


def output(who: str, first: str, size: int) -> dict[str, float]:
    """One command that prints so many bytes: CPU milliseconds, and how far memory rose."""
    one = side(who, first)
    one.session(prompt(WARM_UP))
    line = "0123456789abcdef" * 4
    before = memory()
    used = measured(lambda: one.session(prompt(1, f"yes {line} | head -c {size}")))
    return {
        "cpu_ms": used.cpu * 1e3,
        "self_ms": used.cpu_self * 1e3,
        "peak_mib": (memory(peak=True) - before) / 1024,
    }


def deltas(who: str, first: str, deltas: int, packed: int) -> dict[str, float]:
    """A streamed answer, from the socket to the yielded piece: CPU microseconds a piece."""
    one = side(who, first)
    one.stream(prompt(deltas=WARM_UP))
    used = measured(lambda: _same(one.stream(prompt(deltas=deltas, packed=packed)), deltas))
    return {"us": used.cpu_self / deltas * 1e6}


def appends(store: str, have: int, appends: int) -> dict[str, float]:
    """Appending to a log that has so many events: CPU microseconds an event."""
    from pygent.events import ToolFinished
    from pygent.log import Log
    from pygent.store import SQLiteStore

    event = ToolFinished(call="bench", name="bash", content="$ true\n" + "text " * 40)
    with tempfile.TemporaryDirectory() as folder:
        kept = SQLiteStore(os.path.join(folder, "bench.db")) if store == "sqlite" else None
        log = Log(kept)
        for _ in range(have):
            log.append(event)
        gc.collect()
        before = time.process_time()
        for _ in range(appends):
            log.append(event)
        took = time.process_time() - before
        log.close()
        if kept is not None:
            kept.close()
    return {"us": took / appends * 1e6}


def _same(ran: int, expected: int) -> None:
    if ran != expected:
        raise RuntimeError(f"{ran} of {expected} steps went well: nothing was measured")


MEASURES = {
    measure.__name__: measure
    for measure in (steps, agents, holding, request, output, deltas, appends)
}

if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](**json.loads(sys.argv[2]))))
