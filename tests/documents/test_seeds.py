"""The snippets of the documents that the package grew from run as written, and do what they say."""

import builtins
import io
import time
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from pygent import models, task_tools, tools
from tests.documents.conftest import ANSWER
from tests.documents.snippets import FENCED, KEPT, NAMES, ORIGINALS, SNIPPETS, fenced, read

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {
    "echo": "echo_model.py",
    "http": "http_model.py",
    "bash": "bash_model.py",
    "global": "global_custom_model.py",
    "delegate": "delegate_model.py",
    "combined": "custom_tool_in_task.py",
}


def run_up_to(name):
    """Run the page in one namespace up to a snippet; return that and what the snippet showed."""
    namespace = {"__name__": "__main__", "__builtins__": builtins}
    for each in NAMES[: NAMES.index(name) + 1]:
        shown = io.StringIO()
        with redirect_stdout(shown):
            exec(compile(SNIPPETS[each], each, "exec"), namespace)
    return namespace, shown.getvalue()


def roles(agent):
    return [entry["role"] for entry in agent.history]


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.txt")), ids=lambda path: path.name)
def test_the_kept_documents_are_the_originals(kept):
    """What is kept here is, byte for byte, what it was taken from, where that is at hand."""
    original = ORIGINALS / kept.name
    if not original.is_file():
        pytest.skip("the originals are not beside this clone")
    assert kept.read_bytes() == original.read_bytes()


def test_every_snippet_is_found():
    """The page without markup has the snippets of the page in Markdown, and one more."""
    plain = list(SNIPPETS.values())
    assert plain[:5] == fenced(read(FENCED))
    assert "DelegatingModel" in plain[5]


def test_echo(place):
    """The echo model's answer is shown, and is in the conversation."""
    namespace, shown = run_up_to("echo")
    agent = namespace["ag"]
    assert shown == "Pygent: Echo: test\n"
    assert roles(agent) == ["system", "user", "assistant"]
    assert agent.history[-1].content == "Echo: test"


def test_http(place, server):
    """The remote model's answer is shown; it was sent the conversation and the tools."""
    _, shown = run_up_to("http")
    assert shown == f"Pygent: {ANSWER}\n"
    (request,) = server.requests
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][-1]["content"] == "who am I?"
    assert request["tool_choice"] == "auto"
    assert "bash" in [one["function"]["name"] for one in request["tools"]]
    assert request.headers["authorization"] == "Bearer not-a-key"


def test_bash(place, server):
    """The command runs, its output is shown, and its call has one answer."""
    namespace, shown = run_up_to("bash")
    agent = namespace["ag"]
    assert shown.startswith("[warning: no isolation")
    assert shown.endswith("]\n$ echo 'hi from tool'\nhi from tool\n")
    assert roles(agent) == ["system", "user", "assistant", "tool"]
    assert agent.history[-1]["tool_call_id"] == agent.history[-2].tool_calls[0].id == "1"
    assert agent.history[-1]["content"] == "$ echo 'hi from tool'\nhi from tool\n"


def test_global(place, server):
    """The custom model answers for an agent that was given none, and is forgotten afterwards."""
    namespace, shown = run_up_to("global")
    assert shown == "Pygent: Echo: hello\n"
    assert isinstance(namespace["ag"].model, namespace["EchoModel"])
    assert models.CUSTOM_MODEL is None


def test_delegate(place, server):
    """The task is started, and the model's `stop` ends the work in two steps."""
    namespace, shown = run_up_to("delegate")
    agent = namespace["ag"]
    assert roles(agent) == ["system", "user", "assistant", "tool", "assistant", "tool"]
    (task,) = task_tools.get_task_manager().tasks
    assert agent.history[3]["content"] == f"started {task}"
    assert shown == f"[delegate_task] started {task}\n"
    assert task_tools.get_task_manager().wait(task, timeout=20) != "running"


def test_combined(place, server, monkeypatch):
    """The task ends by itself, with a tool of ours, and a model of its own."""
    monkeypatch.setattr(time, "sleep", lambda _, wait=time.sleep: wait(0.02))
    namespace, shown = run_up_to("combined")
    assert shown == "Status: finished\n"
    assert "shout" in tools.TOOLS
    assert server.requests[-1]["messages"][-1]["content"] == "begin"
    assert "shout" in [one["function"]["name"] for one in server.requests[-1]["tools"]]
    namespace["manager"].close()


def test_combined_can_call_the_tool(place, server, monkeypatch):
    """The delegated agent's model can call the tool that was registered."""
    monkeypatch.setattr(time, "sleep", lambda _, wait=time.sleep: wait(0.02))
    function = {"name": "shout", "arguments": '{"text": "hi"}'}
    call = {"id": "a", "type": "function", "function": function}
    server.add(
        ANSWER,  # to an earlier snippet
        {"role": "assistant", "content": None, "tool_calls": [call]},
        lambda request: f"it said {request['messages'][-1]['content']}",
    )
    namespace, _ = run_up_to("combined")
    manager = namespace["manager"]
    assert manager.result(namespace["task_id"]) == "it said HI"
    manager.close()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_holds_each_snippet_as_written(name):
    """Each snippet is a file of its own among the examples, to the letter."""
    assert SNIPPETS[name] in (EXAMPLES / FILES[name]).read_text(encoding="utf-8")
