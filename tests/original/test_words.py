"""What programs and models of the original read: the same words, where they were."""

from __future__ import annotations

import base64
import json

import pytest

from pygent import agent as agent_module, tools
from pygent.agent import Agent
from pygent.openai_compat import Message, ToolCall, ToolCallFunction
from pygent.persona import Persona
from pygent.runtime import Runtime
from pygent.system_message import build_system_msg
from pygent.task_manager import TaskManager


@pytest.fixture
def rt(tmp_path):
    with Runtime(use_docker=False, workspace=tmp_path / "w") as runtime:
        yield runtime


class Stops:
    def chat(self, messages, model, tools):
        return Message(
            "assistant", None, [ToolCall("1", "function", ToolCallFunction("stop", "{}"))]
        )


def test_bash_begins_with_its_command(rt):
    """On success, failure and timeout, and to `stream`."""
    pieces = []
    assert rt.bash("echo hi", stream=pieces.append) == "$ echo hi\nhi\n" == "".join(pieces)
    failed = rt.bash("exit 3")
    assert failed.startswith("$ exit 3\n")
    assert "3" in failed.split("\n", 1)[1]
    late = rt.bash("sleep 9", timeout=0.1)
    assert late.startswith("$ sleep 9\n")
    assert "[timeout after 0.1s]" in late
    assert "[timeout after 0s]" in rt.bash("touch never", timeout=0)
    assert not (rt.base_dir / "never").exists()


def test_files(rt, tmp_path):
    """`Wrote`, `Uploaded`, `Exported`, `not found`; files or directories; base64."""
    assert rt.write_file("d/a", "x") == "Wrote d/a"
    assert rt.read_file("d/a") == "x"
    assert rt.read_file("d/a", binary=True) == base64.b64encode(b"x").decode()
    assert rt.read_file("nope") == "file nope not found"
    (tmp_path / "src").mkdir()
    (tmp_path / "src/f").write_text("y")
    assert rt.upload_file(tmp_path / "src") == "Uploaded src"
    assert rt.upload_file(tmp_path / "src/f", "g") == "Uploaded g"
    assert rt.upload_file(tmp_path / "none").startswith("file ")
    assert rt.export_file("d", tmp_path / "out") == "Exported d"
    assert (tmp_path / "out/a").read_text() == "x"
    assert rt.export_file("none", tmp_path / "z") == "file none not found"


def test_bans(rt):
    """`command 'rm' disabled`, `application 'x' disabled`."""
    rt.banned_commands.add("rm")
    rt.banned_apps.add("curl")
    assert "command 'rm' disabled" in rt.bash("rm x")
    assert "application 'curl' disabled" in rt.bash("ls; curl x")


def test_execute_tool_takes_calls_without_id_and_type(rt):
    """A name and arguments are enough."""

    class Bare:
        function = ToolCallFunction("bash", '{"cmd": "pwd"}')

    assert tools.execute_tool(Bare(), rt).startswith("$ pwd\n")


def test_the_original_ways_to_call_the_wrappers(rt, tmp_path):
    """Functions that take the runtime first."""
    assert tools._bash(rt, cmd="true") == "$ true\n"
    assert tools._write_file(rt, path="a", content="b") == "Wrote a"
    assert tools._download_file(rt, path="a") == "b"
    assert tools._download_file(rt, path="a", binary=True) == "Yg=="
    (tmp_path / "up").write_text("z")
    assert tools._upload_file(rt, src=str(tmp_path / "up")) == "Uploaded up"


def test_tasks(rt):
    """`running`, `finished`, and what a task has in its promised places."""
    manager = TaskManager(
        agent_factory=lambda p: Agent(runtime=Runtime(), model=Stops(), persona=p)
    )
    task = manager.start_task("go", rt)
    manager.tasks[task].thread.join(10)
    assert manager.status(task) == "finished"
    assert manager.tasks[task].status == "finished"
    assert manager.tasks[task].agent.history[-2].tool_calls[0].function.name == "stop"
    assert manager.collect_file(rt, task, "nope") == "file nope not found"
    assert manager.status("zzz") == "Task zzz not found"
    manager.close()


def test_the_system_message_names_persona_and_tools():
    """Name, description, the tools there are, and not those that are disabled."""
    text = build_system_msg(Persona("Ann", "a painter."), ["bash"])
    assert text.startswith("You are Ann. a painter.")
    assert "write_file" in text
    assert "`bash`" not in text
    assert "procceed" in text


def test_the_timeout_entry(tmp_path):
    """The last entry of the history tells of a limit."""
    agent = Agent(model=Stops(), workspace=tmp_path / "w", display=False)
    agent.run_until_stop("go", max_time=0)
    assert agent.history[-1] == {"role": "system", "content": "[timeout after 0s]"}


def test_history_file_and_resume(tmp_path):
    """A JSON array of messages, taken up again with its call ids."""
    path = tmp_path / "h.json"
    first = Agent(model=Stops(), workspace=tmp_path / "w", history_file=path, display=False)
    first.step("go")
    first.close()
    data = json.loads(path.read_text())
    assert [m["role"] for m in data] == ["system", "user", "assistant", "tool"]
    assert data[3]["tool_call_id"] == data[2]["tool_calls"][0]["id"]
    second = Agent(model=Stops(), workspace=tmp_path / "w", history_file=path, display=False)
    assert second.history[2].tool_calls[0].function.name == "stop"
    second.step("more")
    second.close()
    assert len(json.loads(path.read_text())) == 7


def test_the_builder_can_be_set_from_the_agent_module(tmp_path):
    """Its older place."""
    agent_module.set_system_message_builder(lambda persona, disabled=None: f"I {persona.name}")
    assert Agent(model=Stops(), display=False, persona=Persona("X", "")).system_msg == "I X"
    agent_module.set_system_message_builder(None)


def test_a_setting_that_names_a_missing_file_does_not_stop_the_work(monkeypatch):
    """It is left out, with a warning; a file that code names has to be there."""
    monkeypatch.setenv("PYGENT_INIT_FILES", "/nowhere/seed.txt")
    with Runtime(use_docker=False) as runtime, pytest.warns(UserWarning, match=r"seed\.txt"):
        assert runtime.write_file("a", "b") == "Wrote a"
