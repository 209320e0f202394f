"""The local tier: the contract, and what it alone promises."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from pygent.errors import PathError, SandboxError
from pygent.runtime import CommandSpec, LocalSandbox, Runtime, process as process_module, stragglers
from tests.contracts.contract_sandbox import SOON, SandboxContract, alive, recorded, wait_until


@pytest.fixture
def rt():
    with Runtime(use_docker=False) as runtime:
        yield runtime


class TestLocalSandbox(SandboxContract):
    """The contract."""


class TestLocalSandboxWithoutPidfd(SandboxContract):
    """The contract where the system has no process descriptors."""

    @pytest.fixture(autouse=True)
    def _none(self, monkeypatch):
        monkeypatch.setattr(process_module, "_watch", lambda _: None)


def test_sandbox_says_what_it_is(tmp_path):
    """The local tier holds everywhere, isolates nothing, and says so."""
    sandbox = LocalSandbox(tmp_path)
    probe = sandbox.probe()
    assert (sandbox.name, sandbox.isolated, probe.ok) == ("local", False, True)
    assert any("network" in gap for gap in probe.gaps)
    assert sandbox.attach("call-1") is None
    sandbox.close()
    sandbox.close()


def test_job_is_read_while_it_runs(tmp_path):
    """A job's output can be read from any offset, before and after its end."""
    sandbox = LocalSandbox(tmp_path)
    job = sandbox.start(
        CommandSpec(command="echo one; while [ ! -e go ]; do sleep 0.01; done; echo two")
    )
    wait_until(lambda: job.read() == b"one\n")
    assert job.wait(0.05) is None
    (tmp_path / "go").touch()
    result = job.wait(10)
    assert result is not None
    assert result.output == "one\ntwo\n"
    assert job.read(4) == b"two\n"
    assert job.wait() is result
    job.kill()
    sandbox.close()


def test_job_is_killed(tmp_path):
    """A killed job has a result that says so."""
    sandbox = LocalSandbox(tmp_path)
    job = sandbox.start(CommandSpec(command="sleep 60"))
    job.kill()
    result = job.wait(10)
    assert result is not None
    assert (result.killed, result.signal, result.timed_out) == (True, "SIGKILL", False)
    sandbox.close()


def test_extra_variables_reach_the_command():
    """Variables that are given by name do reach a command."""
    with Runtime(use_docker=False, env={"GREETING": "hello"}) as rt:
        assert rt.bash("echo $GREETING").endswith("\nhello\n")
        assert rt.run("echo $GREETING $MORE", env={"MORE": "world"}).output == "hello world\n"


def test_child_without_marker_dies_at_a_timeout(rt):
    """A child that cleared its environment dies too, as long as its parents are there."""
    command = "env -i setsid sh -c 'echo $$ > pids; sleep 60 > /dev/null 2>&1' & sleep 60"
    rt.bash(command, timeout=1)
    assert len(recorded(rt, "pids")) == 1
    assert not any(map(alive, recorded(rt, "pids")))


def test_control_group_kill_alone_misses_sessions(rt, monkeypatch):
    """Control: without the sweep and the tree, a child in its own session survives."""
    monkeypatch.setattr(stragglers, "end", lambda *_: True)
    monkeypatch.setattr(stragglers, "descendants", lambda _: [])
    rt.bash("setsid sh -c 'echo $$ > pids; exec sleep 60' >/dev/null 2>&1 & sleep 60", timeout=1)
    (left,) = recorded(rt, "pids")
    try:
        assert alive(left)
    finally:
        subprocess.run(["kill", "-9", str(left)], check=True)
        wait_until(lambda: not alive(left))


def test_control_waiting_for_the_pipe_is_held(tmp_path):
    """Control: who waits for the end of the output waits for the background child."""
    began = time.monotonic()
    subprocess.run("sleep 1 & echo hi", shell=True, capture_output=True, check=True, cwd=tmp_path)
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize("last", [None, 5])
def test_sweep_looks_everywhere_when_numbers_went_round(rt, monkeypatch, last):
    """When process numbers started again, or nobody knows, all processes are asked."""
    monkeypatch.setattr(stragglers, "_last_pid", lambda: last)
    if last is None:
        monkeypatch.setattr(stragglers, "_SURE_WINDOW", -1)
    rt.bash(
        "setsid sh -c 'echo $$ > pids; exec sleep 60' >/dev/null 2>&1 & until [ -s pids ]; do :; done"
    )
    assert len(recorded(rt, "pids")) == 1
    assert not any(map(alive, recorded(rt, "pids")))


def test_sweep_finds_what_changes_to_another_program(rt, monkeypatch):
    """In that moment a process has no environment, and so no marker: it is asked again."""
    real, asked = stragglers._environ, []

    def environ(pid):
        asked.append(pid)
        return real(pid) if asked.count(pid) > 2 else b""

    monkeypatch.setattr(stragglers, "_environ", environ)
    rt.bash(
        "setsid sh -c 'echo $$ > pids; exec sleep 60' >/dev/null 2>&1 & until [ -s pids ]; do :; done"
    )
    assert len(recorded(rt, "pids")) == 1
    assert not any(map(alive, recorded(rt, "pids")))


def test_sweep_spares_others(rt):
    """A process that another command or the user started is left alone."""
    other = subprocess.Popen(["sleep", "60"], cwd=rt.base_dir)
    done = threading.Event()

    def work():
        rt.bash("sh -c 'touch up; sleep 2; touch survived'")
        done.set()

    second = threading.Thread(target=work)
    second.start()
    try:
        wait_until((rt.base_dir / "up").exists)
        rt.bash("sleep 60 & setsid sleep 60", timeout=0.3)
        assert alive(other.pid)
        assert done.wait(20)
        assert rt.read_file("survived") == ""
    finally:
        second.join()
        other.kill()
        other.wait()


