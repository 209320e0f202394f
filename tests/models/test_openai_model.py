"""`OpenAIModel`, and a model of the user's own on `openai_compat`."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pygent import openai_compat
from pygent.errors import APIError, ReplyError
from pygent.events import Delta
from pygent.messages import Message
from pygent.models import Model, OpenAIModel, StreamingModel
from pygent.testing.server import ChatServer
from pygent.testing.wire import Reply
from tests.contracts.contract_model import (
    CALL,
    KEY,
    TOOLS,
    ModelContract,
    StreamingModelContract,
    asked,
)


class TestOpenAIModel(StreamingModelContract):
    """The model that comes with the package."""

    def make(self, server):
        return OpenAIModel(server.url, KEY)


class TestHTTPModel(ModelContract):
    """The one that the documents show, which knows its server by the environment."""

    @pytest.fixture(autouse=True)
    def _environment(self, server, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def make(self, server):
        class HTTPModel:
            def chat(self, messages, model, tools):
                resp = openai_compat.chat.completions.create(
                    model=model, messages=messages, tools=tools, tool_choice="auto"
                )
                return resp.choices[0].message

        return HTTPModel()


def test_it_is_what_it_says():
    """It streams, and says that it obeys a scope."""
    model = OpenAIModel()
    assert isinstance(model, Model)
    assert isinstance(model, StreamingModel)
    assert model.honours_cancel


@pytest.mark.parametrize(
    "base_url", [None, "https://api.openai.com/v1", "https://api.openai.com/v1/"]
)
def test_without_a_key_it_says_what_to_set(base_url):
    """At the default address a key is missed at once, without any network."""
    with pytest.raises(APIError) as caught:
        OpenAIModel(base_url).chat(asked(), "m", None)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "pygent demo"):
        assert name in str(caught.value)
    with pytest.raises(APIError, match="OPENAI_API_KEY"):
        OpenAIModel(base_url).stream(asked(), "m", None)


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    """Without a key there is no authorization header at all."""
    with ChatServer(["hi"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/")
        assert OpenAIModel().chat(asked(), "m", None).content == "hi"
        assert "authorization" not in server.requests[0].headers
        assert server.requests[0].path == "/v1/chat/completions"


def test_the_key_is_read_at_every_call(monkeypatch):
    """A key that was changed or removed meanwhile counts from the next call on."""
    with ChatServer(["a", "b", "c"]) as server:
        model = OpenAIModel(server.url)
        for key in ("first-key", "second-key", ""):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            model.chat(asked(), "m", None)
        sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == ["Bearer first-key", "Bearer second-key", None]


@pytest.mark.parametrize(
    "address",
    ["localhost:11434", "ftp://host/v1", "http://", "http://host:none/v1", "http://a b/v1", "x"],
)
def test_an_address_that_is_none(address):
    """A base URL that makes no sense is named, with what to write."""
    with pytest.raises(APIError, match="http://localhost:11434/v1"):
        OpenAIModel(address, "k").chat(asked(), "m", None)


@pytest.mark.parametrize("key", ["two\nlines", "sk-ü", "sk-\x00"])
def test_a_key_that_is_none(key):
    """A key that cannot be sent is refused without being shown."""
    with pytest.raises(APIError, match="OPENAI_API_KEY") as caught:
        OpenAIModel("http://127.0.0.1:1/v1", key).chat(asked(), "m", None)
    assert key not in str(caught.value)


def test_a_query_in_the_address_stays():
    """Addresses with a query, as some clouds have them, are asked as they are."""
    with ChatServer(["hi"]) as server:
        OpenAIModel(f"{server.url}?api-version=1", "k").chat(asked(), "m", None)
        assert server.requests[0].path == "/v1/chat/completions?api-version=1"


def test_a_whole_answer_to_a_stream_is_fine():
    """A server that cannot stream is understood all the same."""
    whole = {"choices": [{"message": {"role": "assistant", "content": "all at once"}}]}
    reply = Reply(body=whole)
    with ChatServer([reply]) as server:
        assert list(OpenAIModel(server.url, "k").stream(asked(), "m", None)) == [
            Delta("text", "all at once"),
            Message("assistant", "all at once"),
        ]


def test_leaving_a_stream_early_ends_the_request():
    """A stream that nobody reads on is torn down, and its connection not used again."""
    with ChatServer(["one two three", "four"]) as server:
        model = OpenAIModel(server.url, "k")
        pieces = model.stream(asked(), "m", None)
        next(pieces)
        pieces.close()
        assert model.chat(asked(), "m", None).content == "four"
        assert server.connections == 2


def test_nothing_heavy_is_imported_before_the_first_call():
    """Importing and making a model costs no HTTP client; a missing key does not either."""
    code = """
import sys
from pygent.models import OpenAIModel
from pygent.errors import APIError
try:
    OpenAIModel().chat([], "m", None)
except APIError:
    pass
print([name for name in ("httpcore2", "httpx2", "h11", "ssl", "socket") if name in sys.modules])
"""
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert out.strip() == "[]"


class _Client:
    """Stands where the official client would, with its shape and none of its code."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.chat = SimpleNamespace(completions=self)

    def create(self, **request):
        self.asked.append(json.loads(json.dumps(request)))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _object(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{k: _object(v) for k, v in value.items()})
    return [_object(item) for item in value] if isinstance(value, list) else value


def test_a_client_is_asked_instead():
    """An object like the official client gets plain messages, and its reply is read."""
    raw = {
        "choices": [{"message": CALL, "finish_reason": "tool_calls"}],
        "usage": {"total_tokens": 3},
    }
    client = _Client(_object(raw), _object({"choices": []}))
    model = OpenAIModel(client=client)
    reply = model.chat(asked(), "m", TOOLS)
    assert not model.honours_cancel
    assert [call.function.name for call in reply.tool_calls or ()] == ["bash", "read_file"]
    assert (reply.usage, reply.finish_reason) == ({"total_tokens": 3}, "tool_calls")
    assert client.asked[0]["tools"] == TOOLS
    with pytest.raises(ReplyError, match="empty reply"):
        model.chat(asked(), "m", None)
    assert "tools" not in client.asked[1]


def test_a_client_streams_too():
    """Its chunks are deltas, then one message."""
    chunks = [
        {"choices": [{"delta": {"content": "one "}}]},
        {"choices": [{"delta": {"content": "two"}, "finish_reason": "stop"}]},
    ]
    pieces = list(OpenAIModel(client=_Client(chunks)).stream(asked(), "m", None))
    assert pieces == [Delta("text", "one "), Delta("text", "two"), Message("assistant", "one two")]


def test_a_clients_error_is_ours():
    """An error with a status becomes an `APIError`; a bug in the client stays what it is."""

    class RefusedError(Exception):
        status_code = 429
        request_id = "req-9"

    client = _Client(RefusedError("slow down"), ZeroDivisionError())
    with pytest.raises(APIError, match="slow down") as caught:
        OpenAIModel(client=client).chat(asked(), "m", None)
    assert (caught.value.status, caught.value.request_id) == (429, "req-9")
    with pytest.raises(ZeroDivisionError):
        OpenAIModel(client=client).chat(asked(), "m", None)
