"""How many tasks work at once, and how deep: exact, whoever asks at the same time."""

from __future__ import annotations

import threading

import pytest

from pygent.errors import ConfigError, ToolError
from pygent.runtime import Runtime
from pygent.task_manager import TaskManager
from pygent.task_tools import set_task_manager
from tests.agent.models import PATIENCE, Scripted, answers, call, calls, make, until


@pytest.fixture
def parent(tmp_path):
    with Runtime(workspace=tmp_path / "parent", sandbox="local") as runtime:
        yield runtime


class Gate:
    """A factory of agents that wait until they are let go; counts how many work at once."""

    def __init__(self):
        self.open = threading.Event()
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __call__(self, persona):
        def reply(_):
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            assert self.open.wait(PATIENCE)
            with self.lock:
                self.now -= 1
            return {"role": "assistant", "content": "done"}

        return make(Scripted(reply), None, runtime=Runtime())


def all_at_once(count, action):
    """Call something from many threads at the same moment; returns what came of it."""
    barrier, results = threading.Barrier(count), []

    def act():
        barrier.wait(PATIENCE)
        try:
            results.append(action())
        except RuntimeError as error:
            results.append(error)

    threads = [threading.Thread(target=act) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return results


@pytest.mark.parametrize("round_", range(5))
def test_fifty_threads_start_three_tasks(parent, round_):
    """Exactly `max_tasks` start, all others are refused, in the promised words."""
    gate = Gate()
    with TaskManager(gate, max_tasks=3) as manager:
        results = all_at_once(50, lambda: manager.start_task("x", parent))
        refused = [result for result in results if isinstance(result, RuntimeError)]
        assert len(refused) == 47
        assert {str(error) for error in refused} == {"max 3 tasks reached"}
        assert len(manager.tasks) == 3
        gate.open.set()
        assert {manager.wait(task, 10) for task in manager.tasks} == {"finished"}
        assert manager.wait(manager.start_task("x", parent), 10) == "finished"


def test_a_queue_takes_all_and_works_on_some(parent):
    """With `queue=True` nobody is refused, `max_tasks` work at once, the others say `running`."""
    gate = Gate()
    with TaskManager(gate, max_tasks=2, queue=True) as manager:
        tasks = [manager.start_task(str(n), parent) for n in range(6)]
        until(lambda: gate.now == 2)
        assert {manager.status(task) for task in tasks} == {"running"}
        states = [manager.tasks[task].state.value for task in tasks]
        assert states == ["running"] * 2 + ["queued"] * 4
        manager.cancel(tasks[3])
        assert manager.wait(tasks[3], 5) == "cancelled"
        gate.open.set()
        assert [manager.wait(task, 10) for task in tasks] == [
            "finished" if task != tasks[3] else "cancelled" for task in tasks
        ]
        assert gate.most == 2


def test_max_tasks_from_the_settings(monkeypatch):
    """Three, unless `PYGENT_MAX_TASKS` or the argument says otherwise."""
    assert TaskManager().max_tasks == 3
    monkeypatch.setenv("PYGENT_MAX_TASKS", "7")
    assert TaskManager().max_tasks == 7
    assert TaskManager(max_tasks=1).max_tasks == 1


def test_no_places_at_all(parent):
    """`max_tasks=0` refuses everything."""
    with pytest.raises(RuntimeError, match="max 0 tasks reached"):
        TaskManager(max_tasks=0).start_task("x", parent)


def test_nested_delegation_is_refused(parent):
    """By the depth that is given, and by that of the runtime, whichever is deeper."""
    manager = TaskManager(Gate())
    with pytest.raises(RuntimeError, match="nested delegation is not allowed"):
        manager.start_task("x", parent, parent_depth=1)
    parent.task_depth = 1
    with pytest.raises(RuntimeError, match="nested delegation is not allowed"):
        manager.start_task("x", parent)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_max_depth_is_exact(tmp_path, depth):
    """Tasks start tasks down to `max_depth` and no deeper."""
    with TaskManager(max_tasks=9, max_depth=depth) as manager:
        set_task_manager(manager)

        def delegate(_):
            return calls(call("delegate_task", prompt="deeper"))

        class Deeper:
            def chat(self, messages, model, tools=None):
                if any(m.get("role") == "tool" for m in messages):
                    return {"role": "assistant", "content": "ok"}
                return delegate(messages)

        agent = make(Deeper(), tmp_path)
        agent.run("go")
        until(lambda: all(task.done for task in list(manager.tasks.values())))
        until(lambda: len(manager.tasks) == depth)
        depths = sorted(task.agent.runtime.task_depth for task in manager.tasks.values())
        assert depths == list(range(1, depth + 1))
        deepest = max(manager.tasks.values(), key=lambda t: t.agent.runtime.task_depth)
        assert answers(deepest.agent) == ["error: delegation not allowed in sub-tasks"]
        set_task_manager(None)


@pytest.mark.parametrize("wrong", [-1, "3", 2.5])
def test_a_number_of_tasks_that_is_none(wrong):
    """It is named at once, and not when the first task is started."""
    with pytest.raises(ConfigError, match="max_tasks is"):
        TaskManager(max_tasks=wrong)


def test_one_file_that_is_no_list(parent):
    """A text is not taken for a list of letters."""
    manager = TaskManager(lambda: make("never", None))
    with pytest.raises(ToolError, match=r"\['a\.txt'\]"):
        manager.start_task("go", parent, files="a.txt")
