"""Which tools an agent has: the global registry at each step, or its own alone."""

from __future__ import annotations

import pytest

from pygent import Agent
from pygent.errors import ConfigError
from pygent.tools import TOOL_SCHEMAS, TOOLS, Tool, register_tool, remove_tool
from tests.agent.models import Scripted, answers, call, calls, make

NOTHING = {"type": "object", "properties": {}}


def test_the_registry_is_read_at_each_step(tmp_path):
    """A tool that is registered or removed after `Agent()` counts at the next step."""
    model = Scripted("a", calls(call("late")), "b", "c")
    agent = make(model, tmp_path)
    agent.run("x")
    register_tool("late", "", NOTHING, lambda rt: "called")
    agent.run("x")
    remove_tool("late")
    agent.run("x")
    assert ["late" in offered for offered in model.offered] == [False, True, True, False]
    assert answers(agent) == ["called"]


def test_a_tool_that_a_tool_registers_is_there_at_the_next_step(tmp_path):
    """Within one turn too."""
    register_tool("more", "", NOTHING, lambda rt: register_tool("new", "", NOTHING, lambda rt: "n"))
    model = Scripted(calls(call("more")), calls(call("new")), "ok")
    agent = make(model, tmp_path)
    agent.run("x")
    assert answers(agent)[1] == "n"
    assert "new" in model.offered[1]


def test_the_promised_tables_can_be_changed(tmp_path):
    """What is in `TOOLS` is called, what is in `TOOL_SCHEMAS` is offered."""
    model = Scripted(calls(call("bash", cmd="ls")), calls(call("mine")), "ok")
    agent = make(model, tmp_path)
    TOOLS["bash"] = lambda rt, cmd: f"pretended {cmd}"
    agent.step("x")
    TOOLS["mine"] = lambda rt: "my own"
    schema = {"type": "function", "function": {"name": "mine", "parameters": NOTHING}}
    place = next(i for i, s in enumerate(TOOL_SCHEMAS) if s["function"]["name"] == "grep")
    TOOL_SCHEMAS[place] = schema
    agent.step("x")
    assert answers(agent) == ["pretended ls", "my own"]
    assert "mine" in model.offered[1]
    assert "grep" not in model.offered[1]


def test_tools_of_its_own(tmp_path):
    """Names, functions and `Tool`s; the registry and other agents do not see them."""

    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    made = Tool("hello", "", NOTHING, lambda rt: "hi")
    model = Scripted(
        calls(call("double", number=4), call("hello"), call("bash", cmd="touch x")), "ok"
    )
    agent = make(model, tmp_path, tools=["glob", double, made])
    other = make(Scripted("x"), tmp_path)
    agent.run("x")
    other.run("x")
    assert model.offered[0] == ["double", "glob", "hello"]
    assert answers(agent)[:2] == ["8", "hi"]
    assert "unknown tool 'bash'" in answers(agent)[2]
    assert "double" not in other.model.offered[0]
    assert "double" not in TOOLS


def test_tools_may_come_from_a_generator(tmp_path):
    """They are kept, for those who look at the agent later."""
    agent = make("x", tmp_path, tools=(name for name in ("glob", "grep")))
    assert list(agent.tools) == ["glob", "grep"]
    assert agent.tool_names() == ["glob", "grep"]


def test_no_tools_at_all(tmp_path):
    """An empty list is a choice too."""
    model = Scripted("x")
    make(model, tmp_path, tools=[]).run("x")
    assert model.offered == [[]]


@pytest.mark.parametrize("wrong", ["nope", 42, None])
def test_what_is_no_tool_is_named(tmp_path, wrong):
    """The error names the value and what can be given."""
    with pytest.raises(ConfigError, match=repr(wrong)):
        make("x", tmp_path, tools=[wrong])


@pytest.mark.parametrize("wrong", ["gpt-4.1", len, object])
def test_what_is_no_model_is_named(wrong):
    """A model's name, or a function, in the place of a model is told before anything is asked."""
    with pytest.raises(ConfigError, match="a name goes into model_name="):
        Agent(model=wrong)


def test_disabled_tools_are_that_agents_alone(tmp_path):
    """They can be changed at any time, and hold at the next step."""
    one, two = Scripted(default="x"), Scripted(default="x")
    first = make(one, tmp_path, disabled_tools=["bash"])
    second = make(two, tmp_path)
    first.run("x")
    second.run("x")
    first.disabled_tools.append("grep")
    first.run("x")
    assert "bash" not in one.offered[0]
    assert "bash" in two.offered[0]
    assert "grep" not in one.offered[1]
    assert "grep" not in first.system_msg


def test_the_offer_is_sorted_and_stable(tmp_path):
    """The same tools are the same bytes, in whatever order they were registered."""
    model = Scripted(default="x")
    agent = make(model, tmp_path)
    agent.run("x")
    first = agent.schemas().wire()
    bash = TOOL_SCHEMAS.pop(0)
    TOOL_SCHEMAS.append(bash)
    agent.run("x")
    assert agent.schemas().wire() == first
    assert model.offered[0] == sorted(model.offered[0])


def test_upload_file_is_never_a_tool(tmp_path):
    """It reads the host: a model cannot call it, offered or not."""
    secret = tmp_path / "secret"
    secret.write_text("s")
    agent = make(Scripted(calls(call("upload_file", src=str(secret))), "ok"), tmp_path)
    agent.run("x")
    assert "unknown tool" in answers(agent)[0]
    assert not (agent.runtime.base_dir / "secret").exists()
