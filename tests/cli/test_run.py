"""`pygent run`: one task, headless, as a process."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from pygent import __version__
from pygent.testing import Reply, call, calls


def test_the_answer_and_nothing_else_is_on_stdout(pygent, serve):
    """The answer goes to standard output; session, sandbox and tools go to standard error."""
    serve(call("bash", cmd="echo made > made.txt"), "It is done.")
    ran = pygent("run", "make it")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "It is done.\n"
    assert "> bash echo made > made.txt" in ran.stderr
    assert "sandbox local: commands are NOT isolated" in ran.stderr
    assert (pygent.folder / "made.txt").read_text() == "made\n"


def test_the_session_is_kept_under_the_id_that_was_told(pygent, serve):
    """The id on standard error names a session in the data directory, with all that happened."""
    serve("Hello.")
    ran = pygent("run", "hello")
    name = ran.stderr.split("session ")[1].split()[0]
    kinds = [event["type"] for event in pygent.events(name)]
    assert kinds[0] == "session_started"
    assert "model_replied" in kinds
    assert kinds[-1] == "turn_ended"
    listed = pygent("sessions", "list")
    assert listed.stdout.startswith(name)
    assert "hello" in listed.stdout
    shown = pygent("sessions", "show", name)
    assert "user: hello" in shown.stdout
    assert "agent: Hello." in shown.stdout


def test_it_works_in_the_directory_that_is_named(pygent, serve, tmp_path):
    """`--workspace DIR` works there, and leaves the current directory alone."""
    other = tmp_path / "other"
    other.mkdir()
    serve(call("write_file", path="a.txt", content="a"), "ok")
    assert pygent("run", "-w", str(other), "write").returncode == 0
    assert (other / "a.txt").read_text() == "a"
    assert list(pygent.folder.iterdir()) == []


def test_each_line_of_json_is_an_event_and_the_last_is_the_result(pygent, serve, lines):
    """With `--json` each line has type, session and seq; exactly one, the last, is a result."""
    serve(call("bash", cmd="echo hi"), "All good.")
    ran = pygent("run", "--json", "go")
    found = lines(ran.stdout)
    assert all({"type", "session", "seq"} <= set(line) for line in found)
    assert [line["seq"] for line in found] == list(range(1, len(found) + 1))
    assert len({line["session"] for line in found}) == 1
    assert [line["type"] for line in found].count("result") == 1
    assert "delta" not in {line["type"] for line in found}
    result = found[-1]
    assert (result["subtype"], result["exit_code"]) == ("success", 0) == ("success", ran.returncode)
    assert result["text"] == "All good."
    assert [line["type"] for line in found[:-1]] == [e["type"] for e in pygent.events()]


DENIED = call("bash", cmd="touch denied")
ENDINGS = [
    ([], ["fine"], 0, "success"),
    ([], [call("stop")], 0, "success"),
    (
        [],
        [Reply(status=400, body={"error": {"message": "no such model"}})],
        1,
        "error_during_execution",
    ),
    ([], [Reply(status=401, body={"error": {"message": "bad key"}})], 3, "error_auth"),
    (["--max-steps", "1"], [call("bash", cmd="true")], 4, "error_max_turns"),
    (["--max-time", "0.5"], [call("bash", cmd="sleep 30")], 4, "error_max_budget"),
    (["--confirm-bash"], [DENIED, "I could not."], 6, "error_permission"),
]


@pytest.mark.parametrize("mode", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(("options", "script", "code", "subtype"), ENDINGS)
def test_exit_codes(pygent, serve, lines, options, script, code, subtype, mode):
    """How a run ended is told by the exit code, the same in both modes, and by the subtype."""
    serve(*script)
    ran = pygent("run", *options, *mode, "go")
    assert ran.returncode == code, ran.stderr
    assert "Traceback" not in ran.stderr
    assert (code == 0) == ("pygent: " not in ran.stderr)
    if mode:
        result = lines(ran.stdout)[-1]
        assert (result["type"], result["subtype"]) == ("result", subtype)
        assert result["exit_code"] == code
    assert not (pygent.folder / "denied").exists()
    assert pygent.events()[-1]["type"] == "turn_ended"


@pytest.mark.parametrize("mode", [[], ["--json"]], ids=["text", "json"])
def test_without_a_key_one_line_says_what_to_set(pygent, lines, mode):
    """Without a key at the default address: exit code 3, one line with all three ways out."""
    ran = pygent("run", *mode, "hello")
    assert ran.returncode == 3
    assert len(ran.stderr.splitlines()) == 1
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "pygent demo"):
        assert name in ran.stderr
    if mode:
        (result,) = lines(ran.stdout)
        assert result["subtype"] == "error_auth"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "--max-steps", "none", "x"],
        ["run", "--max-time", "nan", "x"],
        ["run", "--workspace", "/nowhere/at/all", "x"],
        ["run", "--sandbox", "castle", "x"],
        ["-e", "NO_SIGN", "run", "x"],
        ["--preset", "poet", "run", "x"],
        ["fly"],
    ],
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(pygent, arguments):
    """Exit code 2, and the word that was wrong."""
    ran = pygent(*arguments)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "Error" in ran.stderr


def asked(server):
    """Return what the user said in the first request."""
    return [m["content"] for m in server.requests[0]["messages"] if m["role"] == "user"]


@pytest.mark.parametrize(
    ("arguments", "piped", "said"),
    [
        (["run"], "from the pipe\n", "from the pipe"),
        (["run", "-"], "from the pipe\n", "from the pipe"),
        (["run", "explain"], "some log\n", "explain\n\nsome log"),
        (["run", "explain"], "", "explain"),
    ],
)
def test_standard_input_is_the_prompt_or_goes_with_it(pygent, serve, arguments, piped, said):
    """Piped text is the prompt where there is none, and is appended where there is one."""
    server = serve("ok")
    assert pygent(*arguments, input=piped).returncode == 0
    assert asked(server) == [said]


def test_options_reach_the_agent(pygent, serve):
    """Model, persona, omitted tools and banned commands are what the options say."""
    server = serve(calls(call("bash", cmd="rm -rf x"), call("bash", cmd="true; rm y")), "ok")
    ran = pygent(
        *("--ban-cmd", "rm", "run", "--model", "tiny", "--persona", "a careful person."),
        *("--omit-tool", "grep", "--sandbox", "local", "go"),
    )
    assert ran.returncode == 0, ran.stderr
    first, second = server.requests
    assert first["model"] == "tiny"
    assert "a careful person." in first["messages"][0]["content"]
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert "bash" in offered
    assert not offered & {"grep", "ask_user", "continue"}
    answers = [m["content"] for m in second["messages"] if m["role"] == "tool"]
    assert all("command 'rm' disabled" in answer for answer in answers)


def test_a_key_never_reaches_a_command(pygent, serve):
    """What a command prints of its environment has no secret of ours in it."""
    server = serve(call("bash", cmd="env"), "ok")
    assert pygent("run", "go", env={"OPENAI_API_KEY": "sk-very-secret"}).returncode == 0
    assert b"sk-very-secret" not in server.requests[1].raw


def test_a_pipe_gets_the_answer_as_it_is(pygent, serve):
    """Into a pipe every byte of the answer goes as it is."""
    serve("red: \x1b[31mx\x1b[0m")
    assert pygent("run", "go").stdout == "red: \x1b[31mx\x1b[0m\n"


def test_a_broken_answer_says_so(pygent, serve):
    """A server that sends nonsense ends the run with one line, not a traceback."""
    serve(Reply(body="<html>no</html>"))
    ran = pygent("run", "go")
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr


def test_a_custom_model_from_a_python_file(pygent, tmp_path):
    """`--pyconfig FILE` runs first, and may set a model: no key is needed then."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from pygent import set_custom_model\n"
        "class Parrot:\n"
        "    def chat(self, messages, model, tools):\n"
        "        return {'role': 'assistant', 'content': messages[-1]['content']}\n"
        "set_custom_model(Parrot())\n"
    )
    ran = pygent("--pyconfig", str(file), "run", "polly")
    assert (ran.returncode, ran.stdout) == (0, "polly\n")
    file.write_text("\nraise RuntimeError('broken')\n")
    ran = pygent("--pyconfig", str(file), "run", "polly")
    assert ran.returncode == 3
    assert f"{file}, line 2: RuntimeError: broken" in ran.stderr


