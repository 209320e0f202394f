"""What a script that drives an agent shows on standard output, and what it does not."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pygent.agent import Agent
from pygent.display import LIMIT, Display
from pygent.events import Delta, ModelReplied, SandboxChosen, ToolFinished, TurnEnded
from pygent.runtime import Runtime
from pygent.tools import register_tool
from tests.agent.models import Scripted, Streaming, call, calls, make

ROOT = Path(__file__).resolve().parents[2]
NOTHING = {"type": "object", "properties": {}}


def shown(*events, **more):
    stream = io.StringIO()
    display = Display("Pygent", stream, **more)
    for event in events:
        display.show(event)
    return stream.getvalue()


def replied(text):
    return ModelReplied(message={"role": "assistant", "content": text})


@pytest.mark.parametrize("model", [Scripted, Streaming])
@pytest.mark.parametrize("way", ["step", "run_until_stop"])
def test_replies_and_commands_are_shown(tmp_path, capsys, model, way):
    """`step` and `run_until_stop` show each once, streamed or not."""
    script = calls(call("bash", cmd="echo hi"), call("stop"), content="let me see")
    agent = make(model(script), tmp_path, display=None)
    getattr(agent, way)("go")
    lines = capsys.readouterr().out.splitlines()
    lines = [line for line in lines if not line.startswith("[warning: no isolation")]
    assert [line.rstrip() for line in lines] == ["Pygent: let me see", "$ echo hi", "hi"]


def test_the_tier_is_told_once_where_nothing_isolates(tmp_path, capsys):
    """Running on the bare host by default is a line that is seen."""
    agent = make(Scripted(default=calls(call("bash", cmd="true"))), tmp_path, display=True)
    agent.step("go")
    agent.step("go")
    assert capsys.readouterr().out.count("no isolation") == 1


@pytest.mark.parametrize("quiet", ["display", "setting", "run", "stream"])
def test_nothing_is_shown(tmp_path, capsys, monkeypatch, quiet):
    """`display=False`, `PYGENT_DISPLAY=0`, `run` and `stream` are silent."""
    if quiet == "setting":
        monkeypatch.setenv("PYGENT_DISPLAY", "0")
    agent = make(
        Streaming(calls(call("bash", cmd="echo hi")), "done"),
        tmp_path,
        display=False if quiet == "display" else None,
    )
    if quiet == "run":
        agent.run("go")
    elif quiet == "stream":
        list(agent.stream("go"))
    else:
        agent.step("go")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_display_wins_over_the_setting(tmp_path, capsys, monkeypatch):
    """What the code says holds."""
    monkeypatch.setenv("PYGENT_DISPLAY", "0")
    make("hello", tmp_path, display=True).step("go")
    assert capsys.readouterr().out == "Pygent: hello\n"


def test_a_delegated_agent_shows_nothing(tmp_path, capsys):
    """What a tool's own agent says belongs to the tool."""
    from pygent.task_manager import TaskManager

    with TaskManager(lambda persona: make("child", tmp_path, display=True)) as manager:
        task = manager.start_task("x", make("y", tmp_path).runtime)
        assert manager.wait(task, 10) == "finished"
    assert capsys.readouterr().out == ""


def test_limits_are_shown(tmp_path, capsys):
    """A turn that ran out says so."""
    make(Scripted(default="hm"), tmp_path, display=True).run_until_stop("go", max_steps=1)
    assert capsys.readouterr().out.splitlines() == ["Pygent: hm", "[max steps]"]


def test_the_persona_gives_the_name(tmp_path, capsys):
    """Whoever speaks is named."""
    from pygent.persona import Persona

    make("hi", tmp_path, display=True, persona=Persona("Ann", "")).step("go")
    assert capsys.readouterr().out == "Ann: hi\n"


def test_other_tools_are_named(tmp_path, capsys):
    """Their result follows their name; a failure is seen too."""
    register_tool("add", "", NOTHING, lambda rt: "42")
    agent = make(Scripted(calls(call("add"), call("nope"))), tmp_path, display=True)
    agent.step("go")
    first, second = capsys.readouterr().out.splitlines()
    assert first == "[add] 42"
    assert second.startswith("[nope] [error] unknown tool")


