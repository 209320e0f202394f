"""The API that the documents describe: names, arguments in their order, defaults."""

import dataclasses
import inspect
import re
import threading

import pytest

import pygent
from pygent import (
    Agent,
    Model,
    OpenAIModel,
    Persona,
    Runtime,
    TaskManager,
    agent,
    runtime,
    task_manager as task_manager_module,
    tools,
)
from tests.documents.snippets import ARCHITECTURE, REFERENCE, read

OWNERS = {"Agent": Agent, "Runtime": Runtime, "TaskManager": TaskManager, "Tools": tools}
SIGNATURE = re.compile(r"^(\w+)\(([^)]*)\)$")


def described():
    """Yield owner, name and arguments of each function on the page."""
    owner = None
    for line in read(REFERENCE).splitlines():
        if line in OWNERS:
            owner = line
        elif match := SIGNATURE.match(line):
            yield owner, match[1], match[2]


DESCRIBED = list(described())


def test_the_page_was_read():
    """All of the page's functions are looked at."""
    assert [name for _, name, _ in DESCRIBED] == [
        *("__post_init__", "refresh_system_message", "run_until_stop", "step"),
        *("bash", "export_file", "read_file", "upload_file"),
        *("collect_file", "start_task"),
        *("clear_tools", "execute_tool", "register_tool", "remove_tool", "reset_tools", "tool"),
    ]


@pytest.mark.parametrize(("owner", "name", "arguments"), DESCRIBED)
def test_a_function_is_called_as_described(owner, name, arguments):
    """Each function takes the page's arguments, by name and in order, with the same defaults."""
    found = list(inspect.signature(getattr(OWNERS[owner], name)).parameters.values())
    found = [p for p in found if p.name != "self" and p.kind is not p.KEYWORD_ONLY]
    wanted = [part.strip() for part in arguments.split(",") if part.strip()]
    for parameter, text in zip(found, wanted, strict=False):
        wanted_name, _, default = text.partition("=")
        assert parameter.name == wanted_name
        if default:
            assert repr(parameter.default) == default
    assert len(found) >= len(wanted)
    # What there is beyond the page can be left out.
    assert all(p.default is not p.empty for p in found[len(wanted) :])


def test_the_names_are_where_the_page_has_them():
    """Each thing can be imported from the module that the page names."""
    assert agent.Agent is Agent
    assert runtime.Runtime is Runtime
    assert task_manager_module.TaskManager is TaskManager
    for name in (name for owner, name, _ in DESCRIBED if owner == "Tools"):
        assert getattr(tools, name) is getattr(pygent, name)


def test_agent_is_a_dataclass():
    """`Agent` is a dataclass, made with or without arguments."""
    assert dataclasses.is_dataclass(Agent)
    names = [f.name for f in dataclasses.fields(Agent)]
    assert names[:12] == [
        *("runtime", "model", "model_name", "persona", "system_message_builder", "system_msg"),
        *("history", "history_file", "disabled_tools", "log_file", "confirm_bash"),
        "max_non_tool_replies",
    ]


def test_use_docker_is_a_property():
    """`use_docker` is read, not called; here commands run locally."""
    assert isinstance(inspect.getattr_static(Runtime, "use_docker"), property)
    with Runtime(use_docker=False) as rt:
        assert rt.use_docker is False


def test_bash_includes_the_command(place):
    """The executed command is always part of what `bash` returns."""
    with Runtime(use_docker=False) as rt:
        for command in ("echo hi", "exit 3", "not-a-command"):
            assert rt.bash(command).startswith(f"$ {command}\n")
        assert rt.bash("sleep 60", timeout=0).startswith("$ sleep 60\n")


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_named_workspace_is_kept(by, place, monkeypatch):
    """A workspace that was given, or set by PYGENT_WORKSPACE, is used and kept."""
    folder = place / "mine"
    if by == "environment":
        monkeypatch.setenv("PYGENT_WORKSPACE", str(folder))
        rt = Runtime(use_docker=False)
    else:
        rt = Runtime(workspace=folder, use_docker=False)
    rt.write_file("a.txt", "kept")
    rt.cleanup()
    assert (folder / "a.txt").read_text() == "kept"


