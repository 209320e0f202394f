"""Running the cases: each in a fresh process, in turns, so that all see the same weather."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .measures import Case

ROOT = Path(__file__).parents[1]
MEASURED = """
import sys, time
start = time.process_time()
{code}
took, modules = time.process_time() - start, len(sys.modules)
try:
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        kib = next(line.split()[1] for line in status if line.startswith("VmRSS"))
except OSError:
    from benchmarks.usage import memory
    kib = memory()
print(took, modules, kib)
"""

Samples = dict[str, dict[str, list[float]]]
"""Of each case, of each of its values: one number a round."""


def run(cases: Iterable[Case], rounds: int, tell: Callable[[str], None]) -> Samples:
    """Run every case once a round, each round beginning with another one."""
    todo = list(cases)
    samples: Samples = {case.key: {} for case in todo}
    with _server() as port, tempfile.TemporaryDirectory() as folder:
        env = _environment(port)
        first = os.path.join(folder, "first.json")
        Path(first).write_text(_child("request", {}, env)["body"])
        for case in todo:
            if case.what == "python":
                _python(case.args["code"], env)  # so that nothing is compiled while it counts
        for number in range(rounds):
            turn = number * max(1, len(todo) // rounds) % len(todo)
            for case in todo[turn:] + todo[:turn]:
                tell(f"round {number + 1} of {rounds}: {case.key}")
                for name, value in _once(case, env, first).items():
                    if not isinstance(value, str):
                        samples[case.key].setdefault(name, []).append(value)
    return samples


def _once(case: Case, env: dict[str, str], first: str) -> dict[str, Any]:
    if case.what == "python":
        return _python(case.args["code"], env)
    extra = {"first": first} if case.needs_first else {}
    return _child(case.what, {**case.args, **extra}, env)


def _child(what: str, args: dict[str, Any], env: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.child", what, json.dumps(args)]
    ran = subprocess.run(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
    )
    if ran.returncode:
        raise SystemExit(f"measuring {what} {args} failed: its error is above")
    result: dict[str, Any] = json.loads(ran.stdout)
    return result


def _python(code: str, env: dict[str, str]) -> dict[str, float]:
    """Start an interpreter, run the code, and return what the whole process took."""
    process = subprocess.Popen(
        [sys.executable, "-c", MEASURED.format(code=code)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        words = process.stdout.read().split()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"python -c {code!r} failed: its error is above")
    return {
        "cpu_ms": float(words[0]) * 1e3,
        "process_ms": (used.ru_utime + used.ru_stime) * 1e3,
        "modules": int(words[1]),
        "rss_mib": float(words[2]) / 1024,
    }


@contextmanager
def _server() -> Generator[int]:
    """Run the mock server in a process of its own; yields its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.mock"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def _environment(port: int) -> dict[str, str]:
    """Return this environment without settings that would change what is measured."""
    ours = ("PYGENT_", "OPENAI_")
    env = {k: v for k, v in os.environ.items() if not k.startswith((*ours, "PYTHON"))}
    for name in [name for name in env if name.lower().endswith("_proxy")]:
        del env[name]
    return env | {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
