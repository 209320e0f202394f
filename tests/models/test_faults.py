"""What real servers send, and what of it is a reply."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest

from pygent.cancel import CancelScope
from pygent.errors import APIError, ReplyError, TimedOut
from pygent.models import OpenAIModel
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply, event
from tests.contracts.contract_model import KEY, TOOLS, asked

HTML = "<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head>" + "<p>x</p>" * 2000


@pytest.fixture
def server():
    with ChatServer() as server:
        yield server


@pytest.fixture
def model(server):
    return OpenAIModel(server.url, KEY, idle_timeout=0.4)


def answer(message, **more):
    return {"choices": [{"index": 0, "message": message, **more}]}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 504, 529])
def test_a_status_that_means_no(server, model, status):
    """Each is an `APIError`, no `ReplyError`, asked for once; the session goes on after it."""
    server.add(Reply(status=status, body={"error": {"message": "not today"}}), "hi")
    with pytest.raises(APIError, match=f"{status} from http.*: not today") as caught:
        model.chat(asked(), "m", None)
    assert not isinstance(caught.value, ReplyError)
    assert caught.value.status == status
    assert model.chat(asked(), "m", None).content == "hi"
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [200, 502])
def test_a_page_is_told_by_its_title(server, model, status):
    """HTML is neither read as a message nor dumped in full."""
    server.add(Reply(status=status, headers={"content-type": "text/html"}, body=HTML))
    with pytest.raises(APIError, match="an HTML page") as caught:
        model.chat(asked(), "m", None)
    assert len(str(caught.value)) < 300
    assert len(caught.value.body or "") == 2000
    assert status == 200 or "'502 Bad Gateway'" in str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_named_by_its_variable(server, status):
    """The error says which variable is wrong, and does not show it."""
    server.add(Reply(status=status, body={"error": {"message": f"Incorrect key: {KEY}."}}))
    with pytest.raises(APIError, match=r"Incorrect key: \[key\]") as caught:
        OpenAIModel(server.url, KEY).chat(asked(), "m", None)
    assert status != 401 or "OPENAI_API_KEY" in str(caught.value)


def test_a_short_key_is_hidden_as_a_word(server):
    """The stand-in keys of local servers are hidden, and words that contain them are not."""
    server.add(Reply(status=401, body={"error": {"message": "key x is not next"}}))
    with pytest.raises(APIError, match=r"key \[key\] is not next"):
        OpenAIModel(server.url, "x").chat(asked(), "m", None)


def test_a_redirect_is_not_followed(server, model):
    """The key goes to nobody but the server it was meant for."""
    server.add(Reply(status=308, headers={"location": "http://elsewhere.invalid/v1"}, body=""))
    with pytest.raises(
        APIError, match=r"moved to http://elsewhere.invalid/v1; set OPENAI_BASE_URL"
    ):
        model.chat(asked(), "m", None)


UNUSABLE = {
    "nothing": (b"", "an empty body"),
    "spaces": (b" \n", "an empty body"),
    "HTML": (HTML.encode(), "an HTML page"),
    "truncated": (b'{"choices": [{"message": {"content": "he', "broken JSON"),
    "text": (b"OK", "broken JSON"),
    "nested": (b"[" * 100_000, "broken JSON"),
    "huge number": (b'{"choices": 1' + b"0" * 5000 + b"}", "broken JSON"),
    "list": (b"[1]", "a JSON list"),
    "null": (b"null", "a JSON NoneType"),
    "no choices": (b"{}", "no choices"),
    "choices null": (b'{"choices": null}', "no choices"),
    "choices of text": (b'{"choices": ["hi"]}', "no choices"),
    "empty choices": (b'{"choices": []}', "empty reply: choices is"),
    "message null": (answer(None), "empty reply: message is null"),
    "message a text": (answer("hi"), "message is no object"),
    "content null": (answer({"content": None}), "empty reply"),
    "content empty": (answer({"content": ""}, finish_reason="length"), "ended with 'length'"),
    "only reasoning": (answer({"content": "", "reasoning_content": "hm"}), "reasoning alone"),
    "content a number": (answer({"content": 1}), "content is a JSON int"),
    "calls a text": (answer({"tool_calls": "bash"}), "tool_calls is a JSON str"),
    "call without function": (answer({"tool_calls": [{"id": "1"}]}), "has no function"),
    "call of null": (answer({"tool_calls": [None]}), "has no function"),
    "name a number": (answer({"tool_calls": [{"function": {"name": 1}}]}), "is a JSON int"),
}


@pytest.mark.parametrize(("body", "what"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_answer_that_is_no_reply(server, model, body, what):
    """Status 200 with something else in it is a `ReplyError` that says what came."""
    server.add(Reply(body=body), "hi")
    with pytest.raises(ReplyError, match=what) as caught:
        model.chat(asked(), "m", None)
    assert caught.value.status == 200
    assert model.chat(asked(), "m", None).content == "hi"


@pytest.mark.parametrize(
    ("error", "status"),
    [({"message": "no quota", "code": 429}, 429), ("no quota", 200), (["no quota"], 200)],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_inside_a_good_answer(server, model, error, status, stream):
    """An error body under status 200 is an `APIError` with what it says, streamed or not."""
    body = [event({"error": error})] if stream else {"error": error}
    server.add(Reply(body=body))
    with pytest.raises(APIError, match="no quota") as caught:
        list(model.stream(asked(), "m", None)) if stream else model.chat(asked(), "m", None)
    assert caught.value.status == status


def test_an_error_event_in_a_stream(server, model):
    """Servers that name the error otherwise are understood too."""
    server.add(Reply(body=[b"event: error\n", event({"object": "error", "message": "no quota"})]))
    with pytest.raises(APIError, match="no quota"):
        list(model.stream(asked(), "m", None))


TOLERATED = {
    "role missing": {"content": "hi"},
    "role wrong": {"role": "user", "content": "hi"},
    "nulls": {"role": "assistant", "content": "hi", "tool_calls": None, "refusal": None},
    "no calls": {"role": "assistant", "content": "hi", "tool_calls": []},
}


@pytest.mark.parametrize("message", TOLERATED.values(), ids=TOLERATED)
def test_an_answer_that_is_a_reply_all_the_same(server, model, message):
    """Missing and empty fields are no reason to fail."""
    server.add(Reply(body={**answer(message), "usage": None, "surprise": {"a": 1}}))
    reply = model.chat(asked(), "m", None)
    assert (reply.role, reply.content, reply.tool_calls) == ("assistant", "hi", None)
    assert (reply.extra, reply.usage) == ({}, None)


def test_a_refusal_is_a_reply(server, model):
    """A model that declines has said something."""
    server.add(Reply(body=answer({"content": None, "refusal": "I would rather not"})))
    assert model.chat(asked(), "m", None).extra == {"refusal": "I would rather not"}


@pytest.mark.parametrize(
    "arguments", ['{"cmd": "ls"', "{'cmd': 'ls'}", "", '{"cmd": "ls",}', '{"cmd": "a\nb"}']
)
def test_bad_arguments_are_for_the_loop(server, model, arguments):
    """Arguments that are no JSON arrive as the model wrote them, without ids and types too."""
    call = {"function": {"name": "bash", "arguments": arguments}}
    server.add(Reply(body=answer({"tool_calls": [call, call]})))
    calls = model.chat(asked(), "m", TOOLS).tool_calls or []
    assert [(c.id, c.type, c.function.arguments) for c in calls] == [
        ("", "function", arguments)
    ] * 2


def test_half_characters_are_put_right(server, model):
    """What no file and no terminal can take does not get in."""
    server.add(Reply(body=b'{"choices":[{"message":{"content":"a\\ud83d\\ude00b\\ud83dc"}}]}'))
    assert model.chat(asked(), "m", None).content == "a\U0001f600b\ufffdc"


def test_gzip_is_unpacked(server, model):
    """A packed answer is read, also in several members and pieces."""
    raw = json.dumps(answer({"content": "hi " * 5000})).encode()
    packed = gzip.compress(raw[:9]) + gzip.compress(raw[9:])
    head = {"content-encoding": "gzip"}
    server.add(
        Reply(body=packed, headers=head), Reply(body=[packed[:30], packed[30:]], headers=head)
    )
    for _ in range(2):
        assert model.chat(asked(), "m", None).content == "hi " * 5000


@pytest.mark.parametrize(("encoding", "match"), [("gzip", "broken gzip"), ("br", "packed as 'br'")])
def test_packing_that_cannot_be_undone(server, model, encoding, match):
    """A body packed in another way, or badly, is a `ReplyError`."""
    server.add(Reply(body=b"no such thing", headers={"content-encoding": encoding}))
    with pytest.raises(ReplyError, match=match):
        model.chat(asked(), "m", None)


def test_a_bomb_does_not_go_off(server, model):
    """A small body that unpacks to a huge one is given up at 64 MiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(100)) + packer.flush()
    assert len(bomb) < 200_000
    server.add(Reply(body=bomb, headers={"content-encoding": "gzip"}))
    with pytest.raises(ReplyError, match="longer than 64 MiB"):
        model.chat(asked(), "m", None)


