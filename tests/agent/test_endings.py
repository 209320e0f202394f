"""However a turn ends, its end is recorded once, with the reason, and every call is answered."""

from __future__ import annotations

import threading

import pytest

from pygent.errors import APIError, Cancelled, ConfigError
from pygent.tools import register_tool
from tests.agent.models import Scripted, call, calls, ends, kinds, make, until, well_answered

NOTHING = {"type": "object", "properties": {}}


def raising(error):
    def tool(rt):
        raise error

    register_tool("bad", "", NOTHING, tool)


@pytest.mark.parametrize("error", [APIError("no"), ValueError("bug"), TypeError()])
@pytest.mark.parametrize("way", ["step", "run", "run_until_stop"])
def test_a_model_that_fails_is_told_and_recorded(tmp_path, error, way):
    """The error comes out, the log has it, and the next turn works."""
    agent = make(Scripted(error, "back again"), tmp_path)
    with pytest.raises(type(error)):
        getattr(agent, way)("go")
    assert ends(agent) == ["error"]
    assert kinds(agent)[-2:] == ["model_failed", "turn_ended"]
    assert agent.run("again").content == "back again"


def test_a_reply_that_is_none_is_a_clear_error(tmp_path):
    """A model that returns something else than a message is named."""
    agent = make(Scripted(lambda _: 42), tmp_path)
    with pytest.raises(TypeError, match="int"):
        agent.step("go")
    assert ends(agent) == ["error"]


def test_stream_yields_the_end_before_an_error(tmp_path):
    """Readers of a stream see all that was recorded, then the error."""
    agent = make(Scripted(ValueError("bug")), tmp_path)
    seen = []
    with pytest.raises(ValueError, match="bug"):  # noqa: PT012 - the loop is what raises
        for event in agent.stream("go"):
            seen.append(event)  # noqa: PERF402 - what came before the error counts
    assert [event.type for event in seen][-2:] == ["model_failed", "turn_ended"]


def test_leaving_a_stream_early_cancels_the_turn(tmp_path):
    """At whatever event a reader leaves, there is one end and every call has an answer."""
    script = [
        calls(call("write_file", "a", path="a", content=""), call("glob", "b", pattern="*")),
        "done",
    ]
    whole = len(list(make(Scripted(*script), tmp_path).stream("go")))
    for count in range(1, whole):
        agent = make(Scripted(*script, "next"), tmp_path)
        events = agent.stream("go")
        for _ in range(count):
            next(events)
        events.close()
        assert ends(agent) in (["cancelled"], ["answer"]), count
        assert well_answered(agent), count
        assert agent.run("again") is not None


def test_leaving_at_any_event_of_a_timeout_leaves_one_end(tmp_path):
    """A reader that goes away while a limit is being told does not lose the turn's end."""

    def events(count):
        agent = make(Scripted(default="hm"), tmp_path)
        stream = agent.stream("go", max_time=0)
        seen = [event for _, event in zip(range(count), stream, strict=False)]
        stream.close()
        return agent, seen

    whole = len(events(100)[1])
    for count in range(1, whole + 1):
        agent, _ = events(count)
        assert len(ends(agent)) == 1, count


def test_a_reader_that_raises_leaves_one_end(tmp_path):
    """An error thrown into the stream ends the turn with it."""
    agent = make(Scripted("x"), tmp_path)
    stream = agent.stream("go")
    next(stream)
    with pytest.raises(KeyboardInterrupt):
        stream.throw(KeyboardInterrupt())
    assert ends(agent) == ["interrupted"]


def test_cancelling_before_the_reply_makes_step_say_so(tmp_path):
    """`step` has no reply to return then."""

    def cancelled(_):
        agent.cancel()
        raise Cancelled("cancelled")

    agent = make(Scripted(cancelled, "fine"), tmp_path)
    with pytest.raises(Cancelled):
        agent.step("go")
    assert ends(agent) == ["cancelled"]
    assert agent.step("again").content == "fine"


def test_cancel_answers_the_calls_that_did_not_run(tmp_path):
    """Calls behind the one that was cancelled are answered as not run."""
    register_tool("quit", "", NOTHING, lambda rt: agent.cancel())
    agent = make(Scripted(calls(call("quit"), call("bash", cmd="touch x"))), tmp_path)
    agent.run("go")
    assert ends(agent) == ["cancelled"]
    assert well_answered(agent)
    assert "not run" in agent.history[-1]["content"]
    assert not (agent.runtime.base_dir / "x").exists()


def test_an_interrupt_in_a_tool_is_answered(tmp_path):
    """A KeyboardInterrupt comes out, its call and those behind it are answered."""
    raising(KeyboardInterrupt())
    agent = make(Scripted(calls(call("bad"), call("glob", pattern="*")), "fine"), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        agent.step("go")
    assert ends(agent) == ["interrupted"]
    assert well_answered(agent)
    assert agent.run("again").content == "fine"


def test_an_interrupt_between_two_events_ends_the_turn_at_once(tmp_path):
    """The agent is usable while the interrupt is still being handled."""

    def interrupt(event):
        if event.type == "model_requested" and not ends(agent):
            raise KeyboardInterrupt

    agent = make(Scripted("fine", "fine"), tmp_path)
    agent.log.subscribe(interrupt)
    try:
        agent.step("go")
    except KeyboardInterrupt:
        assert agent.step("again").content == "fine"
    assert ends(agent) == ["interrupted", "step"]


@pytest.mark.parametrize("error", [ValueError("bad value"), SystemExit(3), RuntimeError()])
def test_a_tool_that_raises_is_told_to_the_model(tmp_path, error):
    """Whatever a tool raises, the loop goes on; a tool does not end the program either."""
    raising(error)
    agent = make(Scripted(calls(call("bad")), "I see"), tmp_path)
    assert agent.run("go").content == "I see"
    told = next(m for m in agent.history if m["role"] == "tool")["content"]
    assert type(error).__name__ in told
    assert str(error) in told


def test_cancel_of_an_idle_agent_does_nothing(tmp_path):
    """There is nothing to stop, and the next turn runs."""
    agent = make("ok", tmp_path)
    agent.cancel()
    assert agent.run("go").content == "ok"


def test_two_threads_that_cancel_end_one_turn_once(tmp_path):
    """Cancelling twice is cancelling once."""
    begun = threading.Event()

    def slow(rt):
        begun.set()
        rt.run("sleep 30", timeout=None)

    register_tool("slow", "", NOTHING, slow)
    agent = make(Scripted(calls(call("slow"))), tmp_path)
    worker = threading.Thread(target=agent.run, args=("go",))
    worker.start()
    until(begun.is_set)
    agent.cancel()
    agent.cancel()
    worker.join(5)
    assert not worker.is_alive()
    assert ends(agent) == ["cancelled"]


@pytest.mark.parametrize(
    "field",
    [
        {"max_non_tool_replies": "2"},
        {"max_non_tool_replies": -1},
        {"system_message_builder": "text"},
        {"approve": True},
    ],
    ids=str,
)
def test_a_field_that_makes_no_sense_is_named(tmp_path, field):
    """When the agent is made, and not in the middle of its work."""
    ((name, value),) = field.items()
    with pytest.raises(ConfigError, match=f"{name} is {value!r}"):
        make("never", tmp_path, **field)
