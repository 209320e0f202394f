"""Tool calls: each gets one answer that helps the model, in the order in which it called."""

from __future__ import annotations

import threading
import time

import pytest

from pygent.errors import Cancelled
from pygent.runtime import Runtime
from pygent.tools import Effect, register_tool
from tests.agent.models import (
    Scripted,
    answers,
    call,
    calls,
    ends,
    make,
    raw_call,
    until,
    well_answered,
)

NOTHING = {"type": "object", "properties": {}}


def test_an_unknown_tool_is_answered_with_those_there_are(tmp_path):
    """The loop goes on, and the model learns what it may call."""
    agent = make(Scripted(calls(call("bsah"), raw_call("", "{}", "x")), "ok"), tmp_path)
    assert agent.run("go").content == "ok"
    first, second = answers(agent)
    assert "'bsah'" in first
    assert "bash" in first
    assert "unknown tool" in second
    outcomes = [e.outcome for e in agent.log.events() if e.type == "tool_finished"]
    assert outcomes == ["error", "error"]


def test_a_disabled_tool_does_not_run(tmp_path):
    """Neither is it offered, nor does it run when the model names it all the same."""
    model = Scripted(calls(call("bash", cmd="touch x")), "ok")
    agent = make(model, tmp_path, disabled_tools=["bash"])
    agent.run("go")
    assert "bash" not in model.offered[0]
    assert "disabled" in answers(agent)[0]
    assert not (agent.runtime.base_dir / "x").exists()
    assert "tool_started" not in [event.type for event in agent.log.events()]


def test_missing_and_repeated_ids_are_made_unique(tmp_path):
    """Each call is answered under an id of its own; the model's own id is kept in the log."""
    reply = calls(
        raw_call("glob", '{"pattern":"a"}', "same"),
        raw_call("glob", '{"pattern":"b"}', "same"),
        raw_call("glob", '{"pattern":"c"}', ""),
    )
    agent = make(Scripted(reply, reply, "ok"), tmp_path)
    agent.run("go")
    ids = [one.id for m in agent.history if m["role"] == "assistant" for one in m.tool_calls or ()]
    assert len(ids) == len(set(ids)) == 6
    assert ids[0] == "same"
    assert all(ids)
    assert well_answered(agent)
    renamed = [e.renamed for e in agent.log.events() if e.type == "model_replied"]
    assert sorted(renamed[0].values()) == ["", "same"]
    assert sorted(renamed[1].values()) == ["", "same", "same"]


def test_ids_of_a_restored_conversation_are_taken(tmp_path):
    """A model that counts its calls from one again after a restart is answered rightly."""
    old = [
        {"role": "user", "content": "a"},
        calls(raw_call("glob", '{"pattern":"a"}', "1")).to_dict(),
        {"role": "tool", "content": "old", "tool_call_id": "1"},
    ]
    agent = make(
        Scripted(calls(raw_call("glob", '{"pattern":"*"}', "1")), "ok"), tmp_path, history=old
    )
    agent.run("go")
    ids = [m["tool_call_id"] for m in agent.history if m["role"] == "tool"]
    assert len(set(ids)) == 2


def test_the_models_reply_is_not_changed(tmp_path):
    """A model may return the same object again and again."""
    reply = calls(raw_call("glob", '{"pattern":"a"}', ""))
    agent = make(Scripted(reply, reply, "ok"), tmp_path)
    agent.run("go")
    assert reply.tool_calls[0].id == ""
    assert well_answered(agent)


def test_pure_calls_run_side_by_side_and_are_answered_in_order(tmp_path):
    """Three calls that wait for each other all return, in the order of the calls."""
    barrier = threading.Barrier(3)

    def meet(rt, name):
        barrier.wait(5)
        if name == "a":
            time.sleep(0.05)
        return name

    register_tool("meet", "", {"properties": {"name": {"type": "string"}}}, meet, effect="pure")
    agent = make(
        Scripted(calls(*(call("meet", n, name=n) for n in "abc")), "ok"),
        tmp_path,
    )
    agent.run("go")
    assert answers(agent) == ["a", "b", "c"]


def test_other_calls_run_one_after_the_other(tmp_path):
    """Calls that change something never overlap, not even with the pure ones beside them."""
    log: list[str] = []

    def work(rt, name):
        log.append(f"+{name}")
        time.sleep(0.02)
        log.append(f"-{name}")

    schema = {"properties": {"name": {"type": "string"}}}
    register_tool("change", "", schema, work)
    register_tool("look", "", schema, work, effect=Effect.PURE)
    order = [("change", "1"), ("change", "2"), ("look", "3"), ("change", "4")]
    agent = make(Scripted(calls(*(call(t, n, name=n) for t, n in order)), "ok"), tmp_path)
    agent.run("go")
    assert log == ["+1", "-1", "+2", "-2", "+3", "-3", "+4", "-4"]


