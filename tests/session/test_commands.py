"""The slash commands, one by one."""

from __future__ import annotations

import pytest

from pygent import Agent, Log, Runtime, commands
from pygent.commands import COMMANDS, Command, register_command
from pygent.testing import ScriptedModel

PROMISED = {"/cmd", "/cp", "/new", "/help", "/save", "/tools", "/banned", "/confirm-bash"}


@pytest.fixture
def agent(tmp_path):
    with Agent(
        runtime=Runtime(use_docker=False, workspace=tmp_path / "ws", banned_commands=["dd"]),
        model=ScriptedModel(["Hello."]),
        display=False,
    ) as made:
        yield made


@pytest.fixture
def said(agent, capsys):
    """Give a command a line and return what it printed."""

    def said(name, argument=""):
        COMMANDS[name](agent, argument)
        return capsys.readouterr().out

    return said


def test_the_promised_commands_are_there():
    """Each has a handler under its promised name, a description, and no more than that is there."""
    assert set(COMMANDS) == PROMISED
    assert all(command.description for command in COMMANDS.values())
    for name in PROMISED:
        assert COMMANDS[name].handler is getattr(commands, f"cmd_{name[1:].replace('-', '_')}")


def test_help(said):
    """All commands, or one with its usage; an unknown one is told."""
    out = said("/help")
    assert all(name in out for name in PROMISED)
    assert "/exit - quit the session" in out
    assert "Usage: /cp SRC [DEST]" in said("/help", "cp")
    assert "/cmd - " in said("/help", "/cmd")
    assert "No help available for fly" in said("/help", "fly")


def test_cmd_runs_a_command(said):
    """What it prints is shown as it comes."""
    assert said("/cmd", "echo one; echo two") == "$ echo one; echo two\none\ntwo\n"
    assert "usage" in said("/cmd")


def test_cp_copies_into_the_workspace(said, agent, tmp_path):
    """Files with blanks in their names too; one that is not there is told."""
    (tmp_path / "a file").write_text("text")
    assert "Uploaded" in said("/cp", f"'{tmp_path}/a file' b.txt")
    assert agent.runtime.read_file("b.txt") == "text"
    assert "not found" in said("/cp", str(tmp_path / "nowhere"))
    assert "usage" in said("/cp")


def test_tools_are_disabled_for_this_agent_alone(said, agent):
    """Listed, disabled and enabled; the model is not told of it any more, other agents are."""
    other = Agent(model=ScriptedModel())
    assert "bash\n" in said("/tools")
    assert said("/tools", "disable bash") == "Disabled bash\n"
    assert "bash (disabled)" in said("/tools", "list")
    assert "`bash`" not in agent.system_msg
    assert "bash" in other.tool_names()
    assert said("/tools", "disable bash") == "bash already disabled\n"
    assert said("/tools", "enable bash") == "Enabled bash\n"
    assert said("/tools", "enable bash") == "bash already enabled\n"
    assert "`bash`" in agent.system_msg
    assert "no tool is called fly" in said("/tools", "disable fly")
    assert "usage" in said("/tools", "what")


def test_banned_commands(said, agent):
    """Listed, added and removed, with effect."""
    assert said("/banned") == "dd\n"
    assert said("/banned", "add rm") == "Added rm\n"
    assert "command 'rm' disabled" in agent.runtime.bash("rm x")
    assert said("/banned", "remove rm") == "Removed rm\n"
    assert said("/banned", "remove rm") == "rm not banned; /banned lists those that are\n"
    assert said("/banned", "remove dd") == "Removed dd\n"
    assert said("/banned") == "no command is banned\n"
    assert "usage" in said("/banned", "add")


def test_confirm_bash(said, agent):
    """Told, and set."""
    assert said("/confirm-bash") == "off\n"
    assert said("/confirm-bash", "on") == "confirmation enabled\n"
    assert agent.confirm_bash is True
    assert said("/confirm-bash", "OFF") == "confirmation disabled\n"
    assert agent.confirm_bash is False
    assert "usage" in said("/confirm-bash", "maybe")


def test_new_keeps_all_but_the_conversation(tmp_path, capsys):
    """Workspace, tools, persona, bans and confirmation stay; the history and the session do not."""
    history_file = tmp_path / "history.json"
    agent = Agent(
        runtime=Runtime(use_docker=False, workspace=tmp_path / "ws", banned_commands=["dd"]),
        model=ScriptedModel(["Hello.", "Hello again."]),
        disabled_tools=["grep"],
        confirm_bash=True,
        history_file=history_file,
        display=False,
        log=Log(),
    )
    agent.runtime.write_file("a.txt", "a")
    agent.step("hi")
    kept = history_file.read_bytes()
    fresh = COMMANDS["/new"](agent, "")
    with fresh:
        assert "Starting a new session." in capsys.readouterr().out
        assert fresh.runtime is agent.runtime
        assert fresh.disabled_tools == ["grep"]
        assert fresh.confirm_bash is True
        assert fresh.persona == agent.persona
        assert fresh.session != agent.session
        assert [m["role"] for m in fresh.history] == ["system"]
        assert fresh.step("hi").content == "Hello again."
    assert history_file.read_bytes() == kept
    assert (tmp_path / "ws" / "a.txt").exists()


def test_a_command_of_ones_own():
    """It is described by its docstring if by nothing else; a taken name is a `ValueError`."""

    def hello(agent, arg):
        """Say hello.

        At length.
        """
        return arg.upper()

    register_command("/hello", hello)
    try:
        assert COMMANDS["/hello"](None, "x") == "X"
        assert COMMANDS["/hello"].description == "Say hello."
        with pytest.raises(ValueError, match="/hello already registered"):
            register_command("/hello", hello)
    finally:
        del COMMANDS["/hello"]
    assert Command(hello, "other").description == "other"
