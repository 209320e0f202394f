"""What goes into a request, and that nothing is serialised twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pygent.messages import History, Message
from pygent.models import OpenAIModel
from pygent.models.request import make_body
from pygent.testing.server import ChatServer

IMAGE = "data:image/png;base64,iVBORw0KGgo="


class Counted(list):
    """A list that is already JSON, and may not be looked at."""

    def wire(self):
        return b'[{"ready":true}]'

    def __iter__(self):
        raise AssertionError("it was walked")

    def __getitem__(self, index):
        raise AssertionError("it was walked")

    def __len__(self):
        return 1


def test_what_is_ready_is_used_as_it_is():
    """Messages and tools that bring their JSON are not walked."""
    body = json.loads(make_body(Counted(), "m", Counted()))
    assert body == {"model": "m", "messages": [{"ready": True}], "tools": [{"ready": True}]}


def test_a_history_is_serialised_once():
    """A long history goes into each request without any entry being serialised again."""
    history = History()
    for number in range(50):
        history.add({"role": "user", "content": f"{number}"})
    first = make_body(history, "m", None)

    class Heavy(dict):
        def items(self):
            raise AssertionError("serialised again")

    list.__setitem__(history, 0, Heavy())
    assert make_body(history, "m", None) == first


@pytest.mark.parametrize("text", ["ü \U0001f600", "\ud800", 'quote " \\ \n', "\x00"])
def test_any_text_can_be_sent(text):
    """Model names, messages, tools and options may hold any text, half a character included."""
    body = make_body([{"role": "user", "content": text}], text, [{"d": text}], more={"stop": text})
    read = json.loads(body.decode())
    assert read["messages"][0]["content"] == read["model"] == read["stop"] == text
    assert read["tools"] == [{"d": text}]


def calls(*names):
    made = [
        {"id": name, "type": "function", "function": {"name": "read_image", "arguments": "{}"}}
        for name in names
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(call, content):
    return {"role": "tool", "tool_call_id": call, "content": content}


def test_images_of_tools_come_after_the_results():
    """The results of one reply stay together; the images follow in one user message."""
    history = History()
    entries = [
        {"role": "user", "content": "look"},
        calls("a", "b", "c"),
        result("a", IMAGE),
        result("b", "text"),
        result("c", IMAGE),
        calls("d"),
        result("d", IMAGE),
    ]
    for entry in entries:
        history.add(entry)
    sent = json.loads(make_body(history, "m", None))["messages"]
    assert [m["role"] for m in sent] == [
        "user", "assistant", "tool", "tool", "tool", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert [m["tool_call_id"] for m in sent[2:5]] == ["a", "b", "c"]
    assert not any("data:image" in m["content"] for m in sent if m["role"] == "tool")
    image = {"type": "image_url", "image_url": {"url": IMAGE}}
    assert [part for part in sent[5]["content"] if part["type"] == "image_url"] == [image, image]
    assert [part for part in sent[8]["content"] if part["type"] == "image_url"] == [image]
    assert history[2]["content"] == IMAGE


def test_other_mentions_of_images_stay():
    """An image in a user's message, or in what somebody said, is sent as it is."""
    part = {"type": "image_url", "image_url": {"url": IMAGE}}
    messages: list[Any] = [
        {"role": "user", "content": [part]},
        Message("assistant", f'"{IMAGE}"'),
        {"role": "user", "content": IMAGE},
    ]
    sent = json.loads(make_body(messages, "m", None))["messages"]
    assert sent == [dict(m) for m in messages]


def test_it_is_what_arrives():
    """The body that was made is the body that a server gets."""
    history = History()
    history.add({"role": "user", "content": "hi"})
    with ChatServer(["a"]) as server:
        OpenAIModel(server.url, "k").chat(history, "m", None)
        assert server.requests[0].raw == make_body(history, "m", None)
