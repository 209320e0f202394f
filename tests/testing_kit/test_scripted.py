"""`ScriptedModel` is strict in both directions."""

from __future__ import annotations

import threading
import time

import pytest

import pygent.testing
from pygent import Agent, APIError
from pygent.events import Delta
from pygent.messages import Message
from pygent.testing import ScriptedModel, call, calls


def test_replies_in_all_their_forms():
    """A text, a message, a dictionary, an exception, a function of the messages."""
    model = ScriptedModel(
        [
            "text",
            Message("assistant", "message"),
            {"content": "dictionary"},
            APIError("down"),
            lambda messages: f"seen {len(messages)}",
        ]
    )
    ask = [{"role": "user", "content": "hi"}]
    assert [model.chat(ask).content for _ in range(3)] == ["text", "message", "dictionary"]
    with pytest.raises(APIError, match="down"):
        model.chat(ask)
    assert model.chat(ask).content == "seen 1"
    model.assert_done()


def test_an_unexpected_request_fails_twice():
    """At once, and again when the script is checked: code that swallows errors cannot hide it."""
    model = ScriptedModel(["one"])
    model.chat([{"role": "user", "content": "a"}])
    with pytest.raises(AssertionError, match="request 2 was not expected"):
        model.chat([{"role": "user", "content": "b"}])
    with pytest.raises(AssertionError, match="request 2 was not expected"):
        model.assert_done()


def test_a_reply_that_was_never_asked_for_fails():
    """Leaving the block says how many there are; an error of the block itself is not hidden."""
    never = pytest.raises(AssertionError, match="2 replies were never asked for")
    with never, ScriptedModel(["a", "b"]):
        pass


def test_a_text_alone_is_one_reply():
    """A single reply needs no list."""
    with ScriptedModel("ab") as model:
        assert model.chat([]).content == "ab"


def test_an_error_in_the_block_is_the_one_that_is_seen():
    """A test that fails for its own reason fails with that reason."""
    with pytest.raises(ZeroDivisionError), ScriptedModel(["never"]):
        raise ZeroDivisionError


def test_requests_are_kept_as_they_were():
    """What the agent does to its history later changes nothing."""
    with ScriptedModel([call("stop"), "two"]) as model:
        agent = Agent(model=model, display=False)
        agent.run("first")
        agent.run("second")
        agent.history[1]["content"] = "changed"
        assert [m["content"] for m in model.requests[0] if m["role"] == "user"] == ["first"]
        assert len(model.requests[1]) > len(model.requests[0])


def test_one_reply_with_several_calls():
    """`calls` puts them in one message, each with an id of its own."""
    reply = calls(call("bash", cmd="true"), call("stop"), text="both")
    assert [c.function.name for c in reply.tool_calls] == ["bash", "stop"]
    assert len({c.id for c in reply.tool_calls}) == 2
    assert reply.content == "both"


def test_it_streams_its_text():
    """The pieces add up to the whole, which comes last."""
    *pieces, whole = ScriptedModel("one two  three\n").stream([])
    assert all(isinstance(piece, Delta) for piece in pieces)
    assert "".join(piece.text for piece in pieces) == whole.content == "one two  three\n"
    assert len(pieces) == 3


def test_all_of_the_kit_is_there():
    """Each name can be imported, and `dir` tells it."""
    for name in pygent.testing.__all__:
        assert getattr(pygent.testing, name)
    assert set(dir(pygent.testing)) >= set(pygent.testing.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = pygent.testing.nothing


def test_a_function_that_hangs_is_left_behind(tmp_path):
    """A deadline holds for it as for any other model of somebody's own."""
    release = threading.Event()
    model = ScriptedModel([lambda messages: release.wait(30), "in time"])
    agent = Agent(model=model, workspace=tmp_path, display=False)
    started = time.monotonic()
    agent.run("go", max_time=0.3)
    assert time.monotonic() - started < 5
    assert agent.history[-1]["content"] == "[timeout after 0.3s]"
    assert agent.run("again").content == "in time"
    release.set()
