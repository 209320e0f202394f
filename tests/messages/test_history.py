"""The history is a list: what users do to it is seen by the log and on the wire."""

import copy
import json
import pickle

import pytest
from hypothesis import given, strategies as st

from pygent.messages import History, Message, well_formed

texts = st.text(st.characters(), max_size=20)
entries = st.one_of(
    st.builds(
        lambda role, text: {"role": role, "content": text},
        st.sampled_from(["user", "system"]),
        texts,
    ),
    st.builds(lambda text: Message("assistant", text), texts),
)


def on_the_wire(history):
    return json.loads(history.wire())


def as_dicts(history):
    return [dict(entry) for entry in history]


@given(st.lists(st.one_of(entries, st.just("wire")), max_size=12))
def test_the_wire_is_the_history_however_often_it_is_asked_for(steps):
    """Serialising incrementally gives what serialising at once gives, lone surrogates included."""
    history = History()
    for step in steps:
        if step == "wire":
            history.wire()
        else:
            history.append(step)
    assert on_the_wire(history) == json.loads(json.dumps(as_dicts(history)))


def test_an_entry_is_serialised_once(monkeypatch):
    """A call costs the new entries, not the old ones."""
    made = []
    monkeypatch.setattr(
        "pygent.messages.history.wire_bytes", lambda entry: made.append(entry) or b"{}"
    )
    history = History()
    for number in range(5):
        history.add({"role": "user", "content": str(number)})
        history.wire()
    assert len(made) == 5


def test_what_goes_around_the_wire_stands_around_it():
    """A request is made in one copy: what comes before and after is put there at once."""
    history = History()
    history.add({"role": "user", "content": "hi"})
    assert history.wire(b"<", b">") == b"<" + history.wire() + b">"


def test_a_history_knows_whether_it_may_hold_images():
    """It is noticed when an entry is serialised, and forgotten when that entry is gone."""
    history = History()
    history.add({"role": "tool", "content": "text", "tool_call_id": "a"})
    history.wire()
    assert not history.has_images
    history.add({"role": "tool", "content": "data:image/png;base64,AA", "tool_call_id": "b"})
    history.wire()
    assert history.has_images
    history.pop()
    history.wire()
    assert not history.has_images


EDITS = [
    lambda h: h[1].update(content="new"),
    lambda h: h[1].__setitem__("content", "new"),
    lambda h: setattr(h[2], "content", "new"),
    lambda h: h.pop(),
    lambda h: h.insert(0, {"role": "user", "content": "first"}),
    lambda h: h.__setitem__(1, {"role": "user", "content": "new"}),
    lambda h: h.__delitem__(slice(1, 3)),
    lambda h: h.reverse(),
    lambda h: h.clear(),
    lambda h: h[0].pop("content"),
]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_told_once_and_seen_on_the_wire(edit):
    """Whatever is done to the list or an entry of it, nothing stale is ever sent."""
    edits = []
    history = History(on_edit=lambda: edits.append(1))
    for entry in ({"role": "system", "content": "s"}, {"role": "user", "content": "u"}):
        history.add(entry)
    history.add(Message("assistant", "a"))
    before = history.wire()
    edit(history)
    assert len(edits) == 1
    assert history.wire() != before
    assert on_the_wire(history) == as_dicts(history)


def test_appending_is_told_to_the_log():
    """`append`, `extend` and `+=` hand each entry over; `add` does not."""
    told = []
    history = History(on_append=told.append)
    history.append({"role": "user", "content": "1"})
    history.extend([{"role": "user", "content": "2"}])
    history += [{"role": "user", "content": "3"}]
    history.add({"role": "user", "content": "4"})
    assert [entry["content"] for entry in told] == ["1", "2", "3"]


def test_the_same_event_is_added_once():
    """An append that was interrupted and begun again leaves one entry."""
    history = History()
    history.add({"role": "user", "content": "x"}, seq=3)
    history.add({"role": "user", "content": "x"}, seq=3)
    assert len(history) == 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_plain_and_independent(copied):
    """A copy of the history is a list of dictionaries that tells nobody anything."""
    edits = []
    history = History(on_edit=lambda: edits.append(1))
    history.add({"role": "user", "content": "x"})
    twin = copied(history)
    twin[0]["content"] = "y"
    assert type(twin) is list
    assert history[0]["content"] == "x"
    assert not edits


messages = st.lists(
    st.one_of(
        st.builds(lambda t: {"role": "user", "content": t}, texts),
        st.builds(
            lambda i: {"role": "tool", "content": "r", "tool_call_id": i}, st.sampled_from("abc")
        ),
        st.builds(
            lambda ids: {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}}
                    for i in ids
                ],
            },
            st.lists(st.sampled_from("abc"), unique=True, min_size=1),
        ),
    ),
    max_size=12,
)


@given(messages)
def test_any_history_can_be_made_one_that_the_api_accepts(raw):
    """Each call has exactly one result, right behind it and in order; no result stands alone."""
    fixed = well_formed(raw)
    expected = []
    for entry in fixed:
        if entry.get("role") == "tool":
            assert expected.pop(0) == entry["tool_call_id"]
        else:
            assert not expected
            expected = [call["id"] for call in entry.get("tool_calls") or ()]
    assert not expected
    users = [entry for entry in raw if entry["role"] == "user"]
    assert [entry for entry in fixed if entry.get("role") == "user"] == users
    again = [dict(entry) for entry in well_formed(fixed)]
    assert again == [dict(entry) for entry in fixed]


def test_a_result_that_is_there_is_kept():
    """A well-formed history comes out as it went in."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    raw = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "done", "tool_call_id": "a"},
    ]
    assert [dict(entry) for entry in well_formed(raw)] == raw
