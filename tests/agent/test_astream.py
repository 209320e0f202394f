"""`astream`: the same events, for async callers."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from pygent.errors import APIError
from pygent.tools import register_tool
from tests.agent.models import Scripted, Streaming, call, calls, ends, kinds, make, until


def run(coroutine):
    """Run a coroutine, and see that no thread of it stays."""
    before = threading.active_count()
    result = asyncio.run(coroutine)
    until(lambda: threading.active_count() <= before, "the end of the threads")
    return result


def test_the_events_of_a_turn_in_order(tmp_path):
    """They are those of `stream`, deltas in between."""

    async def main():
        agent = make(Streaming(calls(call("glob", pattern="*")), "one two"), tmp_path)
        before = agent.log.state.seq
        items = [item async for item in agent.astream("go", max_steps=5)]
        return agent, before, items

    agent, before, items = run(main())
    events = [item for item in items if item.type != "delta"]
    assert [e.type for e in events] == kinds(agent, before)
    assert [i.text for i in items if i.type == "delta"] == [" ", "one ", "two "]


def test_the_event_loop_is_free_meanwhile(tmp_path):
    """Other tasks run while a tool blocks."""
    ticks = []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.01)

    async def main():
        register_tool("slow", "", {"properties": {}}, lambda rt: time.sleep(0.3))
        agent = make(Scripted(calls(call("slow")), "ok"), tmp_path)
        ticking = asyncio.create_task(tick())
        async for _ in agent.astream("go"):
            pass
        ticking.cancel()

    run(main())
    assert len(ticks) > 5


def test_leaving_early_cancels_the_turn(tmp_path):
    """`aclose` stops the command that is running, and returns when it is dead."""
    register_tool("slow", "", {"properties": {}}, lambda rt: rt.run("sleep 60", timeout=None))

    async def main():
        agent = make(Scripted(calls(call("slow"))), tmp_path)
        stream = agent.astream("go")
        async for event in stream:
            if event.type == "tool_started":
                break
        await stream.aclose()
        assert ends(agent) == ["cancelled"]
        return agent

    started = time.monotonic()
    run(main())
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("when", [0.0, 0.05, 0.2])
def test_a_task_that_is_cancelled_cancels_the_turn(tmp_path, when):
    """Whenever that is: before the first event, or while a command runs."""
    register_tool("slow", "", {"properties": {}}, lambda rt: rt.run("sleep 60", timeout=None))
    agent = make(Scripted(calls(call("slow"))), tmp_path)

    async def consume():
        async for _ in agent.astream("go"):
            pass

    async def main():
        task = asyncio.create_task(consume())
        await asyncio.sleep(when)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    run(main())
    assert time.monotonic() - started < 5
    assert ends(agent) in ([], ["cancelled"])
    agent.model.replies[:] = ["ok"]
    assert agent.run("again").content == "ok"


def test_an_exception_arrives(tmp_path):
    """After the events before it."""

    async def main():
        agent = make(Scripted(APIError("no")), tmp_path)
        seen = []
        with pytest.raises(APIError, match="no"):  # noqa: PT012 - the loop is what raises
            async for event in agent.astream("go"):
                seen.append(event.type)  # noqa: PERF401 - what came before the error counts
        return seen

    assert run(main())[-2:] == ["model_failed", "turn_ended"]


def test_several_agents_at_once(tmp_path):
    """Each has its thread; they do not wait for each other."""
    barrier = threading.Barrier(3)

    def meet(_):
        barrier.wait(10)
        return {"role": "assistant", "content": "met"}

    async def one():
        return [e async for e in make(Scripted(meet), tmp_path).astream("go")][-1].reason

    async def main():
        return await asyncio.gather(one(), one(), one())

    assert run(main()) == ["answer"] * 3


def test_the_sync_api_works_inside_an_event_loop(tmp_path):
    """`run` is plain blocking code, also where a loop runs."""

    async def main():
        return make("ok", tmp_path).run("go").content

    assert run(main()) == "ok"
