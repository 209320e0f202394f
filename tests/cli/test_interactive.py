"""`pygent` alone: what it says without a model, and the loop in a real terminal."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from pathlib import Path

import pytest

import pygent as package
from pygent import PygentError
from pygent.agent import run_interactive
from pygent.cli.servers import Server, find_servers
from pygent.cli.welcome import welcome
from pygent.testing import ChatServer, Reply, call

DEADLINE = 20


def test_without_a_model_one_screen_says_what_to_do(pygent):
    """What to set, where was looked, and the demo, in one screen; exit code 3."""
    ran = pygent()
    assert ran.returncode == 3
    for said in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PYGENT_MODEL", "pygent demo", "11434"):
        assert said in ran.stdout
    assert len(ran.stdout.splitlines()) <= 24
    assert len(ran.stderr.splitlines()) == 1
    assert "Traceback" not in ran.stderr


def test_servers_on_this_machine_are_found():
    """Who lists its models is found, with them; who is silent or says something else is not."""
    with (
        ChatServer() as server,
        socket.create_server(("127.0.0.1", 0)) as silent,
        socket.create_server(("127.0.0.1", 0)) as closed,
    ):
        port = closed.getsockname()[1]
        closed.close()
        begun = time.monotonic()
        found = find_servers(
            {"silent": silent.getsockname()[1], "there": server.port, "closed": port}
        )
        assert time.monotonic() - begun < 3
    assert found == [Server("there", f"http://127.0.0.1:{server.port}/v1", ("test",))]
    screen = welcome(found)
    assert f"export OPENAI_BASE_URL=http://127.0.0.1:{server.port}/v1" in screen
    assert "export PYGENT_MODEL=test" in screen


def test_what_a_server_lists_is_quoted():
    """A model's name cannot smuggle a command into the line that the user copies."""
    screen = welcome([Server("odd", "http://127.0.0.1:1/v1", ("a; rm -rf ~",))])
    assert f"PYGENT_MODEL={shlex.quote('a; rm -rf ~')}" in screen


def test_lines_from_a_pipe_are_messages(pygent, serve):
    """Without a terminal the loop reads lines to their end; the session is kept."""
    serve("Hello.", "And bye.")
    ran = pygent("-w", "here", input="hi\nbye\n")
    assert ran.returncode == 0, ran.stderr
    assert "Pygent: Hello." in ran.stdout
    assert "Pygent: And bye." in ran.stdout
    assert (pygent.folder / "here").is_dir()
    assert sum(event["type"] == "turn_ended" for event in pygent.events()) == 2


def test_a_workspace_that_was_made_up_is_kept_if_it_holds_anything(pygent, serve, isolated):
    """What the agent made is still there after the session, and it is said where."""
    serve(call("write_file", path="a.txt", content="a"), "Done.")
    ran = pygent(input="write\n/exit\n")
    kept = Path(ran.stdout.split("The workspace is kept: ")[1].strip())
    assert (kept / "a.txt").read_text() == "a"
    ran = pygent(input="/exit\n")
    assert "kept" not in ran.stdout
    assert list(kept.parent.iterdir()) == [kept]


def test_the_options_of_the_bare_command(pygent, serve, tmp_path):
    """Preset, omitted tools, bans, variables and `--cwd` hold for the session."""
    server = serve("Hm.", Reply(status=500, body={"error": {"message": "broken"}}), "Fine.")
    ran = pygent(
        *("--cwd", "--preset", "reviewer", "--omit-tool", "grep", "--ban-cmd", "dd"),
        *("-e", "PYGENT_MODEL=tiny", "--no-confirm-bash"),
        input="look\n/banned\n/cmd pwd\nagain\nand again\n/exit\n",
    )
    assert ran.returncode == 0, ran.stderr
    first = server.requests[0]
    assert first["model"] == "tiny"
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert "read_file" in offered
    assert not offered & {"bash", "write_file", "grep"}
    assert "dd\n" in ran.stdout
    assert f"{pygent.folder}\n" in ran.stdout
    assert "error: " in ran.stdout
    assert "Pygent: Fine." in ran.stdout


def test_going_on_from_a_snapshot(pygent, serve):
    """`/save DIR` and `--load DIR` bring workspace and conversation back."""
    server = serve("One.", "Two.")
    assert pygent("-w", "here", input="first\n/cmd echo a > a.txt\n/save saved\n").returncode == 0
    ran = pygent("--load", "saved", input="second\n/cmd cat a.txt\n")
    assert ran.returncode == 0, ran.stderr
    said = [m["content"] for m in server.requests[1]["messages"] if m["role"] == "user"]
    assert said == ["first", "second"]
    assert "a\n" in ran.stdout


def test_an_unavailable_sandbox_is_told(pygent, serve):
    """`--docker` is refused in one line: nothing falls back silently."""
    serve()
    ran = pygent("--docker", input="hi\n")
    assert ran.returncode == 3
    assert "docker" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_an_unknown_preset_is_named():
    """The library says which there are."""
    with pytest.raises(PygentError, match="poet"):
        run_interactive(preset="poet")


