"""The loopback server for tests is strict about its script."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any

import pytest

from pygent.errors import APIError, ReplyError
from pygent.messages import Message
from pygent.models import OpenAIModel
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply
from tests.contracts.contract_model import asked


def test_replies_in_turn():
    """Texts, dictionaries, messages, replies and functions of the request are all replies."""
    script: list[Any] = [
        "text",
        {"role": "assistant", "content": "dictionary"},
        Message("assistant", "message"),
        Reply("reply"),
        lambda request: f"asked for {request['model']}",
    ]
    with ChatServer(script) as server:
        model = OpenAIModel(server.url, "k")
        said = [model.chat(asked(), "m", None).content for _ in script]
    assert said == ["text", "dictionary", "message", "reply", "asked for m"]
    assert [request["model"] for request in server.requests] == ["m"] * 5


def test_an_unexpected_request():
    """It is refused, and fails the test."""
    server = ChatServer()
    with pytest.raises(AssertionError, match="request 1 was not expected"), server:
        _refused(server)


def test_a_reply_left_over():
    """It fails the test, too."""
    with (
        pytest.raises(AssertionError, match="2 replies were never asked for"),
        ChatServer(["a", "b"]),
    ):
        pass


def test_an_error_is_not_covered_up():
    """A test that fails by itself fails with its own error."""
    with pytest.raises(ZeroDivisionError), ChatServer(["a"]):
        raise ZeroDivisionError


def test_a_reply_that_raises():
    """A function of the script that raises is told about."""
    server = ChatServer([lambda _: 1 / 0])
    with pytest.raises(AssertionError, match="ZeroDivisionError"), server:
        _refused(server)


def test_a_default_answers_the_rest():
    """For tests that do not count."""
    with ChatServer(["first"], default=lambda _: "more") as server:
        model = OpenAIModel(server.url, "k")
        assert [model.chat(asked(), "m", None).content for _ in range(3)] == [
            "first",
            "more",
            "more",
        ]


def test_gates_and_faults():
    """A script can wait for the test, and break off as a network does."""
    gate = threading.Event()
    with ChatServer([Reply(body=[b"data: {}\n\n", gate, Fault.RESET])]) as server:
        pieces = OpenAIModel(server.url, "k").stream(asked(), "m", None)
        threading.Timer(0.05, gate.set).start()
        with pytest.raises(ReplyError, match="cut off"):
            list(pieces)


def test_it_leaves_at_once():
    """Closing does not wait for what hangs."""
    with ChatServer([Reply(before=[Fault.HANG])]) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("POST", "/v1/chat/completions", body="{}")
        while not server.requests:
            pass
    assert not any(thread.is_alive() for thread in server._threads)
    connection.close()


def test_it_lists_a_model():
    """Programs that look for a local server find one."""
    with ChatServer() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("GET", "/v1/models")
        listed = json.loads(connection.getresponse().read())
        connection.close()
    assert listed["data"][0]["id"] == "test"


def _refused(server):
    with pytest.raises(APIError, match="500 from"):
        OpenAIModel(server.url, "k").chat(asked(), "m", None)
