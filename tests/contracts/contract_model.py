"""What every model promises that asks a server over HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pygent.cancel import CancelScope
from pygent.errors import APIError, Cancelled, ReplyError, TimedOut
from pygent.events import Delta
from pygent.messages import History, Message, parse_message
from pygent.models import Model, StreamingModel
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply, completion, completion_chunks, event

KEY = "sk-canary-0123456789"
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
CALL = {
    "role": "assistant",
    "content": "I look.",
    "reasoning_content": "what is there?",
    "tool_calls": [
        {
            "id": f"call-{name}",
            "type": "function",
            "function": {"name": name, "arguments": '{"cmd": "ls → ü"}'},
        }
        for name in ("bash", "read_file")
    ],
}


def asked() -> History:
    """Return a conversation that ends with a question."""
    history = History()
    history.add({"role": "system", "content": "be brief"})
    history.add({"role": "user", "content": "what is here? ü"})
    return history


class ModelContract:
    """A model answers, fails with what it was told, and stops when it is asked to."""

    def make(self, server: ChatServer) -> Any:
        """Return the model, asking ``server`` with the key ``KEY``."""
        raise NotImplementedError

    @pytest.fixture
    def server(self) -> Iterator[ChatServer]:
        with ChatServer() as server:
            yield server

    @pytest.fixture
    def model(self, server: ChatServer) -> Any:
        return self.make(server)

    def test_it_answers(self, server, model):
        """A plain reply is an assistant's message; the question and the model's name arrive."""
        server.add("hello → ü")
        reply = parse_message(model.chat(asked(), "some-model", None))
        assert isinstance(model, Model)
        assert (reply.role, reply.content, reply.tool_calls) == ("assistant", "hello → ü", None)
        assert server.requests[0]["model"] == "some-model"
        assert server.requests[0]["messages"] == [dict(m) for m in asked()]
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"

    def test_a_reply_tells_what_it_took(self, server, model):
        """Usage and finish reason come with the message."""
        server.add(Reply("cut short", usage={"prompt_tokens": 7}, finish_reason="length"))
        reply = parse_message(model.chat(asked(), "m", None))
        assert reply.usage == {"prompt_tokens": 7}
        assert reply.finish_reason == "length"

    def test_it_calls_tools(self, server, model):
        """Tool calls come as they were sent, with what else the message had."""
        server.add(CALL)
        reply = parse_message(model.chat(asked(), "m", TOOLS))
        assert reply == parse_message(CALL)
        assert reply.extra == {"reasoning_content": "what is there?"}
        assert server.requests[0]["tools"] == TOOLS

    def test_without_tools_nothing_is_said_of_them(self, server, model):
        """An empty list of tools is no list at all: servers refuse it."""
        server.add("a", "b")
        model.chat(asked(), "m", [])
        model.chat(asked(), "m", None)
        assert [{"tools", "tool_choice"} & set(r) for r in server.requests] == [set(), set()]

    def test_a_plain_list_of_mixed_messages_is_fine(self, server, model):
        """Messages may be dictionaries and `Message` objects, side by side."""
        server.add("a")
        model.chat([{"role": "user", "content": "hi"}, Message("assistant", "yes")], "m", None)
        assert server.requests[0]["messages"] == [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "yes"},
        ]

    def test_another_thread_cancels_it(self, server, model):
        """A request that hangs is torn down within a second of its being cancelled."""
        arrived = threading.Event()
        server.add(Reply(before=[_Set(arrived), Fault.HANG]))
        scope = CancelScope()
        started: list[float] = []

        def cancel() -> None:
            arrived.wait(10)
            started.append(time.monotonic())
            scope.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(Cancelled), scope.active():
            model.chat(asked(), "m", None)
        ended = time.monotonic()
        thread.join()
        assert ended - started[0] < 1

    def test_a_deadline_ends_it(self, server, model):
        """A request that hangs is torn down within a second of its deadline, by its name."""
        server.add(Reply(before=[Fault.HANG]))
        began = time.monotonic()
        with pytest.raises(TimedOut, match=r"timeout after 0\.2s"), CancelScope(0.2).active():
            model.chat(asked(), "m", None)
        assert time.monotonic() - began < 1.2

    def test_it_does_not_begin_what_is_over(self, server, model):
        """Nothing is sent for work that was cancelled already."""
        with CancelScope().active() as scope:
            scope.cancel()
            with pytest.raises(Cancelled):
                model.chat(asked(), "m", None)
        assert server.requests == []

    def test_errors_are_named_and_it_goes_on(self, server, model):
        """A refusal has status, body and request id; the next call works as if nothing was."""
        told = {"error": {"message": "the model `m` does not exist"}}
        server.add(Reply(status=404, headers={"X-Request-Id": "req-1"}, body=told), "better")
        with pytest.raises(APIError, match="the model `m` does not exist") as caught:
            model.chat(asked(), "m", None)
        assert (caught.value.status, caught.value.request_id) == (404, "req-1")
        assert "does not exist" in str(caught.value.body)
        assert parse_message(model.chat(asked(), "m", None)).content == "better"

    def test_nobody_there_is_an_error(self, server, model):
        """A server that is not running is an `APIError` that names the address."""
        server.close()
        with pytest.raises(
            APIError,
            match=f"cannot connect to http://127.0.0.1:{server.port}.*: Connection refused",
        ):
            model.chat(asked(), "m", None)

    def test_the_key_is_never_told(self, server, model):
        """Not even when the server quotes it."""
        told = {"error": {"message": f"wrong key {KEY}"}}
        server.add(
            Reply(status=401, body=told),
            Reply(body=told),
            Reply(body=f"<html>{KEY}"),
            Reply(status=500, body="x" * 1990 + KEY),
        )
        for _ in range(4):
            with pytest.raises(APIError) as caught:
                model.chat(asked(), "m", None)
            told_of = f"{caught.value!r} {caught.value.body} {caught.value.__cause__!r}"
            assert KEY not in told_of
            assert KEY[:8] not in told_of


class _Set(threading.Event):
    """A step that tells that it was reached, and waits for nothing."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self.other = other

    def wait(self, timeout: float | None = None) -> bool:
        self.other.set()
        return True