def test_what_comes_later_says_so(pygent):
    """The server and the web page raise one clear error each, wherever they are asked for."""
    with pytest.raises(PygentError, match="later"):
        package.create_app()
    assert package.run_interactive is run_interactive
    ran = pygent("ui")
    assert ran.returncode == 1
    assert "not in this version" in ran.stderr


class Terminal:
    """A real terminal: tmux on a socket of its own."""

    def __init__(self, folder, env):
        self.base = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        self.env = {**env, "TERM": "xterm"}
        self.env.pop("TMUX", None)

    def __call__(self, *words):
        return subprocess.run(
            [*self.base, *words],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        ).stdout

    def screen(self):
        return self("capture-pane", "-p", "-S", "-")

    def wait(self, text, times=1):
        """Wait until a text is on the screen so many times."""
        until = time.monotonic() + DEADLINE
        while self.screen().count(text) < times:
            assert time.monotonic() < until, f"never on the screen: {text!r}\n{self.screen()}"
            time.sleep(0.05)

    def type(self, line):
        self("send-keys", "-l", line)
        self("send-keys", "Enter")


@pytest.fixture
def terminal(pygent, tmp_path):
    made = Terminal(tmp_path, pygent.environment())

    def start(*arguments):
        env = pygent.environment()
        names = ("OPENAI_BASE_URL", "PYTHONPATH", "HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        settings = [f"{name}={shlex.quote(env[name])}" for name in names if name in env]
        words = " ".join(map(shlex.quote, pygent.argv(*arguments)))
        command = f"trap : INT; env {' '.join(settings)} {words}; echo ended with $?; cat"
        made(
            *("new-session", "-d", "-x", "100", "-y", "40", "-c", str(pygent.folder)),
            *("sh", "-c", command),
        )
        return made

    yield start
    made("kill-server")


@pytest.mark.needs("tmux")
def test_the_loop_in_a_terminal(terminal, serve, pygent):
    """Talking, Ctrl-C in a turn and twice at the prompt: the turn ends, then the session, with 0."""
    serve("Hello there.", call("bash", cmd="echo began; sleep 100", timeout=90), "I am back.")
    screen = terminal("--cwd")
    screen.wait(">>>")
    screen.type("hi")
    screen.wait("Pygent: Hello there.")
    screen.wait(">>>", 2)
    screen.type("work")
    screen.wait("began", 2)
    screen("send-keys", "C-c")
    screen.wait("[interrupted]")
    screen.type("still there?")
    screen.wait("Pygent: I am back.")
    screen("send-keys", "C-c")
    screen.wait("Ctrl-C again exits")
    screen("send-keys", "C-c")
    screen.wait("ended with 0")
    assert "Traceback" not in screen.screen()
    outcomes = [e["outcome"] for e in pygent.events() if e["type"] == "tool_finished"]
    assert outcomes == ["cancelled"]


@pytest.mark.needs("tmux")
def test_what_is_pasted_is_one_message(terminal, serve):
    """Lines that are pasted at once are one message, not several."""
    server = serve("I see.")
    screen = terminal("--cwd")
    screen.wait(">>>")
    screen("set-buffer", "one\ntwo")
    screen("paste-buffer", "-p")
    screen.wait("two")
    screen("send-keys", "Enter")
    screen.wait("Pygent: I see.")
    assert server.requests[0]["messages"][-1]["content"] == "one\ntwo"
    screen("send-keys", "C-d")
    screen.wait("ended with 0")
    assert "The session is kept: pygent sessions show " in screen.screen()


@pytest.mark.needs("tmux")
def test_confirming_in_a_terminal(terminal, serve, pygent):
    """A command waits for the user's yes; Ctrl-C at the question is a no; Ctrl-D ends with 0."""
    serve(call("bash", cmd="touch one"), "a", call("bash", cmd="touch two"), "b")
    screen = terminal("--cwd", "--confirm-bash")
    screen.wait(">>>")
    screen.type("go")
    screen.wait("Run it?")
    screen.type("y")
    screen.wait("Pygent: a")
    screen.type("again")
    screen.wait("Run it?", 2)
    screen("send-keys", "C-c")
    screen.wait("Pygent: b")
    screen("send-keys", "C-d")
    screen.wait("ended with 0")
    assert sorted(os.listdir(pygent.folder)) == ["one"]


@pytest.mark.needs("tmux")
def test_a_hangup_keeps_the_session(terminal, serve, pygent, tmp_path):
    """When the terminal is closed, the command dies and the session is whole."""
    serve(call("bash", cmd=f"echo $$ > {tmp_path}/pid; sleep 100", timeout=90))
    screen = terminal("--cwd")
    screen.wait(">>>")
    screen.type("work")
    until = time.monotonic() + DEADLINE
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert time.monotonic() < until, screen.screen()
        time.sleep(0.02)
    pid = int((tmp_path / "pid").read_text())
    screen("kill-server")
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text():
        assert time.monotonic() < until, "the command outlived its terminal"
        time.sleep(0.02)
    while pygent.events()[-1]["type"] != "turn_ended":
        assert time.monotonic() < until, "the turn's end was never recorded"
        time.sleep(0.02)
