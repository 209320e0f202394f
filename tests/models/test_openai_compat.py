"""The small client that mirrors the official one."""

from __future__ import annotations

import json
import os

import pytest

from pygent import openai_compat
from pygent.errors import APIError, ReplyError
from pygent.models import OpenAIModel
from pygent.openai_compat import (
    ChatCompletion,
    ChatCompletionChunk,
    Choice,
    Message,
    ToolCall,
    ToolCallFunction,
    chat,
    parse_message,
)
from pygent.testing.server import ChatServer
from pygent.testing.wire import Reply, event
from tests.contracts.contract_model import CALL, TOOLS

ASKED = [{"role": "user", "content": "hi"}]


@pytest.fixture
def server(monkeypatch):
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def test_a_completion(server):
    """It has the official client's names, the usage, and the keys that nobody knows."""
    raw = {
        "id": "c-1",
        "model": "m-2026",
        "created": 5,
        "service_tier": "default",
        "choices": [
            {"index": 0, "message": CALL, "finish_reason": "tool_calls", "logprobs": [1]},
            {"index": 1, "message": {"content": "or so"}},
        ],
        "usage": {"prompt_tokens": 3, "total_tokens": 4},
    }
    server.add(Reply(body=raw))
    completion = chat.completions.create(model="m", messages=ASKED, tools=TOOLS)
    assert isinstance(completion, ChatCompletion)
    assert (completion.id, completion.model, completion.created) == ("c-1", "m-2026", 5)
    assert completion.extra == {"service_tier": "default"}
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == completion.usage["prompt_tokens"] == 3
    with pytest.raises(AttributeError, match="completion_tokens"):
        _ = completion.usage.completion_tokens
    first, second = completion.choices
    assert first.message == parse_message(CALL)
    assert (first.finish_reason, first.extra) == ("tool_calls", {"logprobs": [1]})
    assert (second.index, second.message.content) == (1, "or so")
    assert first.message.usage == raw["usage"]


def test_what_is_sent(server):
    """Tools with a choice, further arguments as they are, and no word of tools without any."""
    server.add("a", "b")
    chat.completions.create("m", ASKED, TOOLS, "required", temperature=0)
    chat.completions.create("m", [Message("user", "hi")], [])
    assert server.requests[0] == {
        "model": "m",
        "messages": ASKED,
        "tools": TOOLS,
        "tool_choice": "required",
        "temperature": 0,
    }
    assert server.requests[1] == {"model": "m", "messages": ASKED}