def said(deltas: list[Delta], what: str) -> str:
    """Return what the deltas of one kind add up to."""
    return "".join(delta.text for delta in deltas if delta.what == what)


class StreamingModelContract(ModelContract):
    """What every backend that streams promises beyond that."""

    @pytest.fixture
    def streaming(self, model: Any) -> Any:
        assert isinstance(model, StreamingModel)
        return model

    @pytest.mark.parametrize("message", ["one two  three\n", CALL], ids=["text", "calls"])
    def test_a_streamed_reply_is_the_same(self, server, streaming, message):
        """The whole message comes last and once, and is what it would be without streaming."""
        server.add(message, message)
        whole = streaming.chat(asked(), "m", TOOLS)
        *deltas, last = streaming.stream(asked(), "m", TOOLS)
        assert last == whole
        assert (last.usage, last.finish_reason) == (whole.usage, whole.finish_reason)
        assert all(isinstance(delta, Delta) for delta in deltas)
        assert said(deltas, "text") == last.content
        assert said(deltas, "reasoning") == last.extra.get("reasoning_content", "")

    def test_deltas_come_as_they_are_made(self, server, streaming):
        """A piece is seen before the next one was sent."""
        gate = threading.Event()
        one, *rest = [event(c) for c in completion_chunks(completion("one two")) if c["choices"]][
            1:
        ]
        server.add(Reply(body=[one, gate, *rest]))
        pieces = streaming.stream(asked(), "m", None)
        assert next(pieces) == Delta("text", "one ")
        gate.set()
        assert list(pieces)[-1].content == "one two"

    def test_a_cut_stream_is_no_message(self, server, streaming):
        """What was streamed before the cut was seen; a message never comes."""
        first = event({"choices": [{"delta": {"content": "one "}}]})
        server.add(Reply(body=[first]), Reply(body=[first, Fault.CUT]))
        for _ in range(2):
            pieces = streaming.stream(asked(), "m", None)
            assert next(pieces) == Delta("text", "one ")
            with pytest.raises(ReplyError, match="cut off"):
                next(pieces)

    def test_a_stream_obeys_its_deadline(self, server, streaming):
        """So is one that hangs in the middle of its answer."""
        first = event({"choices": [{"delta": {"content": "one "}}]})
        server.add(Reply(body=[first, Fault.HANG]))
        began = time.monotonic()
        pieces = streaming.stream(asked(), "m", None)
        with CancelScope(0.3).active():
            assert next(pieces) == Delta("text", "one ")
        with pytest.raises(TimedOut):
            next(pieces)
        assert time.monotonic() - began < 1.3
