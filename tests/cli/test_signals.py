"""Signals, closed streams and readers that go away: quiet, with nothing lost or left."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from pygent.testing import Fault, Reply, call

DEADLINE = 20


def wait_for(condition, what):
    """Wait until something is so; fail where it never is."""
    until = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < until, f"never: {what}"
        time.sleep(0.02)
    return found


def is_gone(pid):
    """Say whether a process has ended, reaped by its parent or not yet."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return not state or state.startswith("Z")


def number_in(file):
    """Return the number that a command wrote, once it is there whole."""
    return file.exists() and file.read_text().endswith("\n") and int(file.read_text())


LONG = call("bash", cmd="sleep 120 & echo $! > child; echo $$ > shell; wait", timeout=100)


@pytest.fixture
def working(pygent, serve):
    """Start a run, and wait until its command is at work; yields it with the command's pids."""
    serve(LONG)
    started = []

    def start(*arguments, **options):
        process = pygent.start("run", *arguments, "go", **options)
        started.append(process)
        pids = [
            wait_for(lambda name=name: number_in(pygent.folder / name), f"a pid in {name}")
            for name in ("child", "shell")
        ]
        return process, pids

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("mode", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["INT", "TERM", "HUP"],
)
def test_a_signal_ends_the_run_in_order(pygent, working, sent, code, mode):
    """The command's whole tree is dead, its call answered, the session saved; 130, 143, 129."""
    process, pids = working(*mode)
    process.send_signal(sent)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == code, err
    assert "Traceback" not in err
    wait_for(lambda: all(map(is_gone, pids)), "the end of what the command started")
    kinds = [event["type"] for event in pygent.events()]
    assert kinds[-2:] == ["tool_finished", "turn_ended"]
    if mode:
        found = [json.loads(line) for line in out.splitlines()]
        assert [line["type"] for line in found[:-1]] == kinds
        assert found[-1]["subtype"] == "interrupted"
        assert found[-1]["exit_code"] == code


def test_a_second_ctrl_c_does_not_break_the_end(pygent, working):
    """Two SIGINTs in a row: the same clean end, with the session saved."""
    process, pids = working()
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    wait_for(lambda: all(map(is_gone, pids)), "the end of what the command started")
    assert pygent.events()[-1]["type"] == "turn_ended"


def test_a_signal_while_the_model_is_asked(pygent, serve):
    """A request that hangs is dropped at once, and the turn's end recorded."""
    server = serve(Reply(body=[Fault.HANG]))
    process = pygent.start("run", "go")
    wait_for(lambda: server.requests, "a request")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 143, err
    assert "Traceback" not in err
    kinds = [event["type"] for event in pygent.events()]
    assert kinds[-2:] == ["model_failed", "turn_ended"]


@pytest.mark.parametrize("mode", [[], ["--json"]], ids=["text", "json"])
def test_a_reader_that_goes_away(pygent, serve, mode):
    """`| head -1` gets its line; the run ends quietly and its session is whole."""
    answer = "\n".join(f"line {number}" for number in range(20_000))
    serve(default=answer)
    reader = subprocess.Popen(
        ["head", "-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process = pygent.start("run", *mode, "go", stdout=reader.stdin)
    reader.stdin.close()
    try:
        first = reader.stdout.read()
        err = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        reader.wait()
        reader.stdout.close()
    assert first == "line 0\n" or '"session_started"' in first
    assert process.returncode in (0, 141), err
    assert "Traceback" not in err
    assert "BrokenPipe" not in err
    kinds = [event["type"] for event in pygent.events()]
    # With --json the reader may be gone before the turn has begun.
    assert kinds[-1] == "turn_ended" or (mode and "model_requested" not in kinds)


CLOSED = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_streams(pygent, serve, closed):
    """Closed standard streams change nothing about the work: no traceback, the session is kept."""
    serve(call("bash", cmd="echo hi > made; cat made"), "done")
    words = " ".join(f"'{word}'" for word in pygent.argv("run", "go"))
    ran = subprocess.run(
        ["sh", "-c", f"{words} {closed}"],
        cwd=pygent.folder,
        env=pygent.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert (pygent.folder / "made").read_text() == "hi\n"
    assert pygent.events()[-1]["type"] == "turn_ended"
    if "1>&-" not in closed and ">&-" not in closed.split():
        assert ran.stdout == "done\n"


def test_nohup_is_respected(pygent, working):
    """A SIGHUP that the parent had ignored stays ignored."""

    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process, _ = working(preexec_fn=ignore)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 143


STUBBORN = """
import time
from pygent import set_custom_model
class Stubborn:
    def chat(self, messages, model, tools):
        open("asked", "w").close()
        time.sleep(100)
set_custom_model(Stubborn())
"""


def test_work_that_does_not_heed_a_signal_is_ended_all_the_same(pygent, tmp_path):
    """A model that knows nothing of cancelling is broken into after a moment; the exit is 143."""
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    process = pygent.start("--pyconfig", str(tmp_path / "stubborn.py"), "run", "go")
    wait_for((pygent.folder / "asked").exists, "the question to the model")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 143, err
    assert "Traceback" not in err
    assert pygent.events()[-1]["type"] == "turn_ended"