@pytest.mark.parametrize("stream", [False, True])
def test_a_body_without_end(server, model, stream):
    """An endless answer is given up, streamed or not."""
    piece = b"data: x" if stream else b" " * (1 << 20)
    endless = (piece if not sent else b"x" * (1 << 20) for sent in range(100))
    server.add(Reply(body=[*endless]))
    with pytest.raises(ReplyError, match="longer than"):
        list(model.stream(asked(), "m", None)) if stream else model.chat(asked(), "m", None)


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.CUT])
def test_a_connection_lost_in_the_answer(server, model, fault):
    """A body that stops half way is a `ReplyError`; before its head it is no answer."""
    half = [b'{"choices": [{"mess', fault]
    server.add(Reply(body=half, headers={"content-length": "100"}), Reply(body=half))
    for _ in range(2):
        with pytest.raises(ReplyError, match="cut off"):
            model.chat(asked(), "m", None)
    server.add(Reply(before=[fault]))
    with pytest.raises(APIError, match="no answer from http") as caught:
        model.chat(asked(), "m", None)
    assert caught.value.status is None
    assert len(server.requests) == 3


def test_silence_before_the_answer(server, model):
    """A server that says nothing for the idle time is given up."""
    server.add(Reply(before=[Fault.HANG]))
    with pytest.raises(APIError, match=r"no answer from http.* for 0\.4 s"):
        model.chat(asked(), "m", None)


