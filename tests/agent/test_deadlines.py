"""Limits really interrupt: whatever hangs is over within a second of its deadline."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest

from pygent.models import OpenAIModel
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply
from pygent.tools import register_tool
from tests.agent.models import Scripted, answers, call, calls, ends, make, until, well_answered

NOTHING = {"type": "object", "properties": {}}
LIMIT = 0.6
LIMITS = ["step_timeout", "max_time"]


@pytest.fixture
def release():
    """Let what hangs go on when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def timed(agent, way="run_until_stop", **limits):
    started = time.monotonic()
    getattr(agent, way)("go", **limits)
    took = time.monotonic() - started
    (limit,) = limits.values()
    assert took < limit + 1
    assert agent.history[-1] == {"role": "system", "content": f"[timeout after {limit:g}s]"}
    assert ends(agent) == ["timeout"]
    assert well_answered(agent)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("way", ["run", "run_until_stop"])
def test_a_hung_command_dies_with_all_its_children(tmp_path, limit, way):
    """The shell, its children, and a child that left the session are dead; the next turn works."""
    hang = "echo begun; echo $$ > pids; (setsid sleep 98 & echo $! >> pids); sleep 99 & echo $! >> pids; wait"
    agent = make(
        Scripted(
            calls(call("bash", "a", cmd=hang, timeout=50), call("bash", "b", cmd="touch ran")),
            calls(call("bash", cmd="echo fine")),
            "ok",
        ),
        tmp_path,
    )
    timed(agent, way, **{limit: LIMIT})
    pids = [int(pid) for pid in (agent.runtime.base_dir / "pids").read_text().split()]
    assert len(pids) == 3
    until(lambda: not [pid for pid in pids if alive(pid)], "the end of the whole tree")
    first, second = answers(agent)
    assert first.startswith("$ echo begun")
    assert "\nbegun\n" in first
    assert f"[timeout after {LIMIT}s]" in first
    assert "not run" in second
    assert not (agent.runtime.base_dir / "ran").exists()
    agent.run("again")
    assert answers(agent)[-1] == "$ echo fine\nfine\n"


@pytest.mark.parametrize("limit", LIMITS)
def test_a_hung_python_tool_is_left_behind(tmp_path, limit, release):
    """Its outcome is said to be unknown, its late result is dropped, the next turn works."""
    left = threading.Event()

    def hang(rt):
        release.wait(60)
        left.set()
        return "late"

    register_tool("hang", "", NOTHING, hang)
    agent = make(
        Scripted(
            calls(call("hang"), call("glob", pattern="*")),
            calls(call("write_file", path="a", content="x")),
            "ok",
        ),
        tmp_path,
    )
    timed(agent, **{limit: LIMIT})
    hung, other = answers(agent)
    assert "unknown" in hung
    assert "not run" in other
    outcomes = [e.outcome for e in agent.log.events() if e.type == "tool_finished"]
    assert outcomes == ["unknown", "cancelled"]
    # The workspace is free again, though the tool still runs.
    assert agent.run("again", max_time=5).content == "ok"
    before = agent.log.state.seq
    release.set()
    until(left.is_set)
    time.sleep(0.05)
    assert agent.log.state.seq == before


