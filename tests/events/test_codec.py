"""Events survive the way to JSON and back, and so does what this version does not know."""

import dataclasses
import json

import pytest
from hypothesis import given, strategies as st

from pygent import events
from pygent.errors import StoreError
from pygent.events import Delta, UnknownEvent, event_from_dict, event_to_dict
from pygent.events.kinds import KINDS

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
TYPES = {
    "str": st.text(),
    "int": st.integers(),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "Any": json_values,
}


def values(annotation):
    name = annotation.removesuffix(" | None")
    if name.startswith("Mapping"):
        made = st.dictionaries(st.text(), st.text(), max_size=3)
    elif name.startswith("Sequence[Mapping"):
        made = st.lists(st.dictionaries(st.text(), st.text(), max_size=2), max_size=2)
    elif name.startswith("Sequence"):
        made = st.lists(st.text(), max_size=3)
    else:
        made = TYPES[name]
    return made | st.none() if annotation.endswith(" | None") else made


@st.composite
def any_event(draw):
    cls = draw(st.sampled_from(sorted(KINDS.values(), key=lambda c: c.kind)))
    fields = [f for f in dataclasses.fields(cls) if f.name not in ("extra", "version")]
    return cls(**{f.name: draw(values(f.type)) for f in fields})


@given(any_event())
def test_an_event_survives_json(event):
    """Written and read again it is the same event, of the same kind."""
    read = event_from_dict(json.loads(json.dumps(event_to_dict(event))))
    assert type(read) is type(event)
    assert event_to_dict(read) == json.loads(json.dumps(event_to_dict(event)))


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=4))
def test_an_unknown_kind_is_kept_whole(data):
    """A reader passes on what a later version wrote."""
    raw = {**data, "type": "from_the_future", "session": "s", "seq": 7, "epoch": 1, "at": 1.5}
    raw = {**raw, "version": 1, "turn": 2}
    event = event_from_dict(raw)
    assert isinstance(event, UnknownEvent)
    assert {k: v for k, v in event_to_dict(event).items() if v is not None} == {
        k: v for k, v in raw.items() if v is not None
    }


def test_an_unknown_key_is_kept():
    """So is a key that a later version added to a kind we know."""
    raw = event_to_dict(events.TurnEnded(reason="stop")) | {"mood": "good"}
    assert event_to_dict(event_from_dict(raw))["mood"] == "good"


@pytest.mark.parametrize("raw", [{}, {"type": 3}, {"type": "turn_ended"}])
def test_what_is_no_event_is_said(raw):
    """A dictionary without a kind, or without what its kind needs, is refused with its start."""
    with pytest.raises(StoreError, match="not a"):
        event_from_dict(raw)


def test_events_cannot_be_changed():
    """Events are facts."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        events.TurnEnded(reason="stop").reason = "other"


def test_a_delta_is_no_event():
    """It has no number of its own, only that of the event before it."""
    raw = event_to_dict(Delta("text", "hi", after=4, session="s"))
    assert raw == {"type": "delta", "session": "s", "after": 4, "what": "text", "text": "hi"}
