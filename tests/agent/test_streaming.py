"""Replies that are watched while they are written, and recorded once, whole."""

from __future__ import annotations

import threading

import pytest

from pygent.errors import ReplyError
from pygent.events import Delta
from pygent.messages import Message
from tests.agent.models import Scripted, Streaming, call, calls, ends, kinds, make


class Cut(Streaming):
    """Says two words, and then its line is cut."""

    def stream(self, messages, model, tools=None):
        yield Delta("reasoning", "hm ")
        yield Delta("text", "two ")
        yield Delta("text", "words")
        raise ReplyError("cut off")


def texts(items):
    return [item.text for item in items if isinstance(item, Delta)]


def test_stream_yields_the_deltas_and_records_the_reply_once(tmp_path):
    """Deltas come between the request and the reply; the log has the reply alone."""
    agent = make(Streaming("one two"), tmp_path)
    items = list(agent.stream("go"))
    types = [item.type for item in items]
    assert types == [
        "message_added" if agent.history[0]["role"] == "system" else "",
        "model_requested",
        "delta",
        "delta",
        "model_replied",
        "turn_ended",
    ]
    assert texts(items) == ["one ", "two "]
    assert {d.after for d in items if isinstance(d, Delta)} <= {0, items[1].seq}
    assert "delta" not in kinds(agent)
    assert [m["content"] for m in agent.history[1:]] == ["go", "one two"]
    assert isinstance(agent.history[-1], Message)


def test_subscribers_see_deltas_too(tmp_path):
    """Whoever follows the log sees the reply while `run` works."""
    agent, seen = make(Streaming("one two"), tmp_path), []
    agent.log.subscribe(seen.append)
    agent.run("go")
    assert texts(seen) == ["one ", "two "]
    assert {d.after for d in seen if isinstance(d, Delta)} == {agent.log.state.seq - 2}


def test_a_model_is_not_asked_to_stream_when_nobody_watches(tmp_path):
    """Streaming costs; it is for those who see it."""
    model = Streaming(default="x")
    agent = make(model, tmp_path)
    agent.run("go")
    agent.step("go")
    assert model.streamed == 0
    stop = agent.log.subscribe(lambda event: None)
    agent.run("go")
    stop()
    agent.run("go")
    list(agent.stream("go"))
    assert model.streamed == 2


def test_a_model_without_stream_works_with_stream(tmp_path):
    """There are no deltas then, and nothing else is missing."""
    items = list(make(Scripted("x"), tmp_path).stream("go"))
    assert not texts(items)
    assert items[-1].reason == "answer"


def test_a_cut_stream_leaves_nothing_in_the_conversation(tmp_path):
    """What had come is told with the failure, and is no message."""
    agent = make(Cut(), tmp_path)
    seen = []
    with pytest.raises(ReplyError, match="cut off"):  # noqa: PT012 - the loop is what raises
        for event in agent.stream("go"):
            seen.append(event)  # noqa: PERF402 - what came before the error counts
    assert seen[-2].partial == "two words"
    assert seen[-1].reason == "error"
    assert [m["role"] for m in agent.history] == ["system", "user"]


def test_a_stream_without_a_message_is_an_error(tmp_path):
    """A model of somebody else's that forgets its last word is told so."""

    class Forgetful(Streaming):
        def stream(self, messages, model, tools=None):
            yield Delta("text", "x")

    agent = make(Forgetful(), tmp_path)
    with pytest.raises(ReplyError, match="without a message"):
        list(agent.stream("go"))
    assert ends(agent) == ["error"]


def test_leaving_in_the_middle_of_a_reply_closes_the_models_stream(tmp_path):
    """The model's own generator is closed, so that it can let go of its connection."""
    closed = []

    class Careful(Streaming):
        def stream(self, messages, model, tools=None):
            try:
                yield Delta("text", "a")
                yield Delta("text", "b")
            finally:
                closed.append(1)

    agent = make(Careful(), tmp_path)
    stream = agent.stream("go")
    while not isinstance(next(stream), Delta):
        pass
    stream.close()
    assert closed
    assert ends(agent) == ["cancelled"]
    failed = [e for e in agent.log.events() if e.type == "model_failed"]
    assert [e.partial for e in failed] == ["a"]


def test_a_stream_that_hangs_is_left_behind(tmp_path):
    """Its deadline ends the turn as any other does, though the stream still runs."""
    release = threading.Event()

    class Hanging(Streaming):
        def stream(self, messages, model, tools=None):
            yield Delta("text", "a")
            release.wait(60)
            yield Message("assistant", "late")

    agent = make(Hanging("in time"), tmp_path)
    try:
        items = list(agent.stream("go", step_timeout=0.3))
        assert items[-1].reason == "timeout"
        assert agent.step("again").content == "in time"
    finally:
        release.set()


def test_tool_calls_can_be_streamed(tmp_path):
    """The last item of a stream is the whole message, calls included."""
    agent = make(Streaming(calls(call("glob", pattern="*"), content="look"), "ok"), tmp_path)
    items = list(agent.stream("go"))
    assert "tool_finished" in [item.type for item in items]
    assert items[-1].reason == "answer"


def test_the_output_of_a_command_is_seen_while_it_runs(tmp_path):
    """Subscribers get it piece by piece, under the call's id."""
    agent, seen = make(Scripted(calls(call("bash", "c", cmd="echo hi")), "ok"), tmp_path), []
    agent.log.subscribe(lambda e: e.type == "delta" and seen.append(e))
    agent.run("go")
    assert {(d.what, d.call) for d in seen} == {("output", "c")}
    assert "".join(texts(seen)) == "$ echo hi\nhi\n"