@pytest.mark.parametrize("limit", ["step_timeout", "max_time"])
def test_one_raises_one_hangs_one_is_fine(tmp_path, limit):
    """Three parallel calls get three answers in order, at the deadline of the one that hangs."""
    release = threading.Event()

    def act(rt, how):
        if how == "raise":
            raise ValueError("broken")
        if how == "hang":
            release.wait(60)
        return "fine"

    register_tool("act", "", {"properties": {"how": {"type": "string"}}}, act, effect="pure")
    reply = calls(*(call("act", how, how=how) for how in ("raise", "hang", "fine")))
    agent = make(Scripted(reply, "next"), tmp_path)
    started = time.monotonic()
    agent.run("go", **{limit: 0.5})
    took = time.monotonic() - started
    release.set()
    assert took < 1.5
    raised, hung, fine = answers(agent)
    assert "broken" in raised
    assert "unknown" in hung
    assert fine == "fine"
    assert agent.history[-1] == {"role": "system", "content": "[timeout after 0.5s]"}
    assert ends(agent) == ["timeout"]


def test_changing_calls_of_two_agents_take_turns(tmp_path):
    """Two agents in one workspace never change it at the same time."""
    inside: list[int] = []
    overlaps: list[int] = []

    def change(rt):
        inside.append(1)
        if len(inside) > 1:
            overlaps.append(1)
        time.sleep(0.05)
        inside.pop()
        return "done"

    register_tool("change", "", NOTHING, change)
    agents = [
        make(Scripted(calls(call("change"), call("change", "d")), "ok"), tmp_path) for _ in range(3)
    ]
    threads = [threading.Thread(target=agent.run, args=("go",)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [answers(agent) for agent in agents] == [["done", "done"]] * 3
    assert not overlaps


def test_pure_calls_do_not_wait_for_the_workspace(tmp_path):
    """Reading goes on while somebody else changes the workspace."""
    agent = make(Scripted(calls(call("glob", pattern="*")), "ok"), tmp_path)
    held, done = threading.Event(), threading.Event()

    def hold():
        with Runtime(workspace=agent.runtime.base_dir).lock():
            held.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    until(held.is_set)
    agent.run("go")
    done.set()
    holder.join()
    assert ends(agent) == ["answer"]


def test_a_call_that_waits_for_the_workspace_can_be_cancelled(tmp_path):
    """`cancel` ends the wait for a lock that somebody else holds."""
    agent = make(Scripted(calls(call("write_file", path="a", content="x"))), tmp_path)
    with Runtime(workspace=agent.runtime.base_dir).lock():
        worker = threading.Thread(target=agent.run, args=("go",))
        worker.start()
        until(lambda: "tool_started" in [e.type for e in agent.log.events()])
        agent.cancel()
        worker.join(3)
        assert not worker.is_alive()
    assert ends(agent) == ["cancelled"]
    assert well_answered(agent)
    assert not (agent.runtime.base_dir / "a").exists()


def test_a_tool_that_raises_cancelled_by_itself_is_answered(tmp_path):
    """The call is answered, and the turn goes on: nobody cancelled it."""

    def tool(rt):
        raise Cancelled("mine")

    register_tool("bad", "", NOTHING, tool)
    agent = make(Scripted(calls(call("bad")), "ok"), tmp_path)
    assert agent.run("go").content == "ok"
    assert well_answered(agent)


def test_the_intent_of_an_irreversible_call_is_on_the_disk(tmp_path):
    """It is synced before the call runs; that of other calls need not be."""
    synced = {}
    register_tool("pay", "", NOTHING, lambda rt: "paid")
    agent = make(Scripted(calls(call("pay"), call("glob", pattern="*")), "ok"), tmp_path)
    append = agent.log.append

    def spy(event, *, sync=False):
        if event.type == "tool_started":
            synced[event.name] = sync
        return append(event, sync=sync)

    agent.log.append = spy
    agent.run("go")
    assert synced == {"pay": True, "glob": False}


@pytest.mark.parametrize("wrong", [{"workspace": "file"}, {"initial_files": ["nowhere"]}], ids=str)
def test_a_workspace_that_cannot_be_used_is_told_to_the_model(tmp_path, wrong):
    """Each call is answered with the reason, and the loop goes on."""
    (tmp_path / "file").write_text("no folder")
    made = {"workspace": tmp_path / "file"} if "workspace" in wrong else wrong
    reply = calls(call("bash", "a", cmd="true"), call("glob", "b", pattern="*"))
    agent = make(Scripted(reply, "ok"), None, runtime=Runtime(use_docker=False, **made))
    assert agent.run("go").content == "ok"
    assert all(answer.startswith("[error]") for answer in answers(agent))
    assert len(answers(agent)) == 2