@pytest.mark.parametrize("limit", LIMITS)
def test_a_hung_python_model_is_left_behind(tmp_path, limit, release):
    """Its late reply is dropped, and the next turn works."""

    def hang(_):
        release.wait(60)
        return {"role": "assistant", "content": "late"}

    agent = make(Scripted(hang, "in time"), tmp_path)
    timed(agent, **{limit: LIMIT})
    release.set()
    assert agent.run("again").content == "in time"
    assert "late" not in [m.get("content") for m in agent.history]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_hung_request_is_torn_down(tmp_path, limit, stream):
    """The connection to a server that never answers is closed at the deadline."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = threading.Event()

        def serve():
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65536):
                    pass
            closed.set()

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        agent = make(OpenAIModel(url, "k"), tmp_path)
        if stream:
            agent.log.subscribe(lambda event: None)
        timed(agent, **{limit: LIMIT})
        assert closed.wait(2)
        thread.join()


def test_a_stream_that_stops_coming_is_torn_down(tmp_path):
    """A reply that hangs in the middle ends at the deadline; what had come is in the log."""
    head = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"half"}}]}\n\n'
    with ChatServer([Reply(body=[head, Fault.HANG]), "fine"]) as server:
        agent = make(OpenAIModel(server.url, "k"), tmp_path)
        seen = list(agent.stream("go", max_time=LIMIT))
        assert [d.text for d in seen if d.type == "delta"] == ["half"]
        failed = next(e for e in seen if e.type == "model_failed")
        assert failed.partial == "half"
        assert agent.history[-1]["content"] == f"[timeout after {LIMIT}s]"
        assert agent.run("again").content == "fine"


def test_parallel_tools_that_hang_end_together(tmp_path, release):
    """Three that hang cost one limit, not three."""
    register_tool("hang", "", NOTHING, lambda rt: release.wait(60), effect="pure")
    agent = make(Scripted(calls(*(call("hang", str(n)) for n in range(3)))), tmp_path)
    timed(agent, step_timeout=LIMIT)


def test_the_step_limit_begins_again_at_each_step(tmp_path):
    """`step_timeout` is for each step, `max_time` for all."""

    def slow(rt):
        time.sleep(0.15)

    register_tool("slow", "", NOTHING, slow)
    agent = make(Scripted(*[calls(call("slow"))] * 4, "ok"), tmp_path)
    assert agent.run("go", step_timeout=0.5).content == "ok"
    agent = make(Scripted(default=calls(call("slow"))), tmp_path)
    agent.run("go", step_timeout=0.5, max_time=0.4)
    assert agent.history[-1]["content"] == "[timeout after 0.4s]"


def test_a_command_that_times_out_by_itself_does_not_end_the_turn(tmp_path):
    """The model's own `timeout` is told to the model."""
    agent = make(Scripted(calls(call("bash", cmd="sleep 60", timeout=0.2)), "I see"), tmp_path)
    assert agent.run("go", step_timeout=20).content == "I see"
    assert "[timeout after 0.2s]" in answers(agent)[0]


def test_a_tool_that_checks_its_scope_stops_by_itself(tmp_path):
    """Code that honours the scope gets a moment to get out, and its outcome is known."""
    from pygent.cancel import CancelScope

    def polite(rt):
        while True:
            CancelScope.current().check()
            time.sleep(0.01)

    register_tool("polite", "", NOTHING, polite)
    agent = make(Scripted(calls(call("polite"))), tmp_path)
    timed(agent, step_timeout=LIMIT)
    assert [e.outcome for e in agent.log.events() if e.type == "tool_finished"] == ["timeout"]


def test_no_threads_pile_up(tmp_path):
    """Turns with limits leave no threads behind."""
    agent = make(Scripted(default=calls(call("stop"))), tmp_path)
    agent.run("go", max_time=20)
    before = threading.active_count()
    for _ in range(20):
        agent.run("go", max_time=20, step_timeout=10)
    until(lambda: threading.active_count() <= before, "the end of the threads")
    assert os.getpid()


@pytest.mark.parametrize("way", ["run", "run_until_stop"])
def test_the_reply_whose_call_was_cut_short_is_returned(tmp_path, way):
    """A limit in the middle of a call does not lose what the model had said."""
    agent = make(Scripted(calls(call("bash", "a", cmd="sleep 50"))), tmp_path)
    reply = getattr(agent, way)("go", max_time=0.3)
    assert reply is not None
    assert [c.id for c in reply.tool_calls] == ["a"]


def test_a_turn_without_a_reply_returns_none(tmp_path, release):
    """What an earlier turn said is not taken for an answer."""
    silent = Scripted("first", lambda *_: release.wait(5))
    agent = make(silent, tmp_path)
    assert agent.run("one").content == "first"
    assert agent.run("two", max_time=0.2) is None
