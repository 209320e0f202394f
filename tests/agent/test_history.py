"""The conversation: a list that users may change, a file that can be read at every moment."""

from __future__ import annotations

import copy
import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygent.errors import PygentError
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


def test_the_history_file_is_json_after_every_append(tmp_path):
    """`json.loads` reads it at each event, and finds the conversation."""
    path = tmp_path / "deep" / "history.json"
    agent = make(
        Scripted(calls(call("glob", pattern="*")), "ok"), tmp_path, history_file=path
    )
    checked = []

    def check(event):
        if event.type != "delta":
            checked.append(json.loads(path.read_text()) == [dict(m) for m in agent.history])

    agent.log.subscribe(check)
    agent.run("go")
    assert checked
    assert all(checked)
    agent.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_restored_agent_steps_and_keeps_the_ids(tmp_path):
    """The conversation is there with its call ids, the first step works, the file goes on."""
    path = tmp_path / "history.json"
    first = make(Scripted(calls(call("glob", pattern="*")), "ok"), tmp_path, history_file=path)
    first.run("go")
    first.close()
    before = [dict(m) for m in first.history]
    model = Scripted("again")
    second = make(model, tmp_path, history_file=path)
    assert [dict(m) for m in second.history] == before
    assert second.history[3]["tool_call_id"] == second.history[2].tool_calls[0].id
    second.step("more")
    assert model.seen[0] == [*before, {"role": "user", "content": "more"}]
    second.close()
    assert json.loads(path.read_text()) == [dict(m) for m in second.history]
    assert len(json.loads(path.read_text())) == len(before) + 2


def test_the_setting_names_the_history_file(tmp_path, monkeypatch):
    """`PYGENT_HISTORY_FILE` is read when an agent is made."""
    path = tmp_path / "h.json"
    monkeypatch.setenv("PYGENT_HISTORY_FILE", str(path))
    agent = make("ok", tmp_path)
    agent.run("go")
    agent.close()
    assert [m["role"] for m in json.loads(path.read_text())] == ["system", "user", "assistant"]


@pytest.mark.parametrize("content", ['{"a": 1}', "not json", "[1, 2]", '"text"', "[[]]"])
def test_a_file_that_is_no_history_is_left_as_it_is(tmp_path, content):
    """It is refused by name, and not overwritten."""
    path = tmp_path / "precious"
    path.write_text(content)
    with pytest.raises(PygentError, match="precious"):
        make("ok", tmp_path, history_file=path)
    assert path.read_text() == content


@pytest.mark.parametrize("kind", ["directory", "fifo"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    """Nothing hangs, nothing is overwritten."""
    path = tmp_path / "odd"
    if kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(PygentError, match="odd"):
        make("ok", tmp_path, history_file=path)


def test_edits_reach_the_file(tmp_path):
    """The file is the conversation as it is now."""
    path = tmp_path / "history.json"
    agent = make("ok", tmp_path, history_file=path)
    agent.run("go")
    agent.history[1]["content"] = "changed"
    del agent.history[2]
    agent.append_history({"role": "user", "content": "new"})
    agent.close()
    said = [m["content"] for m in json.loads(path.read_text())]
    assert said == [agent.system_msg, "changed", "new"]


def test_the_log_file_has_a_line_for_each_message(tmp_path):
    """People can follow it while an agent works."""
    path = tmp_path / "deep" / "messages.log"
    agent = make(Scripted(calls(call("glob", pattern="*")), "ok"), tmp_path, log_file=path)
    agent.run("go")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [dict(m) for m in agent.history]
    agent.close()


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


def test_an_agent_leaves_nothing_on_the_disk(tmp_path):
    """A script with an agent that only talks leaves its folders as empty as they were."""
    places = {name: tmp_path / name for name in ("cwd", "scratch", "house")}
    for place in places.values():
        place.mkdir()
    program = (
        "from pygent.agent import Agent\n"
        "from pygent.messages import Message\n"
        "class M:\n"
        "    def chat(self, messages, model, tools): return Message('assistant', 'hi')\n"
        "agent = Agent(model=M())\n"
        "agent.step('hello'); agent.run('again'); list(agent.stream('more'))\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "PYGENT_"))}
    environment |= {
        "TMPDIR": str(places["scratch"]),
        "HOME": str(places["house"]),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=places["cwd"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert {name: list(place.rglob("*")) for name, place in places.items()} == {
        name: [] for name in places
    }


def test_the_made_up_workspace_goes_with_cleanup(tmp_path):
    """It is made when first needed, and nothing of it stays."""
    from pygent.agent import Agent

    agent = Agent(model=Scripted(calls(call("bash", cmd="touch a")), "ok"), display=False)
    assert not list((tmp_path / "tmp").iterdir())
    agent.run("go")
    agent.runtime.cleanup()
    assert not list((tmp_path / "tmp").iterdir())