def test_a_stream_of_chunks(server):
    """Chunks come as objects with the official names, the last of them with the usage."""
    server.add(CALL)
    stream = chat.completions.create(model="m", messages=ASKED, tools=TOOLS, stream=True)
    chunks = list(stream)
    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in chunks)
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "I look."
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert [(call.index, call.id) for call in calls if call.id] == [
        (0, "call-bash"),
        (1, "call-read_file"),
    ]
    arguments = "".join(call.function.arguments or "" for call in calls if call.index == 1)
    assert arguments == '{"cmd": "ls → ü"}'
    assert {"reasoning_content": "what "} in [delta.extra for delta in deltas]
    assert chunks[-2].choices[0].finish_reason == "tool_calls"
    assert chunks[-1].usage == {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert server.requests[0]["stream_options"] == {"include_usage": True}


def test_a_stream_that_is_cut(server):
    """It raises in the end, and so does one that contradicts itself."""
    server.add(Reply(body=[event({"choices": [{"delta": {"content": "a"}}]})]))
    chunks = chat.completions.create(model="m", messages=ASKED, stream=True)
    assert next(chunks).choices[0].delta.content == "a"
    with pytest.raises(ReplyError, match="cut off"):
        next(chunks)


def test_a_reply_that_comes_whole_although_a_stream_was_asked_for(server):
    """It is one chunk; an error that comes so is told as one."""
    call = {**CALL["tool_calls"][0], "id": "1"}
    message = {"role": "assistant", "content": "whole", "tool_calls": [call]}
    server.add(Reply(body=json.dumps({"choices": [{"message": message, "finish_reason": "x"}]})))
    (chunk,) = chat.completions.create("m", ASKED, stream=True)
    (choice,) = chunk.choices
    assert (choice.delta.content, choice.finish_reason) == ("whole", "x")
    assert [(c.index, c.id) for c in choice.delta.tool_calls] == [(0, "1")]
    server.add(Reply(body=json.dumps({"error": {"message": "no such thing"}})))
    with pytest.raises(APIError, match="no such thing"):
        list(chat.completions.create("m", ASKED, stream=True))


@pytest.mark.parametrize("other", [None, {"message": "text"}, {"message": {"tool_calls": 5}}])
def test_a_further_choice_that_is_none(server, other):
    """What cannot be read is a `ReplyError`, wherever it stands."""
    server.add(Reply(body={"choices": [{"message": {"content": "fine"}}, other]}))
    with pytest.raises(ReplyError, match="no object"):
        chat.completions.create("m", ASKED)


def test_ones_own_stream_options_win(server):
    """What the caller says about the stream is what is sent, once."""
    server.add("a")
    list(chat.completions.create("m", ASKED, stream=True, stream_options={"include_usage": False}))
    assert server.requests[0]["stream_options"] == {"include_usage": False}


def test_errors(server):
    """They are those of the models."""
    server.add(
        Reply(status=404, body={"error": {"message": "no model m"}}), Reply(body={"choices": []})
    )
    with pytest.raises(APIError, match="no model m"):
        chat.completions.create("m", ASKED)
    with pytest.raises(ReplyError, match="empty reply"):
        chat.completions.create("m", ASKED)


def test_without_a_key():
    """At the default address it says what to set."""
    with pytest.raises(APIError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL.*pygent demo"):
        chat.completions.create("m", ASKED)


def test_the_settings_are_read_when_looked_at(monkeypatch):
    """They follow the environment, with the defaults where it says nothing."""
    assert openai_compat.OPENAI_BASE_URL == "https://api.openai.com/v1"
    assert openai_compat.OPENAI_API_KEY == ""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://a/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    assert (openai_compat.OPENAI_BASE_URL, openai_compat.OPENAI_API_KEY) == (
        "http://a/v1",
        "from-environment",
    )


def test_the_settings_can_be_assigned(server, monkeypatch):
    """What is assigned to them holds, for models too, until it is taken back."""
    url = os.environ["OPENAI_BASE_URL"]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server.add("a", "b")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_compat, "OPENAI_BASE_URL", url)
        patch.setattr(openai_compat, "OPENAI_API_KEY", "assigned-key")
        assert openai_compat.OPENAI_API_KEY == "assigned-key"
        chat.completions.create("m", ASKED)
        OpenAIModel().chat(ASKED, "m", None)
    assert {request.headers["authorization"] for request in server.requests} == {
        "Bearer assigned-key"
    }
    monkeypatch.setenv("OPENAI_BASE_URL", "http://b/v1")
    assert (openai_compat.OPENAI_BASE_URL, openai_compat.OPENAI_API_KEY) == ("http://b/v1", "")
    openai_compat.OPENAI_API_KEY = "again"
    del openai_compat.OPENAI_API_KEY
    assert openai_compat.OPENAI_API_KEY == ""


def test_the_shapes_can_be_made():
    """Users of the package make them in their own models and tests."""
    call = ToolCall(id="1", type="function", function=ToolCallFunction(name="bash", arguments="{}"))
    message = Message(role="assistant", content=None, tool_calls=[call])
    completion = ChatCompletion(choices=[Choice(message=message)])
    assert completion.choices[0].message.tool_calls == [call]
    assert parse_message({"role": "assistant", "tool_calls": [call.to_dict()]}) == message