def test_failing_listener_ends_the_command(rt):
    """When whoever watches fails, the command is dead before the error goes on."""

    def fail(piece: str) -> None:
        if piece.startswith("ready"):
            raise LookupError("gone")

    with pytest.raises(LookupError, match="gone") as caught:
        rt.bash("echo $$ > pids; echo ready; sleep 60", stream=fail)
    assert not any(map(alive, recorded(rt, "pids")))
    assert vars(caught.value)["output"].endswith("\nready\n")


def test_ctrl_c_ends_the_command(tmp_path):
    """An interrupt kills the command, and its output is on the KeyboardInterrupt."""
    script = (
        "import sys\n"
        "from pygent.runtime import Runtime\n"
        "rt = Runtime(use_docker=False, workspace=sys.argv[1])\n"
        "try:\n"
        "    rt.bash('echo $$ > pids; echo partial; touch ready; sleep 60 & sleep 60')\n"
        "except KeyboardInterrupt as error:\n"
        "    print(repr(error.output), rt.bash('echo usable').count('usable'))\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "ws"], stdout=subprocess.PIPE, text=True
    )
    wait_until((tmp_path / "ws/ready").exists)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert time.monotonic() - began < SOON
    assert "\\npartial\\n" in out
    assert out.endswith(" 2\n")
    assert not alive(int((tmp_path / "ws/pids").read_text()))


def test_no_descriptor_is_lost(rt):
    """A command, a timeout and a refusal leave no open file behind."""
    import os

    rt.bash("true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        rt.bash("echo hi")
        rt.bash("sleep 60", timeout=0.02)
        rt.write_file("x/y", "z")
        with pytest.raises(PathError):
            rt.write_file("../x", "z")
    assert len(os.listdir("/proc/self/fd")) == before


def test_directory_of_a_command_is_checked(rt, tmp_path):
    """A command cannot be started outside of the workspace."""
    rt.bash(f"ln -s {tmp_path} out; mkdir in; touch file")
    for cwd in ("..", "out", str(tmp_path), "file", "missing"):
        with pytest.raises(PathError):
            rt.run("echo pwn > here.txt", cwd=cwd)
    assert not (tmp_path / "here.txt").exists()
    assert rt.run("pwd", cwd="in").output == f"{rt.base_dir}/in\n"


def test_workspace_that_was_replaced(tmp_path):
    """A workspace that became another directory is gone, and is not made anew."""
    with Runtime(use_docker=False, workspace=tmp_path / "ws") as rt:
        rt.bash('mv "$PWD" "$PWD.old"; mkdir -p "$PWD"')
        for use in (
            lambda: rt.bash("touch x"),
            lambda: rt.write_file("x", "y"),
            lambda: rt.read_file("x"),
        ):
            with pytest.raises(SandboxError, match="workspace is gone"):
                use()
        assert not list((tmp_path / "ws").iterdir())


def test_workspace_that_was_deleted(tmp_path):
    """A workspace that was deleted is not made anew behind the user's back."""
    with Runtime(use_docker=False, workspace=tmp_path / "ws") as rt:
        rt.bash('rmdir "$PWD"')
        with pytest.raises(SandboxError, match="workspace is gone"):
            rt.bash("true")
        assert not (tmp_path / "ws").exists()


@pytest.mark.parametrize("far", [3e6, 1e300, float("inf")])
def test_a_limit_that_is_too_far_for_a_clock(rt, far):
    """It is none in practice."""
    assert rt.bash("sleep 0.01; echo fine", timeout=far).endswith("fine\n")


INTERRUPTED = """
import os, sys
from pygent.runtime import Runtime
rt = Runtime(use_docker=False)
rt.bash("true")
stop_at, lines = int(sys.argv[1]), 0

def trace(frame, event, argument):
    global lines
    if "pygent/runtime/" in frame.f_code.co_filename or "subprocess.py" in frame.f_code.co_filename:
        if event == "line":
            lines += 1
            if lines == stop_at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

sys.settrace(trace)
try:
    rt.bash(sys.argv[2])
except KeyboardInterrupt:
    print("interrupted")
else:
    print("not reached")
sys.settrace(None)
print(rt.bash("echo usable"))
"""


@pytest.mark.parametrize("line", [*range(1, 400, 23), *range(140, 260, 7)])
def test_an_interrupt_anywhere_in_the_start_leaves_nothing_behind(line):
    """Ctrl-C at any line of starting a command: it is dead, and the runtime goes on."""
    # The same line may be tried elsewhere at this moment: each sleeps for a time of its own.
    command = f"sleep 47.{line:03}{os.getpid()}"
    argv = [sys.executable, "-c", INTERRUPTED, str(line), command]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert "usable" in done.stdout, done.stderr
    assert "interrupted" in done.stdout
    listed = subprocess.run(["ps", "ax"], capture_output=True, text=True, check=True).stdout
    assert command not in listed


LEFT_RUNNING = """
import sys, threading, time
from pathlib import Path
from pygent.runtime import Runtime
rt = Runtime(use_docker=False, workspace=sys.argv[1])
command = "sleep 60 & echo $! >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 60' & wait"
threading.Thread(target=rt.bash, args=(command, 90), daemon=True).start()
pids = Path(sys.argv[1], "pids")
while not (pids.exists() and len(pids.read_text().split()) == 2):
    time.sleep(0.01)
"""


def test_a_command_does_not_outlive_the_program(tmp_path):
    """What threads have running when the program ends, as tasks do, ends with it."""
    argv = [sys.executable, "-c", LEFT_RUNNING, str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    wait_until(lambda: not any(map(alive, pids)))
