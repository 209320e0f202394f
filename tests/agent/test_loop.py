"""The loop: what one call of `step`, `run_until_stop`, `run` and `stream` does, in which order."""

from __future__ import annotations

import pytest

from pygent.agent import Agent
from pygent.errors import EmptyReply, PygentError
from pygent.messages import Message
from tests.agent.models import Scripted, call, calls, ends, kinds, make, roles


def test_step_makes_one_model_call(tmp_path):
    """`step` asks once, runs the tools of that reply, and returns it."""
    model = Scripted(calls(call("write_file", path="a", content="x")), "never asked for")
    agent = make(model, tmp_path)
    reply = agent.step("write it")
    assert len(model.seen) == 1
    assert reply.tool_calls[0].function.name == "write_file"
    assert (agent.runtime.base_dir / "a").read_text() == "x"
    assert roles(agent) == ["system", "user", "assistant", "tool"]
    assert ends(agent) == ["step"]


def test_step_without_a_message_goes_on(tmp_path):
    """`step()` sends the conversation as it is; `role` says who speaks."""
    agent = make(Scripted("one", "two", "three"), tmp_path)
    agent.step("hi")
    agent.step()
    agent.step("note", role="system")
    assert roles(agent) == ["system", "user", "assistant", "assistant", "system", "assistant"]


def test_run_until_stop_goes_on_after_a_plain_answer(tmp_path):
    """A plain answer is followed by the user message `continue`, until `stop` is called."""
    model = Scripted("thinking", "still", calls(call("stop")))
    agent = make(model, tmp_path)
    last = agent.run_until_stop("do it")
    said = [m["content"] for m in agent.history if m["role"] == "user"]
    assert said == ["do it", "continue", "continue"]
    assert last.tool_calls[0].function.name == "stop"
    assert ends(agent) == ["stop"]


def test_max_steps_ends_a_turn(tmp_path):
    """`max_steps` is the number of model calls."""
    model = Scripted(default="hm")
    agent = make(model, tmp_path)
    assert agent.run_until_stop("go", max_steps=3).content == "hm"
    assert len(model.seen) == 3
    assert ends(agent) == ["max_steps"]


def test_max_non_tool_replies_ends_a_turn(tmp_path):
    """So many plain answers in a row end it; a tool call begins the count again."""
    work = calls(call("glob", pattern="*"))
    model = Scripted("a", work, "b", "c", "never")
    agent = make(model, tmp_path, max_non_tool_replies=2)
    assert agent.run_until_stop("go").content == "c"
    assert ends(agent) == ["max_replies"]


def test_run_ends_on_a_plain_answer(tmp_path):
    """One question costs one model call."""
    model = Scripted("42")
    agent = make(model, tmp_path)
    assert agent.run("what?").content == "42"
    assert len(model.seen) == 1
    assert ends(agent) == ["answer"]


def test_run_works_until_it_has_an_answer(tmp_path):
    """Tool calls are followed by the next request, without a message in between."""
    agent = make(Scripted(calls(call("glob", pattern="*")), "none"), tmp_path)
    agent.run("which files?")
    assert roles(agent) == ["system", "user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("name", ["ask_user", "continue"])
@pytest.mark.parametrize("way", ["run", "run_until_stop"])
def test_ask_user_ends_the_turn_with_its_own_reason(tmp_path, name, way):
    """A question to the user ends the turn; the answer is the next message."""
    agent = make(Scripted(calls(call(name, prompt="which?")), "thanks"), tmp_path)
    getattr(agent, way)("go")
    assert ends(agent) == ["ask_user"]
    agent.step("the red one")
    assert [m["content"] for m in agent.history if m["role"] == "user"] == ["go", "the red one"]


def test_a_refused_stop_does_not_end_the_turn(tmp_path):
    """Only a call that ran ends a turn."""
    agent = make(
        Scripted(calls(call("stop", why="done")), "the end"),
        tmp_path,
    )
    agent.run("go")
    assert ends(agent) == ["answer"]


@pytest.mark.parametrize(
    "empty",
    [
        Message("assistant", ""),
        {"role": "assistant", "content": None, "tool_calls": None},
        {},
        EmptyReply("nothing"),
    ],
)
@pytest.mark.parametrize("way", ["run", "run_until_stop"])
def test_empty_replies_are_nudged_and_then_end_the_turn(tmp_path, empty, way):
    """An empty reply is answered with a nudge, three of them end the turn."""
    model = Scripted(default=empty)
    agent = make(model, tmp_path)
    getattr(agent, way)("go")
    assert len(model.seen) == 3
    assert ends(agent) == ["no_reply"]
    assert "empty" in agent.history[-1 if isinstance(empty, EmptyReply) else -2]["content"]


def test_a_nudge_helps(tmp_path):
    """After an empty reply the turn goes on as if nothing had been."""
    agent = make(Scripted("", "here I am"), tmp_path)
    assert agent.run("go").content == "here I am"
    assert ends(agent) == ["answer"]


def test_step_tells_of_an_empty_answer_of_the_server(tmp_path):
    """`step` has one call to make: when nothing comes of it, it says so."""
    agent = make(Scripted(EmptyReply("nothing")), tmp_path)
    with pytest.raises(EmptyReply):
        agent.step("go")
    assert ends(agent) == ["error"]


def test_events_are_in_order_and_numbered(tmp_path):
    """A turn is: message, request, reply, intent, result, request, reply, end."""
    agent = make(Scripted(calls(call("write_file", path="a", content="")), "ok"), tmp_path)
    before = agent.log.state.seq
    agent.run("go")
    assert kinds(agent, before) == [
        "message_added",
        "model_requested",
        "model_replied",
        "tool_started",
        "tool_finished",
        "model_requested",
        "model_replied",
        "turn_ended",
    ]
    events = list(agent.log.events())
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.turn for event in events[before:]} == {1}