def test_what_lies_in_a_folder_is_not_run_or_read_unasked(pygent, serve):
    """A project's config.py is not run and its pygent.toml not read, unless they are named."""
    (pygent.folder / "config.py").write_text("open('ran', 'w').close()\n")
    (pygent.folder / "pygent.toml").write_text('persona = "an intruder."\n')
    server = serve("ok", "ok")
    ran = pygent("run", "go")
    assert ran.returncode == 0
    assert "./pygent.toml is there and was not read" in ran.stderr
    assert not (pygent.folder / "ran").exists()
    assert "an intruder." not in server.requests[0]["messages"][0]["content"]
    assert pygent("-c", "pygent.toml", "run", "go").returncode == 0
    assert "an intruder." in server.requests[1]["messages"][0]["content"]


def test_the_users_own_file_is_read(pygent, serve, isolated):
    """~/.pygent.toml holds for every run; what is set already wins."""
    (isolated / ".pygent.toml").write_text('persona = "calm."\npersona_name = "Ann"\n')
    server = serve("ok")
    assert pygent("run", "go", env={"PYGENT_PERSONA_NAME": "Bob"}).returncode == 0
    assert "You are Bob. calm." in server.requests[0]["messages"][0]["content"]


def test_a_broken_file_is_never_skipped(pygent, isolated):
    """A file that is not TOML is named with its line, exit code 3."""
    (isolated / ".pygent.toml").write_text('persona = "calm."\nbroken = \n')
    ran = pygent("run", "go")
    assert ran.returncode == 3
    assert ".pygent.toml" in ran.stderr
    assert "line 2" in ran.stderr


def test_delegated_work_ends_with_the_run(pygent, serve, tmp_path):
    """A background agent that is still at work when the answer is given is ended, and waited for."""

    def reply(request):
        said = [m["content"] for m in request["messages"] if m["role"] == "user"]
        if said == ["sleep"]:
            return call("bash", cmd=f"echo $$ > {tmp_path}/pid; sleep 60", timeout=60)
        if request["messages"][-1]["role"] == "tool":
            until = time.monotonic() + 30
            while not (tmp_path / "pid").exists() and time.monotonic() < until:
                time.sleep(0.02)
            return "I do not wait."
        return call("delegate_task", prompt="sleep")

    serve(default=reply)
    ran = pygent("run", "go")
    assert (ran.returncode, ran.stdout) == (0, "I do not wait.\n"), ran.stderr
    pid = int((tmp_path / "pid").read_text())
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    assert not state or state.startswith("Z")


@pytest.mark.parametrize("word", ["--version", "version"])
def test_the_version_is_answered_at_once(pygent, word):
    """`--version` and `version` import none of what takes time."""
    code = (
        f"import sys; from pygent.cli import run; run([{word!r}]);"
        "print({'typer', 'httpx2', 'pydantic', 'rich', 'sqlite3'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=pygent.environment(),
        cwd=pygent.folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout == f"{__version__}\nset()\n"
