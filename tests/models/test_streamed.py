"""Replies in pieces, put together."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from pygent.errors import APIError, ReplyError
from pygent.events import Delta
from pygent.models.failures import Source
from pygent.models.streamed import StreamedReply

SOURCE = Source("http://test")


def put_together(chunks):
    reply = StreamedReply(SOURCE)
    deltas = [delta for chunk in chunks for delta in reply.add(json.dumps(chunk))]
    return deltas, reply


def chunk(delta, finish=None):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def calls(*pieces):
    """Return a stream of tool-call pieces, ended properly."""
    return [*(chunk({"tool_calls": [piece]}) for piece in pieces), chunk({}, "tool_calls")]


def piece(index=None, name=None, arguments=None, **more):
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {**({} if index is None else {"index": index}), **more, "function": function}


def read(stream):
    message = put_together(stream)[1].message()
    return [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()]


ONE_AND_TWO = [("a", "bash", '{"cmd": 1}'), ("b", "stop", "{}")]

STREAMS = {
    "whole": [piece(0, "bash", '{"cmd": 1}', id="a"), piece(1, "stop", "{}", id="b")],
    "gaps": [piece(3, "bash", '{"cmd": 1}', id="a"), piece(70, "stop", "{}", id="b")],
    "out of order": [piece(1, "stop", "{}", id="b"), piece(0, "bash", '{"cmd": 1}', id="a")],
    "interleaved": [
        piece(0, "ba", id="a", type="function"),
        piece(1, "stop", "", id="b", type="function"),
        piece(0, "sh", '{"cmd"'),
        piece(1, None, "{"),
        piece(0, None, ": 1}"),
        piece(1, None, "}"),
    ],
    "id and name repeated": [
        piece(0, "bash", '{"cmd"', id="a", type="function"),
        piece(0, "bash", ": 1}", id="a", type="function"),
        piece(1, "stop", "{", id="b"),
        piece(1, "stop", "}", id="b"),
    ],
    "later ids empty": [
        piece(0, "bash", '{"cmd"', id="a"),
        piece(0, "", ": 1}", id="", type=None),
        piece(1, "stop", "{}", id="b"),
    ],
    "no index": [
        piece(None, "bash", '{"cmd"', id="a"),
        piece(None, None, ": 1}"),
        piece(None, "stop", "{", id="b"),
        piece(None, None, "}", id="b"),
    ],
    "id late": [
        piece(0, "bash", '{"cmd"'),
        piece(0, None, ": 1}", id="a"),
        piece(1, "stop", "{}", id="b"),
    ],
}


@pytest.mark.parametrize("pieces", STREAMS.values(), ids=STREAMS)
def test_tool_calls_in_any_chunking(pieces):
    """However they are cut and mixed, two calls come out as the two calls they are."""
    assert read(calls(*pieces)) == ONE_AND_TWO


CONTRADICTIONS = {
    "id": [piece(0, "bash", "{", id="a"), piece(0, None, "}", id="b")],
    "type": [piece(0, "bash", "{", id="a", type="function"), piece(0, None, "}", type="custom")],
    "index negative": [piece(-1, "bash", "{}")],
    "index a text": [piece("0", "bash", "{}")],
    "index a truth": [piece(True, "bash", "{}")],
    "name a list": [piece(0, ["bash"], "{}")],
    "arguments a number": [piece(0, "bash", 1)],
    "a text": ["bash"],
}


@pytest.mark.parametrize("pieces", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_stream_that_contradicts_itself(pieces):
    """Nobody can tell which call was meant, so none is made."""
    with pytest.raises(ReplyError, match="makes no sense"):
        read(calls(*pieces))


def test_what_servers_leave_out():
    """Null deltas, null calls, a usage chunk without choices, a second answer: all are fine."""
    stream = [
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"role": "assistant", "tool_calls": None, "content": None}}]},
        {"choices": None},
        {"object": "ping"},
        chunk({"content": "hi"}),
        {"choices": [{"index": 1, "delta": {"content": "another"}}]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [], "usage": {"total_tokens": 5}},
        {"choices": [], "usage": None},
    ]
    deltas, reply = put_together(stream)
    message = reply.message()
    assert deltas == [Delta("text", "hi")]
    assert (message.content, message.usage, message.finish_reason) == (
        "hi",
        {"total_tokens": 5},
        "stop",
    )


def test_reasoning_is_shown_once():
    """Servers that send reasoning under two names are shown under one, and both are kept."""
    stream = [
        chunk({"reasoning": "hm", "reasoning_content": "hm"}),
        chunk({"content": "a"}, "stop"),
    ]
    deltas, reply = put_together(stream)
    assert deltas == [Delta("reasoning", "hm"), Delta("text", "a")]
    assert reply.message().extra == {"reasoning": "hm", "reasoning_content": "hm"}


def test_unknown_keys_are_kept():
    """Lists grow, other values are the last that came."""
    stream = [
        chunk({"details": [1], "sign": "x"}),
        chunk({"details": [2], "sign": "y", "content": [{"type": "text", "text": "a"}]}, "stop"),
    ]
    message = put_together(stream)[1].message()
    assert message.extra == {"details": [1, 2], "sign": "y"}
    assert message.content == "a"


@pytest.mark.parametrize("text", ["a\U0001f600b", "\U0001f600", "x\ud83d", "\ude00x"])
def test_characters_that_were_cut_in_two(text):
    """Half a character is held back until its other half is there; a lone half is replaced."""
    halves = text.encode("utf-16-be", "surrogatepass")
    units = [
        halves[i : i + 2].decode("utf-16-be", "surrogatepass") for i in range(0, len(halves), 2)
    ]
    deltas, reply = put_together([*(chunk({"content": unit}) for unit in units), chunk({}, "stop")])
    whole = reply.message().content
    assert whole == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    shown = "".join(delta.text for delta in deltas)
    assert shown.encode() == whole.encode()[: len(shown.encode())]


@pytest.mark.parametrize(
    ("ending", "whole"),
    [(["[DONE]"], True), ([json.dumps(chunk({}, "stop"))], True), ([], False)],
    ids=["done", "reason", "neither"],
)
def test_an_end_is_needed(ending, whole):
    """A stream has ended when it says so, or gave its reason; else it was cut."""
    reply = StreamedReply(SOURCE)
    for data in (json.dumps(chunk({"content": "hi"})), *ending):
        reply.add(data)
    if whole:
        assert reply.message().content == "hi"
    else:
        with pytest.raises(ReplyError, match="cut off") as caught:
            reply.message()
        assert caught.value.body == "hi"


def test_an_empty_reply_is_none():
    """A stream that said nothing is as empty as a reply that says nothing."""
    with pytest.raises(ReplyError, match="empty reply"):
        put_together([chunk({"content": ""}, "stop")])[1].message()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "tool_calls", "content", "index", "function", "error"]
            )
            | st.sampled_from(
                ["id", "name", "arguments", "finish_reason", "usage", "reasoning", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=4), st.text(max_size=30))
def test_garbage_is_a_reply_error(values, text):
    """Whatever comes in a stream, the worst is an error of ours."""
    reply = StreamedReply(SOURCE)
    try:
        for value in values:
            reply.add(json.dumps(value))
        reply.add(text)
        reply.message()
    except APIError:
        pass


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def replies(draw):
    """Return a reply, and chunks that a server may have cut it into."""
    content, reasoning = draw(words), draw(words)
    made = draw(st.lists(st.tuples(words.filter(bool), words), min_size=1, max_size=3))
    streams = [
        [chunk({"content": part}) for part in draw(portions(content))],
        [chunk({"reasoning_content": part}) for part in draw(portions(reasoning))],
    ]
    for index, (name, arguments) in enumerate(made):
        pieces = [piece(index, "", id=f"id-{index}", type="function")]
        pieces += [piece(index, part) for part in draw(portions(name))]
        pieces += [piece(index, None, part) for part in draw(portions(arguments))]
        streams.append([chunk({"tool_calls": [one]}) for one in pieces])
    mixed = []
    while any(streams):
        mixed.append(draw(st.sampled_from([s for s in streams if s])).pop(0))
    return content, reasoning, made, [*mixed, chunk({}, "tool_calls")]


def portions(text):
    places = st.lists(st.integers(0, len(text)), max_size=4)
    return places.map(
        lambda cuts: [
            text[a:b] for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), len(text)], strict=True)
        ]
    )


@given(replies())
def test_any_splitting_gives_the_same_reply(made):
    """A reply cut and interleaved in any way is put together as it was."""
    content, reasoning, expected, chunks = made
    deltas, reply = put_together(chunks)
    message = reply.message()
    assert message.content == content
    assert message.extra == {"reasoning_content": reasoning}
    found = [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()]
    assert found == [(f"id-{i}", name, arguments) for i, (name, arguments) in enumerate(expected)]
    assert "".join(d.text for d in deltas if d.what == "text") == content
    assert "".join(d.text for d in deltas if d.what == "reasoning") == reasoning