def test_control_characters_are_harmless():
    """Nothing moves the cursor, sets a title, hides text or turns it around."""
    evil = "a\x1b[2J\x1b]0;t\x07b\x08\x9b31m\r\nc\u202ed\u2066e\x00\ud800f"
    for out in (
        shown(replied(evil)),
        shown(Delta("text", evil)),
        shown(Delta("output", evil, call="1")),
        shown(ToolFinished(call="1", name="x", content=evil)),
    ):
        assert all(char.isprintable() or char == "\n" for char in out), repr(out)
        assert "\\x1b[2J" in out
        assert out.encode()


def test_long_output_is_capped():
    """One call does not flood the screen, whole or in pieces."""
    whole = shown(ToolFinished(call="1", name="x", content="a" * 1_000_000))
    assert LIMIT < len(whole) < LIMIT + 100
    pieces = shown(*[Delta("output", "b" * 1000, call="1") for _ in range(1000)])
    assert len(pieces) < LIMIT + 100
    assert "[…]" in whole
    assert "[…]" in pieces


def test_the_end_of_long_output_is_shown():
    """What was cut off while it came is followed by its last lines: mostly those say how it went."""
    lines = [f"line {number}\n" for number in range(10_000)]
    out = shown(
        *[Delta("output", line, call="1") for line in lines],
        ToolFinished(call="1", name="bash", content="".join(lines) + "[exit code 1]"),
        replied("done"),
    )
    assert "[…]\nline 9989\n" in out
    assert out.endswith("line 9999\n[exit code 1]\nPygent: done\n")


def test_letters_that_belong_together_stay_together():
    """Joiners are part of words and of emoji."""
    assert shown(replied("👩\u200d👧 a\u200cb")) == "Pygent: 👩\u200d👧 a\u200cb\n"


def test_a_streamed_command_is_shown_once():
    """The end of a call whose output was seen is not the output again."""
    out = shown(
        Delta("output", "$ ls\n", call="1"),
        Delta("output", "a\n", call="1"),
        ToolFinished(call="1", name="bash", content="$ ls\na\n"),
        replied("done"),
    )
    assert out == "$ ls\na\nPygent: done\n"


def test_a_choice_that_was_asked_for_is_not_shown():
    """Only what nobody asked for is worth a line."""
    asked = SandboxChosen(tier="local", isolated=False, reason="r", asked_for="sandbox='local'")
    assert shown(asked) == ""
    assert shown(TurnEnded(reason="answer")) == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_stdout_will_do(tmp_path, encoding):
    """What a stream cannot encode is escaped, and the turn goes on."""
    program = (
        "from tests.agent.models import *\n"
        "agent = Agent(model=Scripted('gr\\u00fc\\u00df \\u2713', 'ok'))\n"
        "agent.step('x')\nagent.step('y')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding},
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode(encoding).splitlines()
    assert lines[1] == "Pygent: ok"
    assert ("✓" in lines[0]) == (encoding == "utf-8")
    assert not done.stderr


def test_a_closed_stdout_does_not_stop_the_work(tmp_path):
    """Nobody reads: the turn goes on all the same."""
    program = (
        "import os, sys\n"
        "from tests.agent.models import *\n"
        "agent = Agent(model=Scripted(calls(call('bash', cmd='echo x > kept')), 'ok'), workspace='w')\n"
        "os.close(1)\n"
        "agent.run_until_stop('x', max_steps=2)\n"
        "print(ends(agent), file=sys.stderr)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr.splitlines()[-1] == "['max_steps']"
    assert (tmp_path / "w" / "kept").read_text() == "x\n"


def test_a_run_that_nobody_watches_still_warns(tmp_path, caplog, monkeypatch):
    """Commands without isolation that nobody asked for: once, in words that reach standard error."""
    monkeypatch.setattr("pygent.runtime.choice._warned", False)
    replies = [calls(call("bash", cmd="true")), "done"]
    for _ in range(2):
        agent = Agent(model=Scripted(*replies), workspace=tmp_path)
        assert agent.run("go").content == "done"
    assert caplog.text.count("without isolation") == 1
    assert "PYGENT_SANDBOX=local" in caplog.text
    asked = Agent(model=Scripted(*replies), runtime=Runtime(sandbox="local", workspace=tmp_path))
    caplog.clear()
    monkeypatch.setattr("pygent.runtime.choice._warned", False)
    asked.run("go")
    assert not caplog.text
