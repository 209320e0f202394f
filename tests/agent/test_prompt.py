"""The system message follows tools and persona, and nothing else; it is small."""

from __future__ import annotations

import pytest

from pygent.errors import ConfigError
from pygent.models import OpenAIModel
from pygent.persona import Persona
from pygent.system_message import build_system_msg, set_system_message_builder
from pygent.testing.server import ChatServer
from pygent.tools import REGISTRY, clear_tools, register_tool, remove_tool, reset_tools
from tests.agent.models import Scripted, kinds, make

NOTHING = {"type": "object", "properties": {}}


def changes(agent):
    return kinds(agent).count("system_changed")


def test_nothing_changed_is_no_event(tmp_path):
    """Steps without a change do not write the message again, and its bytes stay the same."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path)
    for _ in range(4):
        agent.step("x")
    assert changes(agent) == 0
    assert len({seen[0]["content"] for seen in model.seen}) == 1


def test_a_new_tool_is_told_at_the_next_step(tmp_path):
    """Registering after `Agent()` works; the message is written once, in place."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path)
    agent.step("x")
    register_tool("lookup", "", NOTHING, lambda rt: "")
    agent.step("x")
    agent.step("x")
    assert changes(agent) == 1
    assert "lookup" not in model.seen[0][0]["content"]
    assert "`lookup`" in model.seen[1][0]["content"]
    assert [m["role"] for m in model.seen[2]].count("system") == 1
    assert agent.history[0]["content"] == agent.system_msg


def test_a_new_persona_is_told_at_the_next_step(tmp_path):
    """Another persona, or another name for it."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path, persona=Persona("Ann", "tests things."))
    agent.step("x")
    agent.persona = Persona("Bob", "breaks things.")
    agent.step("x")
    agent.persona.name = "Rob"
    agent.step("x")
    starts = [seen[0]["content"].split("\n")[0] for seen in model.seen]
    assert starts == [
        "You are Ann. tests things.",
        "You are Bob. breaks things.",
        "You are Rob. breaks things.",
    ]


def test_a_message_of_the_users_own_stays(tmp_path):
    """Given or set later, it is not overwritten, whatever the tools do."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path, system_msg="mine")
    agent.step("x")
    remove_tool("grep")
    agent.step("x")
    agent.system_msg = "mine too"
    agent.step("x")
    reset_tools()
    agent.step("x")
    assert [seen[0]["content"] for seen in model.seen] == ["mine", "mine", "mine too", "mine too"]
    agent.refresh_system_message()
    assert agent.history[0]["content"] == agent.system_msg != "mine too"


def test_an_edit_of_the_first_entry_stays(tmp_path):
    """A user may write the system message in the conversation itself."""
    model = Scripted(default="ok")
    agent = make(model, tmp_path)
    agent.history[0]["content"] = "by hand"
    agent.step("x")
    agent.step("x")
    assert [seen[0]["content"] for seen in model.seen] == ["by hand", "by hand"]


def test_builders(tmp_path):
    """An agent's own builder comes first, then the global one; both get persona and tools."""
    seen = []

    def build(persona, disabled):
        seen.append((persona.name, list(disabled)))
        return f"I am {persona.name}"

    agent = make(
        Scripted(default="ok"),
        tmp_path,
        persona=Persona("Ann", ""),
        system_message_builder=build,
        disabled_tools=["grep"],
    )
    assert agent.system_msg == "I am Ann"
    assert seen == [("Ann", ["grep"])]
    other = make(Scripted(default="ok"), tmp_path)
    other.step("x")
    set_system_message_builder(lambda persona, disabled: "global")
    agent.step("x")
    other.step("x")
    assert other.history[0]["content"] == "global"
    assert agent.history[0]["content"] == "I am Ann"
    set_system_message_builder(None)
    other.step("x")
    assert other.history[0]["content"].startswith("You are Pygent")


def test_a_builder_that_returns_no_text_is_named(tmp_path):
    """An agent's own, or that of all: no server takes such a message."""
    with pytest.raises(ConfigError, match="builder returned None"):
        make("never", tmp_path, system_message_builder=lambda persona, disabled: None)
    set_system_message_builder(lambda persona, disabled: 5)
    with pytest.raises(ConfigError, match="builder returned 5"):
        make("never", tmp_path)


def test_the_default_persona_comes_from_the_settings(tmp_path, monkeypatch):
    """They are read when an agent is made."""
    monkeypatch.setenv("PYGENT_PERSONA_NAME", "Zoe")
    monkeypatch.setenv("PYGENT_PERSONA", "a gardener.")
    assert make("ok", tmp_path).system_msg.startswith("You are Zoe. a gardener.")


@pytest.mark.parametrize("name", sorted(REGISTRY.offered()))
@pytest.mark.parametrize("way", ["removed", "disabled"])
def test_a_tool_that_is_gone_leaves_no_trace(tmp_path, name, way):
    """Its name is nowhere in the message, nor among the schemas."""
    more = {"disabled_tools": [name]} if way == "disabled" else {}
    if way == "removed":
        remove_tool(name)
    agent = make(Scripted(default="ok"), tmp_path, **more)
    agent.step("x")
    assert f"`{name}`" not in agent.system_msg
    assert name not in agent.system_msg.replace("workspace", "").split()
    assert name not in agent.model.offered[0]


def test_without_tools_no_tools_are_told(tmp_path):
    """An agent can do without any."""
    clear_tools()
    agent = make(Scripted(default="ok"), tmp_path)
    agent.step("x")
    assert "Tools" not in agent.system_msg
    assert agent.model.offered == [[]]


def test_the_same_tools_in_another_order_are_the_same_bytes():
    """A provider's cache holds: the message depends on what there is, not on how it came."""
    first = build_system_msg(Persona("A", "b"))
    remove_tool("bash")
    assert build_system_msg(Persona("A", "b")) != first
    reset_tools()
    schemas = list(reversed(REGISTRY.schemas))
    assert build_system_msg(Persona("A", "b"), schemas=schemas) == first
    assert build_system_msg(Persona("A", "b"), ["bash"]) == build_system_msg(
        Persona("A", "b"), schemas=[s for s in schemas if s["function"]["name"] != "bash"]
    )


def test_the_first_request_is_small(tmp_path):
    """System message, "hi" and all tools that are offered by default take at most 4096 bytes."""
    import pygent.task_tools  # noqa: F401 - it offers the task tools

    with ChatServer(["hello", "again"]) as server:
        agent = make(OpenAIModel(server.url, "k"), tmp_path)
        agent.run("hi")
        first, offered = server.requests[0], agent.tool_names()
        agent.run("hi")
        assert server.requests[1].raw.startswith(first.raw[: first.raw.index(b'"hi"')])
    assert offered == sorted(
        [
            "bash",
            "read_file",
            "write_file",
            "edit_file",
            "grep",
            "glob",
            "ask_user",
            "stop",
            "delegate_task",
            "task_status",
            "collect_file",
        ]
    )
    assert [tool["function"]["name"] for tool in first["tools"]] == offered
    assert len(first.raw) <= 4096
