"""What a delegated agent inherits: never more than its parent has."""

from __future__ import annotations

import pytest

from pygent.models import OpenAIModel, set_custom_model
from pygent.runtime import Runtime
from pygent.task_manager import TaskManager
from pygent.tools import register_tool
from tests.agent.models import Scripted, answers, call, calls, make
from tests.tasks.split import Split, only

NOTHING = {"type": "object", "properties": {}}


def test_the_childs_model(managed, tmp_path):
    """Its factory's, else the global custom one, else its parent's, else `OpenAIModel`."""
    manager = managed(max_tasks=9)
    mine = Split()
    agent = make(mine, tmp_path, model_name="special")
    agent.run("go")
    assert only(manager).agent.model is mine
    assert ("work", "special") in mine.models

    custom, manager = Scripted("custom"), managed()
    set_custom_model(custom)
    make(Split(), tmp_path).run("go")
    assert only(manager).agent.model is custom

    own = Scripted("own")
    manager = managed(lambda p: make(own, None, runtime=Runtime()))
    make(Split(), tmp_path).run("go")
    assert only(manager).agent.model is own
    set_custom_model(None)

    with TaskManager() as manager, Runtime() as rt:
        task = manager.start_task("x", rt)
        assert isinstance(manager.tasks[task].agent.model, OpenAIModel)
        assert "OPENAI_API_KEY" in manager.wait(task, 10)


@pytest.mark.parametrize("factory", [None, lambda p: make(Split("x"), None, runtime=Runtime())])
def test_never_more_tools_than_the_parent(managed, tmp_path, factory):
    """What the parent has not, or has disabled, the child has not; `ask_user` nobody could answer."""
    register_tool("secret", "", NOTHING, lambda rt: "s")
    manager = managed(factory)
    agent = make(
        Split(),
        tmp_path,
        tools=["bash", "glob", "ask_user", "delegate_task"],
        disabled_tools=["glob"],
    )
    agent.run("go")
    child = only(manager).agent
    assert set(child.tool_names()) <= {"bash", "delegate_task"}
    assert "bash" in child.tool_names()
    for name in ("glob", "ask_user", "continue", "secret", "read_file"):
        assert child.find_tool(name) is None


def test_a_disabled_tool_does_not_run_in_a_child(managed, tmp_path):
    """Though the child's model names it."""
    manager = managed()
    model = Split(calls(call("bash", cmd="touch ran")), "ok")
    make(model, tmp_path, disabled_tools=["bash"]).run("go")
    task = only(manager)
    assert "disabled" in answers(task.agent)[0]
    assert not list(task.agent.runtime.base_dir.iterdir())


@pytest.mark.parametrize("own", [None, lambda call: True])
def test_the_parents_approver_is_asked_for_the_child(managed, tmp_path, own):
    """A child's own approver cannot allow what the parent's refuses."""
    asked = []

    def approve(one):
        asked.append(one.function.name)
        return one.function.name != "bash"

    work = (calls(call("bash", cmd="touch ran")), "ok")
    manager = managed(
        None if own is None else lambda p: make(Split(*work), None, runtime=Runtime(), approve=own)
    )
    make(Split(*work), tmp_path, approve=approve).run("go")
    task = only(manager)
    assert asked == ["delegate_task", "bash"]
    assert "[refused]" in answers(task.agent)[0]
    assert not list(task.agent.runtime.base_dir.iterdir())


def test_a_childs_own_refusal_holds_too(managed, tmp_path):
    """Both have to agree."""
    work = (calls(call("bash", cmd="touch ran")), "ok")
    manager = managed(
        lambda p: make(Split(*work), None, runtime=Runtime(), approve=lambda one: "never")
    )
    make(Split(*work), tmp_path, approve=lambda one: True).run("go")
    assert "never" in answers(only(manager).agent)[0]


def test_confirm_bash_without_a_terminal_refuses_in_the_child(managed, tmp_path, capsys):
    """Nobody is there to ask: denied, never allowed, and nothing is asked on the console."""
    manager = managed()
    model = Split(calls(call("bash", cmd="touch ran")), "ok")
    make(model, tmp_path, confirm_bash=True).run("go")
    task = only(manager)
    assert "[refused]" in answers(task.agent)[0]
    assert not list(task.agent.runtime.base_dir.iterdir())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
