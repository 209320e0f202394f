"""`TaskManager`: each task has its own agent, workspace and thread, and ends in known words."""

from __future__ import annotations

import threading

import pytest

from pygent.errors import APIError, ConfigError, PygentError
from pygent.persona import Persona
from pygent.runtime import Runtime
from pygent.task_manager import TaskManager
from tests.agent.models import Scripted, call, calls, make, until


@pytest.fixture
def parent(tmp_path):
    with Runtime(workspace=tmp_path / "parent", sandbox="local") as runtime:
        yield runtime


def working(*script, **more):
    """Return a factory of agents with a script."""
    return lambda persona: make(Scripted(*script), None, runtime=Runtime(), **more)


def done(manager, *args, **more):
    task = manager.start_task(*args, **more)
    return task, manager.wait(task, 20)


def test_a_task_from_start_to_end(parent):
    """It runs in a thread and a workspace of its own; files go in, files and answer come out."""
    parent.write_file("in.txt", "seed")
    parent.write_file("lib/a.py", "x")
    work = calls(call("bash", cmd="cat in.txt lib/a.py > out.txt; mkdir d; echo y > d/f"))
    with TaskManager(working(work, "all done")) as manager:
        task, status = done(manager, "do it", parent, files=["in.txt", "lib"])
        assert status == manager.status(task) == "finished"
        assert manager.result(task) == "all done"
        child = manager.tasks[task].agent.runtime
        assert child.base_dir != parent.base_dir
        assert manager.tasks[task].thread is not threading.current_thread()
        assert manager.collect_file(parent, task, "out.txt") == "Retrieved out.txt"
        assert manager.collect_file(parent, task, "d", "got/d") == "Retrieved got/d"
        assert (parent.base_dir / "out.txt").read_text() == "seedx"
        assert (parent.base_dir / "got/d/f").read_text() == "y\n"
        assert manager.collect_file(parent, task, "nope") == "file nope not found"
    assert not child.base_dir.joinpath("out.txt").exists()


def test_unknown_tasks():
    """The promised words, or an error that names the task."""
    manager = TaskManager()
    assert manager.status("x") == "Task x not found"
    assert manager.collect_file(Runtime(), "x", "f") == "Task x not found"
    for ask in (manager.wait, manager.cancel, manager.result, manager.get_agent):
        with pytest.raises(PygentError, match="Task x not found"):
            ask("x")


def test_a_file_that_is_not_there_is_named(parent):
    """Nothing is started then, and the place is free again."""
    with TaskManager(working("ok"), max_tasks=1) as manager:
        with pytest.raises(PygentError, match="file nope not found"):
            manager.start_task("x", parent, files=["nope"])
        assert done(manager, "x", parent)[1] == "finished"


@pytest.mark.parametrize(
    ("script", "status"),
    [
        (("answer",), "finished"),
        ((calls(call("stop")),), "finished"),
        ((APIError("the server is on fire"),), "error: the server is on fire"),
        ((ValueError("bug"),), "error: bug"),
        ((SystemExit(),), "error: SystemExit"),
        ((lambda _: {}, lambda _: {}, lambda _: {}), "error: the model gave empty replies"),
    ],
)
def test_how_tasks_end(parent, script, status):
    """Every ending has its word."""
    with TaskManager(working(*script)) as manager:
        assert done(manager, "x", parent)[1] == status


def test_running_out_of_steps_is_no_finish(parent):
    """A task that was not done does not say so."""
    busy = calls(call("glob", pattern="*"))
    with TaskManager(lambda p: make(Scripted(default=busy), None, runtime=Runtime())) as manager:
        assert done(manager, "x", parent)[1] == "error: ran out of steps"


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"step_timeout": 0.3}, "timeout after 0.3s"),
        ({"task_timeout": 0.4}, "timeout after 0.4s"),
        ({"task_timeout": 0}, "timeout after 0s"),
    ],
)
def test_limits(parent, limit, words):
    """`step_timeout` and `task_timeout` end a task, and are told."""
    hang = calls(call("bash", cmd="sleep 60", timeout=90))
    with TaskManager(working(hang)) as manager:
        assert done(manager, "x", parent, **limit)[1] == words


def test_limits_from_the_settings(parent, monkeypatch):
    """`PYGENT_TASK_TIMEOUT` is read when a task is started."""
    monkeypatch.setenv("PYGENT_TASK_TIMEOUT", "0.2")
    hang = calls(call("bash", cmd="sleep 60", timeout=90))
    with TaskManager(working(hang)) as manager:
        assert done(manager, "x", parent)[1] == "timeout after 0.2s"


def test_cancel_a_task_at_work(parent):
    """Its command is dead, its status says so, its place is free."""
    hang = calls(call("bash", cmd="touch begun; sleep 60", timeout=90))
    with TaskManager(working(hang), max_tasks=1) as manager:
        task = manager.start_task("x", parent)
        until((manager.tasks[task].agent.runtime.base_dir / "begun").exists)
        assert manager.status(task) == "running"
        manager.cancel(task)
        assert manager.wait(task, 5) == "cancelled"
        assert manager.cancel(task) == "cancelled"


