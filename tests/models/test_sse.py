"""Server-sent events in every portion that a network may choose."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, strategies as st

from pygent.models.sse import EventParser

CASES = {
    "plain": (b"data: one\n\ndata: two\n\n", ["one", "two"]),
    "CRLF": (b"data: one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]),
    "CR": (b"data: one\r\rdata: two\r\r", ["one", "two"]),
    "mixed": (b"data: one\r\n\ndata: two\n\r", ["one", "two"]),
    "mark": (b"\xef\xbb\xbfdata: one\n\n", ["one"]),
    "mark inside": (b"data: \xef\xbb\xbf\n\n", ["\ufeff"]),
    "comments": (b": hello\n\n:\n\ndata: one\n: more\n\n", ["one"]),
    "several lines": (b"data: one\ndata:two\ndata\n\n", ["one\ntwo\n"]),
    "other fields": (b"event: x\nid: 1\nretry: 5\nnonsense\ndata: one\n\n", ["one"]),
    "no data": (b"event: ping\n\nid: 7\n\ndata\n\ndata:\n\n", []),
    "one space goes": (b"data:  one \n\n", [" one "]),
    "not a field": (b" data: one\n\ndatax: one\n\nDATA: one\n\n", []),
    "line separators": (
        "data: a\u2028b\u2029c\x0bd\x0ce\x85f\n\n".encode(),
        ["a\u2028b\u2029c\x0bd\x0ce\x85f"],
    ),
    "not UTF-8": (b"data: a\xffb\n\n", ["a\ufffdb"]),
    "open end": (b"data: one\n\ndata: two", ["one", "two"]),
    "nothing": (b"", []),
}


def parsed(chunks):
    parser = EventParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.finish()


def cut(stream, places):
    places = [0, *sorted(places), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(places)]


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES)
def test_the_format(stream, events):
    """Whole, byte by byte, and cut in two at any place, a stream says the same."""
    assert parsed([stream]) == events
    assert parsed([stream[i : i + 1] for i in range(len(stream))]) == events
    for place in range(len(stream)):
        assert parsed([stream[:place], b"", stream[place:]]) == events


@given(st.data())
def test_any_events_in_any_portions(data):
    """What was put into events comes out, for all contents, line ends and cuts."""
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))
    contents = data.draw(st.lists(st.lists(line, min_size=1, max_size=3), max_size=4))
    stream = "".join(
        "".join(f"data: {part}{end}" for part in lines) + f": note{end}{end}" for lines in contents
    ).encode()
    places = data.draw(st.lists(st.integers(0, len(stream)), max_size=12))
    assert parsed(cut(stream, places)) == [e for lines in contents if (e := "\n".join(lines))]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_garbage_in_any_portions(garbage, places):
    """Any bytes are read without an error, and the same however they are cut."""
    places = [min(place, len(garbage)) for place in places]
    assert parsed(cut(garbage, places)) == parsed([garbage])


def test_the_open_event_is_measured():
    """How much waits for its end is known, so that an endless event can be given up."""
    parser = EventParser()
    parser.feed(b"data: " + b"x" * 100)
    assert parser.pending == 106
    parser.feed(b"\ndata: y")
    assert parser.pending == 107
    parser.feed(b"\n\n")
    assert parser.pending == 0
    assert json.dumps(parser.finish()) == "[]"
