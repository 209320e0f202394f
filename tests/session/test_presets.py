"""Presets: each agent has its own, and no other agent notices."""

from __future__ import annotations

import pytest

from pygent import AGENT_PRESETS, PROMPT_BUILDERS, Agent, AgentPreset, Runtime, tools
from pygent.testing import ScriptedModel, call, calls

CHANGING = {"bash", "write_file", "edit_file"}


@pytest.mark.parametrize("name", ["autonomous", "assistant", "reviewer"])
def test_a_preset_is_one_agents_own(name):
    """Its tools and prompt are its own; the registry, the builder and other agents stay."""
    other = Agent(model=ScriptedModel())
    before = list(tools.TOOLS), [dict(s) for s in tools.TOOL_SCHEMAS], other.system_msg
    made = AGENT_PRESETS[name].create_agent(model=ScriptedModel())
    assert (list(tools.TOOLS), [dict(s) for s in tools.TOOL_SCHEMAS], other.system_msg) == before
    assert made.system_message_builder is PROMPT_BUILDERS[name]
    assert made.system_msg != other.system_msg
    assert "stop" in made.tool_names()
    assert Agent(model=ScriptedModel()).system_msg == before[2]


def test_who_may_do_what():
    """Only the assistant asks, and the reviewer cannot change anything, though it be told to."""
    names = {
        n: set(p.create_agent(model=ScriptedModel()).tool_names()) for n, p in AGENT_PRESETS.items()
    }
    assert "ask_user" in names["assistant"]
    assert "ask_user" not in names["autonomous"] | names["reviewer"]
    assert names["autonomous"] >= CHANGING
    assert not names["reviewer"] & CHANGING


def test_the_reviewer_changes_nothing(tmp_path):
    """A model that names other tools all the same gets an error each."""
    model = ScriptedModel(
        [calls(call("bash", cmd="touch a"), call("write_file", path="a", content="")), "ok"]
    )
    runtime = Runtime(use_docker=False, workspace=tmp_path)
    AGENT_PRESETS["reviewer"].create_agent(model=model, runtime=runtime).run("review")
    assert not (tmp_path / "a").exists()
    assert sum(m["role"] == "tool" for m in model.requests[1]) == 2


def test_task_tools_come_on_request():
    """`include_task_tools` adds them, to a list of tools and to the registry's."""
    own = AgentPreset(PROMPT_BUILDERS["assistant"], tools=["stop"], include_task_tools=True)
    assert "list_personas" in own.create_agent(model=ScriptedModel()).tool_names()
    everything = AgentPreset(PROMPT_BUILDERS["assistant"], include_task_tools=True)
    assert {"bash", "list_tasks"} <= set(
        everything.create_agent(model=ScriptedModel()).tool_names()
    )
    plain = AgentPreset(PROMPT_BUILDERS["assistant"]).create_agent(model=ScriptedModel())
    assert "list_personas" not in plain.tool_names()
