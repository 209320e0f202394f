"""What an agent writes to the disk: the files that were named, and nothing else."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pygent.agent import Agent
from pygent.errors import PygentError
from tests.agent.models import Scripted, call, calls, make

ROOT = Path(__file__).resolve().parents[2]


def test_the_history_file_is_json_after_every_append(tmp_path):
    """`json.loads` reads it at each event, and finds the conversation."""
    path = tmp_path / "deep" / "history.json"
    agent = make(Scripted(calls(call("glob", pattern="*")), "ok"), tmp_path, history_file=path)
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
        check=False,
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


def test_an_agent_that_is_replaced_goes_on_with_its_files(tmp_path):
    """`dataclasses.replace` makes another agent of the same conversation; nothing is there twice."""
    files = {"history_file": tmp_path / "h.json", "log_file": tmp_path / "messages.log"}
    first = Agent(model=Scripted("one", "two"), workspace=tmp_path, display=False, **files)
    first.run("go")
    second = dataclasses.replace(first, model_name="other")
    assert second.runtime is first.runtime
    second.run("again")
    written = json.loads(files["history_file"].read_text())
    assert written == [dict(m) for m in second.history]
    assert [m["content"] for m in written[1:]] == ["go", "one", "again", "two"]
    assert len(files["log_file"].read_text().splitlines()) == 5
    second.close()
