"""The interactive session, with a front end that reads its lines from a list."""

from __future__ import annotations

import types

import pytest

from pygent import Agent, APIError, CliSession, Runtime, Session
from pygent.commands import COMMANDS, register_command
from pygent.testing import ScriptedModel, call


class Typed(Session):
    """A user who types these lines, one of which may be an exception; then the input ends."""

    def __init__(self, agent, *lines):
        super().__init__(agent)
        self.lines = list(lines)
        self.prompts = []

    def get_input(self, prompt):
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line


@pytest.fixture
def talk(tmp_path):
    """Run a session over some lines with a scripted model; returns session and model."""

    def talk(replies, *lines, **options):
        model = ScriptedModel(replies)
        runtime = Runtime(use_docker=False, workspace=tmp_path / "ws")
        session = Typed(Agent(runtime=runtime, model=model, **options), *lines)
        session.run()
        model.assert_done()
        return session, model

    return talk


def test_a_plain_answer_ends_the_turn(talk, capsys):
    """One message, one plain answer: one model call, and the answer is shown."""
    _, model = talk(["Hello there."], "hi", "/exit")
    assert len(model.requests) == 1
    out = capsys.readouterr().out
    assert "Pygent (local) started. (Type /exit to quit)" in out
    assert "Pygent: Hello there." in out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "WARNING: commands are NOT isolated."),
        ({"use_docker": False}, "Commands are not isolated (use_docker=False)."),
    ],
)
def test_isolation_is_spoken_of_before_anything_is_typed(tmp_path, capsys, given, told):
    """A session that runs commands on the bare machine begins with saying so, in one of two tones."""
    runtime = Runtime(workspace=tmp_path / "ws", **given)
    Typed(Agent(runtime=runtime, model=ScriptedModel())).run()
    out = capsys.readouterr().out
    assert told in out
    assert out.count("isolated") == 1


@pytest.mark.parametrize("word", ["/exit", "quit", "q", "  q  "])
def test_the_words_that_end_it(talk, word):
    """Each of them ends the session, and nothing after it is read."""
    session, _ = talk([], word, "never read")
    assert session.lines == ["never read"]


def test_a_message_that_begins_with_q_is_a_message(talk):
    """Only the whole line ends the session, and the workspace is there afterwards."""
    session, model = talk(["Yes."], "q: is this a question?", "quit")
    assert model.requests[0][-1]["content"] == "q: is this a question?"
    assert session.agent.runtime.base_dir.is_dir()


def test_the_end_of_input_ends_it(talk):
    """Ctrl-D at the prompt is a clean end."""
    talk([])


def test_ctrl_c_at_the_prompt_asks_before_it_ends(talk, capsys):
    """The first says how to leave, and what follows is taken; two in a row end the session."""
    session, _ = talk(["Hi."], KeyboardInterrupt(), "hello", "/exit")
    assert session.lines == []
    assert "Ctrl-C again exits" in capsys.readouterr().out
    two = [KeyboardInterrupt(), "hello", KeyboardInterrupt(), "bye", "/exit"]
    assert talk(["Hi.", "Bye."], *two)[0].lines == []
    session, _ = talk([], KeyboardInterrupt(), KeyboardInterrupt(), "never read")
    assert session.lines == ["never read"]
    assert session.agent.runtime.base_dir.is_dir()


def test_ctrl_c_in_a_turn_stops_the_turn(talk, capsys):
    """The session goes on, and so does the conversation."""
    _, model = talk([KeyboardInterrupt(), "Again."], "first", "second", "/exit")
    assert len(model.requests) == 2
    assert "[interrupted]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "said"),
    [(APIError("the server is busy"), "error: the server is busy"), (RuntimeError("odd"), "odd")],
)
def test_an_error_never_ends_the_session(talk, capsys, error, said):
    """One line tells of it, and the next message goes on."""
    _, model = talk([error, "Now."], "first", "second", "/exit")
    out = capsys.readouterr().out
    assert said in out
    assert "Pygent: Now." in out
    assert len(model.requests) == 2


def test_a_question_is_put_to_the_user(talk, capsys):
    """`ask_user` with options is asked, once, and the answer sent as the next message."""
    ask = call("ask_user", prompt="Which?", options=["left", "right"])
    session, model = talk([ask, "Left it is."], "go", "left", "/exit")
    assert "Which? (left/right): " in session.prompts
    assert "Which?" not in capsys.readouterr().out
    assert model.requests[1][-1] == {"role": "user", "content": "left"}