@pytest.mark.parametrize("stream", [False, True])
def test_silence_within_the_answer(server, model, stream):
    """So is one that falls silent in the middle."""
    server.add(Reply(body=[b"data: {}\n\n", Fault.HANG]))
    with pytest.raises(ReplyError, match=r"nothing came for 0\.4 s"):
        list(model.stream(asked(), "m", None)) if stream else model.chat(asked(), "m", None)


@pytest.mark.parametrize("begun", [[], [b"data: {}\n\n"]], ids=["from the start", "later"])
@pytest.mark.parametrize("drip", [b": keepalive\n\n", b"x"], ids=["comments", "bytes"])
def test_a_stream_has_to_say_something(server, model, begun, drip):
    """Comments, or single bytes that make no event, do not count as signs of life."""
    server.add(Reply(body=[*begun, *[drip, 0.1] * 40]))
    with pytest.raises(ReplyError, match="nothing came"):
        list(model.stream(asked(), "m", None))


def test_a_slow_drip_ends_at_the_deadline(server, model):
    """A whole reply that comes byte by byte never idles; the scope's deadline ends it."""
    server.add(Reply(body=[b" ", 0.05] * 1000))
    with pytest.raises(TimedOut), CancelScope(0.8).active():
        model.chat(asked(), "m", None)
