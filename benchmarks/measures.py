"""What is measured: the cases that are run, and the rows of the table made from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

AGENT = "from pygent.agent import Agent; Agent()"


@dataclass(frozen=True)
class Case:
    """One thing to run in a fresh process: ``what`` of `benchmarks.child`, or Python code."""

    key: str
    what: str
    args: dict[str, Any] = field(default_factory=dict)
    needs_first: bool = False
    """Whether it is given the body of our first request, which the floor sends too."""


@dataclass(frozen=True)
class Row:
    """One line of the table: a value of our case, and of the floor's if there is one."""

    text: str
    unit: str
    value: str
    ours: str
    floor: str | None = None
    aim: str = ""


@dataclass(frozen=True)
class Measure:
    """Cases that belong together."""

    name: str
    cases: list[Case]
    rows: list[Row]


def measures(*, quick: bool = False) -> list[Measure]:
    """Return all measures, with tiny numbers if ``quick``."""
    return [
        _start(),
        _steps((3, 6) if quick else (50, 400, 2000)),
        _agents(*((3, 2) if quick else (100, 20))),
        _memory(*((5, 3, 2) if quick else (1000, 50, 20))),
        _request(),
        _output(1 if quick else 10),
        _deltas(50 if quick else 5000),
        _appends(*((20, 10) if quick else (10_000, 500))),
    ]


def _start() -> Measure:
    cases = [
        Case("start/bare", "python", {"code": "pass"}),
        Case("start/import", "python", {"code": "import pygent"}),
        Case("start/agent", "python", {"code": AGENT}),
    ]
    rows = []
    for key, text, aims in (
        ("start/import", "`import pygent`", ("at most 60", "at most 22")),
        ("start/agent", "`Agent()` made", ("", "")),
    ):
        rows += [
            Row(f"{text}: CPU", "ms", "cpu_ms", key, None, aims[0]),
            Row(f"{text}: CPU of the whole process", "ms", "process_ms", key, "start/bare"),
            Row(f"{text}: memory", "MiB", "rss_mib", key, "start/bare", aims[1]),
            Row(f"{text}: modules", "", "modules", key, "start/bare"),
        ]
    return Measure("start", cases, rows)


def _steps(counts: tuple[int, ...]) -> Measure:
    cases, rows = [], []
    aims = {50: "at most 2.0", 400: "at most 2.5", 2000: "flat"}
    for count in counts:
        ours, floor = _both(f"steps/{count}", "steps", steps=count)
        cases += [ours, floor]
        text = f"CPU a step, {count} steps"
        rows.append(Row(text, "ms", "cpu_ms", ours.key, floor.key, aims.get(count, "")))
        rows.append(Row(f"{text}: without the command's", "ms", "self_ms", ours.key, floor.key))
    ours, floor = _both(f"shell/{counts[0]}", "steps", steps=counts[0], command="true; true")
    cases += [ours, floor]
    text = f"CPU a step, {counts[0]} steps, a command that needs a shell"
    rows.append(Row(text, "ms", "cpu_ms", ours.key, floor.key))
    return Measure("steps", cases, rows)


def _agents(agents: int, steps: int) -> Measure:
    ours, floor = _both("agents", "agents", agents=agents, steps=steps)
    text = f"{agents} agents at once, {steps} steps each"
    rows = [
        Row(f"{text}: CPU", "s", "cpu_s", ours.key, floor.key, "at most 1.5 times the floor"),
        Row(f"{text}: wall", "s", "wall_s", ours.key, floor.key),
        Row(f"{text}: peak memory", "MiB", "peak_mib", ours.key, floor.key),
    ]
    return Measure("agents", [ours, floor], rows)


def _memory(idle: int, busy: int, steps: int) -> Measure:
    cases = [
        Case("memory/idle", "holding", {"agents": idle, "steps": 0}),
        Case("memory/turn", "holding", {"agents": busy, "steps": steps}),
    ]
    rows = [
        Row(f"an idle agent, of {idle}", "KiB", "kib", "memory/idle"),
        Row(f"an agent after {steps} steps, of {busy}", "KiB", "kib", "memory/turn"),
    ]
    return Measure("memory", cases, rows)


def _request() -> Measure:
    rows = [
        Row("first request", "bytes", "bytes", "request", aim="at most 4096"),
        Row("first request: its tools", "bytes", "tools_bytes", "request"),
        Row("first request: how many tools", "", "tools", "request"),
    ]
    return Measure("request", [Case("request", "request")], rows)


def _output(mib: int) -> Measure:
    ours, floor = _both("output", "output", size=mib << 20)
    text = f"{mib} MiB of tool output"
    rows = [
        Row(f"{text}: CPU", "ms", "cpu_ms", ours.key, floor.key),
        Row(f"{text}: without the command's", "ms", "self_ms", ours.key, floor.key),
        Row(f"{text}: rise of the peak memory", "MiB", "peak_mib", ours.key, floor.key),
    ]
    return Measure("output", [ours, floor], rows)


def _deltas(deltas: int) -> Measure:
    cases, rows = [], []
    for packed, text in ((1, "one an HTTP chunk"), (20, "20 an HTTP chunk")):
        ours, floor = _both(f"deltas/{packed}", "deltas", deltas=deltas, packed=packed)
        args = {**ours.args, "who": "ours watched"}
        watched = Case(f"deltas/{packed}/watched", "deltas", args, needs_first=True)
        cases += [ours, floor, watched]
        about = f"a streamed delta, {text}"
        rows += [
            Row(f"{about}: of the model", "µs", "us", ours.key, floor.key, "at most 15"),
            Row(f"{about}: of the agent", "µs", "us", watched.key, floor.key),
        ]
    return Measure("deltas", cases, rows)


def _appends(most: int, appends: int) -> Measure:
    cases, rows = [], []
    for store, text in (("memory", "in memory"), ("sqlite", "in SQLite")):
        for have in (10, most):
            key = f"appends/{store}/{have}"
            args = {"store": store, "have": have, "appends": appends}
            cases.append(Case(key, "appends", args))
            rows.append(Row(f"`Log.append` {text}, after {have} events", "µs", "us", key))
    return Measure("appends", cases, rows)


def _both(key: str, what: str, **args: Any) -> tuple[Case, Case]:
    """Return the same case for us and for the floor."""
    ours, floor = (
        Case(f"{key}/{who}", what, {"who": who, **args}, needs_first=True)
        for who in ("ours", "floor")
    )
    return ours, floor