def test_a_question_without_options_is_shown(talk, capsys):
    """The user reads it, and answers with the next message; `/exit` still ends the session."""
    _, model = talk([call("ask_user", prompt="What name?"), "Thanks."], "go", "Ann", "/exit")
    assert capsys.readouterr().out.count("Pygent asks: What name?\n") == 1
    assert model.requests[1][-1]["content"] == "Ann"
    talk([call("ask_user", prompt="Which?", options=["a"])], "go", "/exit")


def test_an_unknown_command_is_never_sent(talk, capsys):
    """It is told; a path at the start of a message, or a leading blank, makes it a message."""
    _, model = talk(["a", "b"], "/tpyo now", "/etc/hosts is what?", " /tpyo", "/exit")
    assert "no command is called /tpyo" in capsys.readouterr().out
    assert [r[-1]["content"] for r in model.requests] == ["/etc/hosts is what?", " /tpyo"]


def test_a_command_that_fails_ends_nothing(talk, capsys):
    """A custom command gets agent and argument; its failure is told, and the next one is read."""
    seen = []

    def bad(agent, arg):
        seen.append((agent, arg))
        raise LookupError("lost")

    register_command("/bad", bad, "fails")
    try:
        session, _ = talk(["Hi."], "/bad with words", "hello", "/exit")
    finally:
        COMMANDS.pop("/bad")
    assert seen == [(session.agent, "with words")]
    assert "LookupError: lost" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "runs", "told"),
    [
        ("y", True, None),
        ("n", False, "[refused]"),
        ("", False, "[refused]"),
        ("use ls instead", False, "use ls instead"),
        (KeyboardInterrupt(), False, "[refused]"),
        (EOFError(), False, "[refused]"),
    ],
)
def test_bash_is_confirmed_by_the_user(talk, tmp_path, capsys, answer, runs, told):
    """Only a yes runs the command; anything else is a no, in the user's words if there are any."""
    script = [call("bash", cmd="touch made"), "ok"]
    _, model = talk(script, "go", answer, "/exit", confirm_bash=True)
    assert "touch made" in capsys.readouterr().out
    assert (tmp_path / "ws" / "made").exists() == runs
    answers = [m["content"] for m in model.requests[1] if m["role"] == "tool"]
    assert told is None or told in answers[0]


def test_a_front_end_for_any_agent():
    """An agent that has only `run_until_stop` and what the promised front end touches will do."""
    closed, calls = [], []

    def run_until_stop(message):
        calls.append(message)
        if message == "start":
            return call("ask_user", prompt="Pick", options=["a", "b"])
        return None

    agent = types.SimpleNamespace(
        persona=types.SimpleNamespace(name="bot"),
        runtime=types.SimpleNamespace(use_docker=False, cleanup=lambda: closed.append("cleanup")),
        run_until_stop=run_until_stop,
        close=lambda: closed.append("close"),
    )
    session = Typed(agent, "start", "a", "/exit")
    session.run()
    assert calls == ["start", "a"]
    assert closed == ["close", "cleanup"]
    assert session.prompts[1] == "Pick (a/b): "


def test_a_screen_that_goes_away_ends_the_session(tmp_path, monkeypatch):
    """When output cannot be written any more, the session ends with that error, and is closed."""
    model = ScriptedModel(["Hello."])
    agent = Agent(runtime=Runtime(use_docker=False, workspace=tmp_path / "ws"), model=model)
    session = Typed(agent, "hi", "never read")

    class Gone:
        encoding = "utf-8"

        def write(self, text):
            if "Hello" in text:
                raise BrokenPipeError
            return len(text)

        def flush(self):
            pass

    monkeypatch.setattr("sys.stdout", Gone())
    with pytest.raises(BrokenPipeError):
        session.run()
    assert session.lines == ["never read"]


def test_the_plain_session_reads_standard_input(monkeypatch, tmp_path, capsys):
    """`CliSession` takes a line as it was typed, and says where the files are."""
    lines = iter(["hi", "/exit"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    model = ScriptedModel(["Hello."])
    runtime = Runtime(use_docker=False, workspace=tmp_path / "ws")
    CliSession(Agent(runtime=runtime, model=model)).run()
    model.assert_done()
    assert f"Workspace: {tmp_path / 'ws'}" in capsys.readouterr().out
