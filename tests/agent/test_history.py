"""The conversation: a list that users may change, a file that can be read at every moment."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pygent.messages import Message, well_formed
from tests.agent.models import Scripted, call, calls, kinds, make, raw_call, roles, well_answered

ROOT = Path(__file__).resolve().parents[2]


def test_the_promised_mix(tmp_path):
    """Assistant entries are `Message` objects that read as mappings too, all others are dicts."""
    agent = make(Scripted(calls(call("glob", pattern="*"), content="see"), "ok"), tmp_path)
    agent.run("go")
    for entry in agent.history:
        assert isinstance(entry, Message if entry["role"] == "assistant" else dict)
    reply = agent.history[2]
    assert (reply.content, reply["content"], reply.get("content")) == ("see", "see", "see")
    assert reply.tool_calls[0].function.name == "glob"
    assert reply["tool_calls"][0]["function"]["name"] == "glob"
    assert agent.history[3]["tool_call_id"] == reply.tool_calls[0].id
    assert json.loads(json.dumps([dict(m) for m in agent.history]))


def test_edits_are_recorded_and_sent(tmp_path):
    """Whatever a user does to the list or an entry, log and model see it."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path)
    agent.run("one")
    edits = [
        lambda h: h.append({"role": "user", "content": "appended"}),
        lambda h: h.extend([{"role": "user", "content": "extended"}]),
        lambda h: h.insert(1, {"role": "user", "content": "inserted"}),
        lambda h: h[1].update(content="updated"),
        lambda h: h.__setitem__(1, {"role": "user", "content": "set"}),
        lambda h: setattr(h[3], "content", "rewritten"),
        lambda h: h.pop(1),
        lambda h: h.__delitem__(slice(1, 3)),
    ]
    for number, edit in enumerate(edits):
        seq = agent.log.state.seq
        edit(agent.history)
        assert agent.log.state.seq == seq + 1, number
        assert json.loads(agent.history.wire()) == [dict(m) for m in agent.history], number
        sent = [dict(m) for m in agent.history]
        agent.step()
        assert model.seen[-1] == sent, number
    assert "history_edited" in kinds(agent)


def test_another_list_can_be_put_in_its_place(tmp_path):
    """`agent.history = [...]` is taken over, made well-formed, at the next turn."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path)
    agent.run("one")
    agent.history = [{"role": "user", "content": "else"}, Message("assistant", "yes")]
    agent.run("two")
    assert [m["content"] for m in model.seen[-1]] == [agent.system_msg, "else", "yes", "two"]
    assert agent.history is agent.log.history
    agent.history = []
    agent.run("three")
    assert [m["role"] for m in model.seen[-1]] == ["system", "user"]


def test_a_cleared_list_gets_its_system_message_back(tmp_path):
    """The model is never asked without being told who it is."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path)
    agent.run("one")
    agent.history.clear()
    agent.run("two")
    assert [m["role"] for m in model.seen[-1]] == ["system", "user"]


def test_a_copy_is_a_plain_list(tmp_path):
    """Copies and pickles are lists of dicts: changing them changes nothing here."""
    agent = make("ok", tmp_path)
    agent.run("go")
    seq = agent.log.state.seq
    for twin in (copy.deepcopy(agent.history), pickle.loads(pickle.dumps(agent.history))):
        assert type(twin) is list
        twin[0]["content"] = "other"
        twin.append({})
    assert agent.log.state.seq == seq


BROKEN = [
    ("result without call", [{"role": "tool", "content": "x", "tool_call_id": "no"}]),
    ("call without result", [calls(call("glob", "1")).to_dict()]),
    (
        "two results",
        [
            calls(call("glob", "1")).to_dict(),
            {"role": "tool", "content": "x", "tool_call_id": "1"},
            {"role": "tool", "content": "y", "tool_call_id": "1"},
        ],
    ),
    (
        "wrong order",
        [
            calls(call("glob", "1"), call("glob", "2")).to_dict(),
            {"role": "tool", "content": "y", "tool_call_id": "2"},
            {"role": "user", "content": "between"},
            {"role": "tool", "content": "x", "tool_call_id": "1"},
        ],
    ),
    ("no system message", [{"role": "user", "content": "a"}]),
]


@pytest.mark.parametrize(("what", "given_history"), BROKEN, ids=[b[0] for b in BROKEN])
@pytest.mark.parametrize("way", ["history", "file"])
def test_a_broken_history_is_put_right(tmp_path, what, given_history, way):
    """What the model gets is valid: a system message first, each call answered once, in order."""
    model = Scripted("ok")
    path = tmp_path / "history.json"
    if way == "file":
        path.write_text(json.dumps(given_history))
        agent = make(model, tmp_path, history_file=path)
    else:
        agent = make(model, tmp_path, history=given_history)
    agent.run("go")
    assert roles(agent)[0] == "system"
    assert well_answered(agent)
    assert agent.history[-1].content == "ok"


entries = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": st.text()}),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "content": st.text(), "tool_call_id": st.sampled_from("abc")}
    ),
    st.builds(
        lambda ids: calls(*(raw_call("glob", "{}", one) for one in ids)).to_dict(),
        st.lists(st.sampled_from("abc"), unique=True, max_size=3),
    ),
)


@given(st.lists(entries, max_size=8))
def test_any_history_comes_out_valid(raw):
    """Every call has one answer right behind it, in order, and nothing else is lost."""

    class Holder:
        history = well_formed(raw)

    assert well_answered(Holder)
    others = [m for m in raw if m["role"] in ("user", "system")]
    assert [m for m in Holder.history if m["role"] in ("user", "system")] == others
    assert well_formed(Holder.history) == Holder.history


def test_append_history_takes_what_models_return(tmp_path):
    """Messages, dictionaries, and objects that look like a message."""

    class Theirs:
        role, content, tool_calls = "assistant", "theirs", None

    agent = make("ok", tmp_path)
    agent.append_history(Message("assistant", "mine"))
    agent.append_history({"role": "user", "content": "dict"})
    agent.append_history(Theirs())
    assert [m["content"] for m in agent.history][-3:] == ["mine", "dict", "theirs"]
    assert isinstance(agent.history[-1], Message)
