"""Ctrl-C, for real: a child process gets SIGINT, and tells what became of its agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = """
import json, os, signal, sys, threading, time
from pygent.agent import Agent
from pygent.events import Delta
from pygent.messages import Message
from tests.agent.models import Scripted, call, calls, ends, answers, kinds, well_answered, until

def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

def interrupt_when(condition, times=1):
    def wait():
        until(condition)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=wait, daemon=True).start()

def interrupted(agent, way="step"):
    started = time.monotonic()
    try:
        getattr(agent, way)("go")
    except KeyboardInterrupt:
        # While the interrupt is being handled the agent can be used already.
        again = agent.step("again")
        return {
            "took": time.monotonic() - started,
            "again": again.content,
            "ends": ends(agent),
            "answers": answers(agent),
            "well_answered": well_answered(agent),
            "kinds": kinds(agent),
            "roles": [m["role"] for m in agent.history],
        }
    return "not interrupted"
"""


def child(body: str, folder: Path) -> dict:
    """Run a program and return the JSON that it prints last."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(body)],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYGENT_SANDBOX": "local"},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("way", ["step", "run", "run_until_stop"])
def test_during_a_command(tmp_path, way):
    """The whole tree is dead, the call answered, the workspace kept, the agent usable."""
    told = child(
        f"""
        hang = "echo one; (setsid sleep 97 & echo $! >> pids); echo $$ >> pids; sleep 98"
        reply = calls(call("bash", "a", cmd=hang, timeout=90), call("bash", "b", cmd="touch ran"))
        agent = Agent(model=Scripted(reply, "fine"), display=False)
        folder, shown = agent.runtime.base_dir, []
        agent.log.subscribe(lambda item: item.type == "delta" and shown.append(item.text))
        def begun():
            path = folder / "pids"
            there = path.exists() and len(path.read_text().split()) == 2
            return there and "one" in "".join(shown).split()
        interrupt_when(begun)
        told = interrupted(agent, {way!r})
        pids = [int(pid) for pid in (folder / "pids").read_text().split()]
        until(lambda: not [pid for pid in pids if alive(pid)])
        told["kept"] = (folder / "pids").exists() and not (folder / "ran").exists()
        agent.runtime.cleanup()
        print(json.dumps(told))
        """,
        tmp_path,
    )
    assert told["again"] == "fine"
    assert told["ends"] == ["interrupted", "step"]
    assert told["well_answered"]
    first, second = told["answers"]
    assert "one" in first
    assert "interrupted by the user" in first
    assert "not run" in second
    assert told["kept"]
    assert told["took"] < 5


def test_during_a_stream(tmp_path):
    """The request is over at once, its text is in the log and not in the conversation."""
    told = child(
        """
        from pygent.models import OpenAIModel
        from pygent.testing.server import ChatServer
        from pygent.testing.wire import Fault, Reply
        head = b'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\\n\\n'
        with ChatServer([Reply(body=[head, Fault.HANG]), "fine"]) as server:
            agent = Agent(model=OpenAIModel(server.url, "k"), display=False)
            deltas = []
            agent.log.subscribe(lambda event: event.type == "delta" and deltas.append(event.text))
            interrupt_when(lambda: deltas)
            told = interrupted(agent)
            told["partial"] = [e.partial for e in agent.log.events() if e.type == "model_failed"]
        print(json.dumps(told))
        """,
        tmp_path,
    )
    assert told["again"] == "fine"
    assert told["ends"] == ["interrupted", "step"]
    assert told["partial"] == ["half"]
    assert told["roles"] == ["system", "user", "user", "assistant"]
    assert told["took"] < 3


def test_during_a_request(tmp_path):
    """A request without an answer is over at once."""
    told = child(
        """
        from pygent.models import OpenAIModel
        from pygent.testing.server import ChatServer
        from pygent.testing.wire import Fault, Reply
        with ChatServer([Reply(before=[Fault.HANG]), "fine"]) as server:
            agent = Agent(model=OpenAIModel(server.url, "k"), display=False)
            interrupt_when(lambda: server.requests)
            print(json.dumps(interrupted(agent)))
        """,
        tmp_path,
    )
    assert (told["again"], told["ends"]) == ("fine", ["interrupted", "step"])
    assert told["took"] < 3


def test_during_parallel_tools(tmp_path):
    """What runs side by side is stopped, all of it."""
    told = child(
        """
        from pygent.tools import register_tool
        begun = []
        def slow(rt):
            begun.append(1)
            rt.run("sleep 96", timeout=None)
        register_tool("slow", "", {"properties": {}}, slow, effect="pure")
        agent = Agent(model=Scripted(calls(call("slow", "a"), call("slow", "b")), "fine"), display=False)
        interrupt_when(lambda: len(begun) == 2)
        told = interrupted(agent)
        def sleeping():
            found = []
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline") as file:
                        line = file.read()
                    mine = str(agent.runtime.base_dir) in os.readlink(f"/proc/{pid}/cwd")
                except OSError:
                    continue
                if mine and "sleep" in line:
                    found.append(pid)
            return found
        until(lambda: not sleeping())
        agent.runtime.cleanup()
        print(json.dumps(told))
        """,
        tmp_path,
    )
    assert (told["again"], told["ends"]) == ("fine", ["interrupted", "step"])
    assert told["well_answered"]
    assert len(told["answers"]) == 2


def test_during_a_python_model_and_a_python_tool(tmp_path):
    """Plain Python code is interrupted where it is."""
    told = child(
        """
        from pygent.tools import register_tool
        begun = []
        def think(_):
            begun.append(1)
            time.sleep(60)
        agent = Agent(model=Scripted(think, "fine"), display=False)
        interrupt_when(lambda: begun)
        told = [interrupted(agent)]
        worked = []
        def work(rt):
            worked.append(1)
            time.sleep(60)
        register_tool("work", "", {"properties": {}}, work)
        agent = Agent(model=Scripted(calls(call("work")), "fine"), display=False)
        interrupt_when(lambda: worked)
        told.append(interrupted(agent))
        print(json.dumps(told))
        """,
        tmp_path,
    )
    for one in told:
        assert (one["again"], one["ends"]) == ("fine", ["interrupted", "step"])
        assert one["well_answered"]


def test_between_two_events(tmp_path):
    """An interrupt at any line of the driver of the loop leaves one end, and an idle agent."""
    told = child(
        """
        import pygent.agent.agent as module
        ends_, line = set(), 0
        while True:
            line += 1
            left = [line]
            def trace(frame, what, arg):
                if frame.f_code is not module._drain.__code__:
                    return trace if frame.f_code.co_filename == module.__file__ else None
                if what == "line":
                    left[0] -= 1
                    if not left[0]:
                        raise KeyboardInterrupt
                return trace
            agent = Agent(model=Scripted(calls(call("glob", pattern="*")), "x", "y"), display=False)
            sys.settrace(trace)
            try:
                agent.run("go")
                reached = True
            except KeyboardInterrupt as error:
                reached = False
            finally:
                sys.settrace(None)
            if left[0] > 0:
                break
            assert len(ends(agent)) <= 1, (line, ends(agent))
            assert well_answered(agent), line
            ends_.update(ends(agent))
            agent.run("again")
            agent.runtime.cleanup()
        print(json.dumps([line, sorted(ends_)]))
        """,
        tmp_path,
    )
    line, reasons = told
    assert line > 10
    assert "interrupted" in reasons
    assert set(reasons) <= {"interrupted", "answer"}