def test_files_and_directories_are_copied(place):
    """Upload and export take files and directories."""
    (place / "there").mkdir()
    (place / "there" / "a.txt").write_text("a")
    with Runtime(use_docker=False) as rt:
        assert rt.upload_file("there") == "Uploaded there"
        assert rt.read_file("there/a.txt") == "a"
        assert rt.export_file("there", place / "back") == "Exported there"
    assert (place / "back" / "a.txt").read_text() == "a"


class Recorder:
    """A model that is told `n` steps and then stops; it keeps what it was sent."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def chat(self, messages, model, tools):
        self.asked.append([dict(entry) for entry in messages])
        return self.replies.pop(0)


def calling(name, arguments="{}", id_="1"):
    function = {"name": name, "arguments": arguments}
    call = {"id": id_, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_the_request_flow(place, capsys):
    """The nine steps: message, history, model, calls, runtime, results, and on until `stop`."""
    model = Recorder(calling("bash", '{"cmd": "echo made > a.txt; ls"}'), calling("stop", id_="2"))
    with Agent(model=model, runtime=Runtime(use_docker=False)) as ag:
        ag.run_until_stop("make a file")  # 1
        first, second = model.asked
        assert first[-1] == {"role": "user", "content": "make a file"}  # 2
        assert [entry["role"] for entry in first] == ["system", "user"]  # 3
        assert second[2]["tool_calls"][0]["function"]["name"] == "bash"  # 4, 6
        assert ag.runtime.read_file("a.txt") == "made\n"  # 7
        assert second[-1]["content"].endswith("a.txt\n")  # 8
        assert second[-1]["role"] == "tool"  # 9
        assert len(model.asked) == 2
    assert "a.txt" in capsys.readouterr().out


def test_a_text_is_displayed(place, capsys):
    """Step 5: a text message is shown to the user."""
    answer = {"role": "assistant", "content": "done"}
    Agent(model=Recorder(answer)).step("go")
    assert "done" in capsys.readouterr().out


def test_each_agent_has_a_runtime_of_its_own(place):
    """Agents do not share their workspace."""
    with Agent() as one, Agent() as two:
        assert one.runtime is not two.runtime
        assert one.runtime.base_dir != two.runtime.base_dir


def test_a_task_has_an_agent_and_a_runtime_of_its_own(place):
    """A delegated task runs in the background while its parent goes on."""
    begun, go_on = threading.Event(), threading.Event()

    class Waiting:
        def chat(self, messages, model, tools):
            begun.set()
            assert go_on.wait(20)
            return {"role": "assistant", "content": "done"}

    with (
        Runtime(use_docker=False) as rt,
        TaskManager(lambda p=None: Agent(model=Waiting(), persona=p)) as manager,
    ):
        task = manager.start_task("work", rt)
        assert begun.wait(20)
        assert manager.status(task) == "running"
        assert manager.tasks[task].agent.runtime is not rt
        go_on.set()
        assert manager.wait(task, 20) == "finished"


def test_a_persona_overrides_the_rotation(place, server):
    """`persona=` is who does the task, whoever's turn it is."""
    with (
        Runtime(use_docker=False) as rt,
        TaskManager(personas=[Persona("Ada", "")]) as manager,
    ):
        task = manager.start_task("work", rt, persona=Persona("Ben", "other"))
        assert manager.tasks[task].agent.persona.name == "Ben"


def test_the_components_are_there():
    """The architecture page's four components are what they are said to be."""
    text = read(ARCHITECTURE)
    for name in ("Agent", "Runtime", "Model", "TaskManager", "OpenAIModel"):
        assert name in text
        assert hasattr(pygent, name)
    assert isinstance(OpenAIModel(), Model)