def test_every_event_is_recorded_before_it_is_yielded(tmp_path):
    """Whoever reads the stream finds in the log what was just yielded, and nothing is left out."""
    agent = make(Scripted(calls(call("bash", cmd="true")), "ok"), tmp_path)
    before, seen = agent.log.state.seq, []
    for event in agent.stream("go"):
        if event.type != "delta":
            assert event in list(agent.log.events(event.seq - 1))
            seen.append(event.seq)
    assert seen == list(range(before + 1, agent.log.state.seq + 1))
    assert "sandbox_chosen" in kinds(agent)


def test_a_reply_keeps_its_usage_and_finish_reason(tmp_path):
    """What a model tells about its reply is in the log and on the message."""
    reply = Message("assistant", "x", usage={"total_tokens": 7}, finish_reason="stop")
    agent = make(Scripted(reply), tmp_path)
    agent.run("go")
    event = next(e for e in agent.log.events() if e.type == "model_replied")
    assert (event.usage, event.finish_reason) == ({"total_tokens": 7}, "stop")
    assert agent.history[-1].usage == {"total_tokens": 7}


def test_unknown_keys_of_a_reply_are_sent_back(tmp_path):
    """What a server adds to its messages comes back to it."""
    model = Scripted({"role": "assistant", "content": "x", "reasoning_content": "why"}, "y")
    agent = make(model, tmp_path)
    agent.run("a")
    agent.run("b")
    assert model.seen[1][2] == {"role": "assistant", "content": "x", "reasoning_content": "why"}


def test_one_agent_does_one_thing_at_a_time(tmp_path):
    """A second turn while one is under way is refused, and the first goes on."""
    agent = make(Scripted("ok"), tmp_path)
    events = agent.stream("one")
    next(events)
    with pytest.raises(PygentError, match="at work already"):
        agent.run("two")
    assert list(events)[-1].reason == "answer"


def test_the_model_comes_from_the_setting_when_an_agent_is_made(tmp_path, monkeypatch):
    """`PYGENT_MODEL` is read when it is used."""
    assert make("x", tmp_path).model_name == "gpt-4.1-mini"
    monkeypatch.setenv("PYGENT_MODEL", "other")
    assert make("x", tmp_path).model_name == "other"


def test_limits_come_from_the_settings_too(tmp_path, monkeypatch):
    """`PYGENT_TASK_TIMEOUT` bounds a turn that names no limit of its own."""
    monkeypatch.setenv("PYGENT_TASK_TIMEOUT", "0")
    agent = make("never", tmp_path)
    assert agent.run_until_stop("go") is None
    assert agent.history[-1] == {"role": "system", "content": "[timeout after 0s]"}


def test_with_closes_the_files_and_cleans_up(tmp_path):
    """Leaving a `with` block removes the workspace that was made up."""
    with Agent(
        model=Scripted(calls(call("write_file", path="a", content="x"))), display=False
    ) as a:
        a.step("go")
        folder = a.runtime.base_dir
        assert (folder / "a").exists()
    assert not folder.exists()