def test_cancel_at_once(parent):
    """However early: a task that was cancelled never works on."""
    hang = calls(call("bash", cmd="sleep 60", timeout=90))
    with TaskManager(working(hang), max_tasks=1) as manager:
        for _ in range(20):
            task = manager.start_task("x", parent)
            manager.cancel(task)
            assert manager.wait(task, 5) == "cancelled"


def test_close_ends_everything(parent):
    """Nothing is left running, and the workspaces are gone."""
    hang = calls(call("bash", cmd="touch begun; sleep 60", timeout=90))
    manager = TaskManager(working(hang))
    task = manager.start_task("x", parent)
    folder = manager.tasks[task].agent.runtime.base_dir
    until((folder / "begun").exists)
    manager.close()
    assert manager.status(task) == "cancelled"
    assert not folder.exists()


def test_personas_rotate_and_can_be_named(parent):
    """Each task gets the next one; a name or a `Persona` overrides the turn."""
    seen = []
    personas = [Persona("a", "first"), Persona("b", "second")]

    def factory(persona):
        seen.append(persona)
        return make("ok", None, runtime=Runtime())

    with TaskManager(factory, personas=personas, max_tasks=9) as manager:
        for wanted in (None, None, None, "b", Persona("c", "third"), "stranger", None):
            done(manager, "x", parent, persona=wanted)
        assert [p.name for p in seen] == ["a", "b", "a", "b", "c", "stranger", "b"]
        assert seen[3].description == "second"
        agents = [task.agent for task in manager.tasks.values()]
        assert [agent.persona for agent in agents] == seen
        assert agents[3].system_msg.startswith("You are b. second")


def test_personas_from_the_settings(monkeypatch):
    """As JSON, or as names; nonsense is named."""
    monkeypatch.setenv("PYGENT_TASK_PERSONAS", "x:y")
    assert [p.name for p in TaskManager().personas] == ["x", "y"]
    monkeypatch.setenv("PYGENT_TASK_PERSONAS_JSON", '[{"name": "j", "description": "d"}]')
    assert TaskManager().personas == [Persona("j", "d")]
    for wrong in ("{", "[]", "[1]", '{"name": 1}'):
        monkeypatch.setenv("PYGENT_TASK_PERSONAS_JSON", wrong)
        with pytest.raises(ConfigError, match="PYGENT_TASK_PERSONAS_JSON"):
            TaskManager()


def test_a_factory_without_a_parameter(parent):
    """It is called with nothing, and its own errors are not mistaken for that."""
    with TaskManager(lambda: make("ok", None, runtime=Runtime())) as manager:
        assert done(manager, "x", parent)[1] == "finished"

    def broken(persona):
        raise TypeError("my own mistake")

    manager = TaskManager(broken, max_tasks=1)
    for _ in range(3):
        with pytest.raises(TypeError, match="my own mistake"):
            manager.start_task("x", parent)


def test_the_runtime_of_a_factory_is_left_alone(parent, tmp_path):
    """A runtime that somebody else uses too keeps its files."""
    with Runtime(sandbox="local") as shared:
        shared.write_file("precious", "x")
        with TaskManager(lambda: make("ok", None, runtime=shared)) as manager:
            done(manager, "x", parent)
        assert shared.read_file("precious") == "x"


def test_list_tasks(parent):
    """Every task with its status, prompt, persona and session."""
    with TaskManager(working("ok")) as manager:
        task, _ = done(manager, "do it", parent)
        agent = manager.get_agent(task)
        assert manager.list_tasks() == {
            task: {
                "status": "finished",
                "prompt": "do it",
                "persona": "Pygent",
                "session": agent.session,
            }
        }


def test_duck_typed_agents_and_runtimes(tmp_path):
    """An agent needs `run_until_stop`, a runtime `bash` and `write_file`."""

    class DuckRuntime:
        def bash(self, cmd):
            return ""

        def write_file(self, path, content):
            return ""

    class Duck:
        def __init__(self):
            self.history = []

        def run_until_stop(self, user_msg, max_steps=20, step_timeout=None, max_time=None):
            self.runtime.write_file("made", user_msg)

            class Said:
                role, content, tool_calls = "assistant", f"did {user_msg}", None

            self.history.append(Said())

    with TaskManager(Duck) as manager:
        task, status = done(manager, "it", DuckRuntime())
        assert (status, manager.result(task)) == ("finished", "did it")
        assert manager.tasks[task].agent.runtime.read_file("made") == "it"
        manager.cancel(task)
        with pytest.raises(PygentError, match="DuckRuntime"):
            manager.start_task("x", DuckRuntime(), files=["a"])
