"""Asking for leave: what is refused does not run, and what was said is recorded."""

from __future__ import annotations

import pytest

from tests.agent.models import Scripted, answers, call, calls, ends, kinds, make, well_answered

TOUCH = calls(call("bash", "c", cmd="touch ran"))


def ran(agent):
    return (agent.runtime.base_dir / "ran").exists()


def test_without_an_approver_everything_is_allowed(tmp_path):
    """The library runs unattended, and nothing is asked."""
    agent = make(Scripted(TOUCH, "ok"), tmp_path)
    agent.run("go")
    assert ran(agent)
    assert "approval_asked" not in kinds(agent)


def test_allowed(tmp_path):
    """Asked and answered are events, before the intent."""
    asked = []
    agent = make(Scripted(TOUCH, "ok"), tmp_path, approve=lambda call: asked.append(call) or True)
    agent.run("go")
    assert ran(agent)
    assert [one.function.name for one in asked] == ["bash"]
    types = kinds(agent)
    at = types.index("approval_asked")
    assert types[at : at + 3] == ["approval_asked", "approval_answered", "tool_started"]
    question, answer = list(agent.log.events())[at : at + 2]
    assert question.digest == answer.digest
    assert (question.arguments, answer.allowed) == ('{"cmd": "touch ran"}', True)


@pytest.mark.parametrize("answer", [False, None, 1, "too risky", ""])
def test_refused(tmp_path, answer):
    """Only True allows; a text is the reason that the model hears, and the turn goes on."""
    agent = make(Scripted(TOUCH, "ok"), tmp_path, approve=lambda call: answer)
    assert agent.run("go").content == "ok"
    assert not ran(agent)
    assert "[refused]" in answers(agent)[0]
    if answer == "too risky":
        assert "too risky" in answers(agent)[0]
    assert "tool_started" not in kinds(agent)


def test_confirm_bash_without_an_approver_refuses(tmp_path, monkeypatch):
    """Nobody is there to confirm: the command does not run, other tools do."""
    reply = calls(call("bash", cmd="touch ran"), call("glob", pattern="*"))
    agent = make(Scripted(reply, "ok"), tmp_path, confirm_bash=True)
    agent.run("go")
    refused, found = answers(agent)
    assert "confirm" in refused
    assert found == "no file matches '*'"
    assert not ran(agent)
    monkeypatch.setenv("PYGENT_CONFIRM_BASH", "1")
    assert make("x", tmp_path).confirm_bash
    monkeypatch.delenv("PYGENT_CONFIRM_BASH")
    assert not make("x", tmp_path).confirm_bash


def test_what_was_approved_is_what_runs(tmp_path):
    """An approver that changes what it is shown changes nothing."""

    def approve(call):
        call.function.arguments = '{"cmd": "touch other"}'
        call.function.name = "write_file"
        return True

    agent = make(Scripted(TOUCH, "ok"), tmp_path, approve=approve)
    agent.run("go")
    assert ran(agent)
    assert not (agent.runtime.base_dir / "other").exists()


def test_a_disabled_tool_is_not_asked_about(tmp_path):
    """There is nothing to decide."""
    agent = make(
        Scripted(TOUCH, "ok"), tmp_path, disabled_tools=["bash"], approve=lambda call: 1 / 0
    )
    agent.run("go")
    assert ends(agent) == ["answer"]


def test_an_interrupt_at_the_question_refuses(tmp_path):
    """Ctrl-C at the prompt: the command does not run, its call is answered."""

    def approve(call):
        raise KeyboardInterrupt

    agent = make(Scripted(TOUCH, "ok"), tmp_path, approve=approve)
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    assert not ran(agent)
    assert well_answered(agent)
    assert ends(agent) == ["interrupted"]
    assert "not run" in answers(agent)[0]
