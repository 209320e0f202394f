"""`cancel` from another thread stops whatever the agent is doing, at once."""

from __future__ import annotations

import threading

import pytest

from pygent.cancel import CancelScope
from pygent.models import OpenAIModel
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply
from pygent.tools import register_tool
from tests.agent.models import (
    Scripted,
    answers,
    call,
    calls,
    ends,
    kinds,
    make,
    until,
    well_answered,
)

NOTHING = {"type": "object", "properties": {}}


def cancelled_when(agent, begun):
    """Run the agent in a thread, cancel it once something holds, and see it end."""
    worker = threading.Thread(target=agent.run, args=("go",))
    worker.start()
    until(begun)
    agent.cancel()
    worker.join(3)
    assert not worker.is_alive()
    assert ends(agent) == ["cancelled"]
    assert well_answered(agent)


def test_during_a_request(tmp_path):
    """A request that waits for its answer is torn down."""
    with ChatServer([Reply(before=[Fault.HANG]), "fine"]) as server:
        agent = make(OpenAIModel(server.url, "k"), tmp_path)
        cancelled_when(agent, lambda: server.requests)
        assert kinds(agent)[-2:] == ["model_failed", "turn_ended"]
        assert agent.run("again").content == "fine"


def test_during_a_stream(tmp_path):
    """A reply that is being streamed is torn down; nothing of it is in the conversation."""
    head = b'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'
    with ChatServer([Reply(body=[head, Fault.HANG]), "fine"]) as server:
        agent = make(OpenAIModel(server.url, "k"), tmp_path)
        deltas = []
        agent.log.subscribe(lambda event: event.type == "delta" and deltas.append(event.text))
        cancelled_when(agent, lambda: deltas)
        failed = [e for e in agent.log.events() if e.type == "model_failed"]
        assert [e.partial for e in failed] == ["half"]
        assert agent.history[-1]["role"] == "user"
        assert agent.run("again").content == "fine"


def test_during_a_command(tmp_path):
    """The command is dead, its call answered with what it had printed, the next turn works."""
    reply = calls(call("bash", cmd="echo one; touch begun; sleep 60", timeout=90), call("stop"))
    agent = make(Scripted(reply, "fine"), tmp_path)
    cancelled_when(agent, (agent.runtime.base_dir / "begun").exists)
    first, second = answers(agent)
    assert "\none\n" in first
    assert "cancelled" in first
    assert "not run" in second
    assert agent.run("again").content == "fine"


def test_during_parallel_tools(tmp_path):
    """All that run side by side are stopped."""
    at_work = []

    def slow(rt):
        at_work.append(1)
        rt.run("sleep 60", timeout=None)

    register_tool("slow", "", NOTHING, slow, effect="pure")
    agent = make(Scripted(calls(*(call("slow", str(n)) for n in range(3))), "fine"), tmp_path)
    cancelled_when(agent, lambda: len(at_work) == 3)
    assert len(answers(agent)) == 3


@pytest.mark.parametrize("limit", [{}, {"max_time": 60}], ids=["endless", "limited"])
def test_a_python_tool_that_asks_its_scope(tmp_path, limit):
    """Tools can find out that they should stop, with and without a limit."""
    begun = threading.Event()

    def polite(rt):
        scope, stopped = CancelScope.current(), threading.Event()
        with scope.stopping(stopped.set):
            begun.set()
            stopped.wait(30)
        scope.check()

    register_tool("polite", "", NOTHING, polite)
    agent = make(Scripted(calls(call("polite"))), tmp_path)
    worker = threading.Thread(target=agent.run, args=("go",), kwargs=limit)
    worker.start()
    until(begun.is_set)
    agent.cancel()
    worker.join(3)
    assert not worker.is_alive()
    assert ends(agent) == ["cancelled"]


@pytest.mark.parametrize("limit", [{}, {"max_time": 60}], ids=["endless", "limited"])
def test_a_python_tool_that_does_not_is_left_behind(tmp_path, limit):
    """Outside of the main thread `cancel` does not wait for it, with or without a limit."""
    begun, release = threading.Event(), threading.Event()

    def rude(rt):
        begun.set()
        release.wait(30)

    register_tool("rude", "", NOTHING, rude)
    agent = make(Scripted(calls(call("rude")), "fine"), tmp_path)
    worker = threading.Thread(target=agent.run, args=("go",), kwargs=limit)
    worker.start()
    until(begun.is_set)
    agent.cancel()
    worker.join(3)
    assert not worker.is_alive()
    release.set()
    assert ends(agent) == ["cancelled"]
    assert "unknown" in answers(agent)[0]
    assert agent.run("again").content == "fine"


def test_a_python_model_is_left_behind(tmp_path):
    """A request of somebody else's making does not hold a turn that was cancelled."""
    begun, release = threading.Event(), threading.Event()

    def hang(_):
        begun.set()
        release.wait(30)
        return {"role": "assistant", "content": "late"}

    agent = make(Scripted(hang, "fine"), tmp_path)
    cancelled_when(agent, begun.is_set)
    release.set()
    assert agent.run("again").content == "fine"
    assert "late" not in [m.get("content") for m in agent.history]
