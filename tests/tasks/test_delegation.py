"""Delegation by a model: what a child inherits, what it may, and what its parent learns."""

from __future__ import annotations

import json

from pygent import tools
from pygent.persona import Persona
from pygent.runtime import Runtime
from pygent.task_manager import TaskManager
from pygent.task_tools import get_task_manager, set_task_manager
from pygent.tools import CallContext, register_tool
from tests.agent.models import Scripted, answers, call, calls, kinds, make, until
from tests.tasks.split import Split, only

NOTHING = {"type": "object", "properties": {}}


def test_delegate_status_and_collect(managed, tmp_path):
    """The whole way, through the model's own calls."""
    manager = managed(
        lambda p: make(
            Scripted(calls(call("write_file", path="r", content="42")), "6x7"),
            None,
            runtime=Runtime(),
        )
    )

    def ask(messages):
        task = only(manager).id
        return calls(
            call("task_status", "s", task_id=task),
            call("collect_file", "c", task_id=task, path="r"),
            call("list_tasks", "l"),
        )

    agent = make(Scripted(calls(call("delegate_task", prompt="go")), ask, "ok"), tmp_path)
    agent.run("x")
    started, status, collected, listed = answers(agent)
    assert started == f"started {only(manager).id}"
    assert status == "finished\n6x7"
    assert collected == "Retrieved r"
    assert json.loads(listed)[only(manager).id]["status"] == "finished"
    assert agent.runtime.read_file("r") == "42"


def test_the_parents_log_has_start_and_end(managed, tmp_path):
    """With the child's session and its answer; the child's log names its parent."""
    manager = managed()
    agent = make(Split(), tmp_path)
    agent.run("go")
    task = only(manager)
    events = {e.type: e for e in agent.log.events()}
    started, ended = events["task_started"], events["task_ended"]
    assert (started.task, started.prompt, started.task_session) == (
        task.id,
        "work",
        task.agent.session,
    )
    assert (ended.task, ended.status, ended.result) == (task.id, "finished", "child's answer")
    assert {e.parent for e in task.agent.log.events()} == {agent.session}
    assert kinds(task.agent)[-1] == "turn_ended"


def test_delegating_twice_by_one_call_is_delegating_once(managed, tmp_path):
    """A call that is made again after a crash gets the task it started; another call does not."""
    manager = managed(lambda p: make("ok", None, runtime=Runtime()), max_tasks=9)
    agent = make("x", tmp_path)
    context = CallContext("call-1", agent, print)
    other = CallContext("call-2", agent, print)
    with context.active():
        first = tools._delegate_task(agent.runtime, "go")
        again = tools._delegate_task(agent.runtime, "go")
    with other.active():
        second = tools._delegate_task(agent.runtime, "go")
    assert first == again != second
    assert len(manager.tasks) == 2


def test_a_tool_may_start_several_tasks(managed, tmp_path):
    """Only `delegate_task` is once for each call; a tool of one's own fans out."""
    manager = managed(lambda p: make("ok", None, runtime=Runtime()))

    def fan_out(rt):
        return [get_task_manager().start_task("same", rt) for _ in range(3)]

    register_tool("fan_out", "", NOTHING, fan_out)
    agent = make(Scripted(calls(call("fan_out")), "ok"), tmp_path)
    agent.run("go")
    assert len(set(json.loads(answers(agent)[0]))) == 3
    until(lambda: all(task.done for task in manager.tasks.values()))
    assert kinds(agent).count("task_ended") == 3


def test_links_lead_out_of_neither_workspace(managed, tmp_path):
    """A child's link to a host file, and a destination outside, are refused on both ends."""
    canary = tmp_path / "secret"
    canary.write_text("CANARY")
    evil = (
        f"ln -s {canary} out; ln -s {tmp_path} dir; mkdir deep; ln -s {canary} deep/l; echo ok > f"
    )
    manager = managed(
        lambda p: make(Scripted(calls(call("bash", cmd=evil)), "ok"), None, runtime=Runtime())
    )
    rt = make("x", tmp_path).runtime
    tools._delegate_task(rt, "go")
    task = only(manager).id
    assert rt.base_dir.is_dir()
    before = sorted(p.name for p in tmp_path.iterdir())
    for path, dest in [
        ("out", "../../x"),
        ("out", "x"),
        ("dir/secret", "y"),
        ("f", "../z"),
        ("f", "/tmp/zz"),
    ]:
        told = tools.execute_tool(call("collect_file", task_id=task, path=path, dest=dest), rt)
        assert "CANARY" not in told
    tools.execute_tool(call("collect_file", task_id=task, path="deep", dest="deep"), rt)
    assert tools.execute_tool(call("collect_file", task_id=task, path="f"), rt) == "Retrieved f"
    for path in rt.base_dir.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert "CANARY" not in path.read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    told = tools.execute_tool(call("delegate_task", prompt="x", files=["../secret"]), rt)
    assert "CANARY" not in told
    assert "started" not in told


def test_the_words_of_the_tools(managed, tmp_path):
    """What a model reads when it cannot delegate."""
    managed(lambda p: make("ok", None, runtime=Runtime()), max_tasks=0)
    rt = make("x", tmp_path).runtime
    assert tools._delegate_task(rt, "go") == "error: max 0 tasks reached"
    assert tools._task_status(rt, "nope") == "Task nope not found"
    assert tools._collect_file(rt, "nope", "f") == "Task nope not found"
    assert "file nope not found" in _with_place(managed, rt)
    rt.task_depth = 1
    assert tools._delegate_task(rt, "go") == "error: delegation not allowed in sub-tasks"


def _with_place(managed, rt):
    managed(lambda p: make("ok", None, runtime=Runtime()))
    return tools._delegate_task(rt, "go", files=["nope"])


def test_personas_through_the_tools(managed, tmp_path):
    """`list_personas` shows them, `delegate_persona_task` picks one."""
    manager = managed(
        lambda p: make("ok", None, runtime=Runtime()),
        personas=[Persona("a", "x"), Persona("b", "y")],
    )
    rt = make("x", tmp_path).runtime
    assert json.loads(tools._list_personas(rt)) == [
        {"name": "a", "description": "x"},
        {"name": "b", "description": "y"},
    ]
    tools._delegate_persona_task(rt, "go", "b")
    assert only(manager).agent.persona == Persona("b", "y")


def test_the_manager_in_its_promised_place():
    """`tools._task_manager` is the manager, made when first needed."""
    set_task_manager(None)
    assert tools._task_manager is None
    assert get_task_manager() is tools._task_manager is get_task_manager()
    mine = TaskManager()
    tools._task_manager = mine
    assert get_task_manager() is mine
    set_task_manager(None)
