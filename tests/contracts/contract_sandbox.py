"""What every sandbox keeps, whatever it isolates: each tier's tests inherit this class."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pygent.cancel import CancelScope
from pygent.errors import Cancelled, TimedOut
from pygent.runtime import Runtime

SOON = 3.0  # the promise is a second; a busy machine gets more


def alive(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until(fact: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait for something to become true, or fail."""
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.01)


def recorded(rt: Runtime, name: str) -> list[int]:
    """Return the process ids that a command wrote into a file of the workspace."""
    try:
        return [int(word) for word in (rt.base_dir / name).read_text().split()]
    except FileNotFoundError:
        return []


class SandboxContract:
    """Inherit it and give a fixture ``rt``: a `Runtime` in the sandbox under test."""

    def test_command_comes_first(self, rt: Runtime):
        """The text starts with the command, and what it printed on both outputs follows."""
        assert rt.bash("echo one; echo two >&2") == "$ echo one; echo two >&2\none\ntwo\n"

    def test_exit_code_is_told(self, rt: Runtime):
        """A failure is told in one last line, a success in none."""
        assert rt.bash("printf x; exit 3") == "$ printf x; exit 3\nx\n[exit code 3]"
        assert rt.bash("exit 1") == "$ exit 1\n[exit code 1]"
        assert rt.bash("true") == "$ true\n"

    def test_signal_is_told(self, rt: Runtime):
        """A command that dies by a signal says which."""
        assert rt.bash("kill -9 $$").endswith("\n[killed by SIGKILL]")
        result = rt.run("kill -9 $$")
        assert (result.exit_code, result.signal, result.killed) == (None, "SIGKILL", False)

    def test_starts_in_the_workspace(self, rt: Runtime):
        """Every command starts in the workspace, wherever the last one went."""
        rt.bash("mkdir sub; cd sub; echo x > here")
        assert rt.read_file("sub/here") == "x\n"
        assert rt.bash("ls") == "$ ls\nsub\n"
        assert rt.run("cat here", cwd="sub").output == "x\n"

    def test_files_are_shared(self, rt: Runtime):
        """What is written on one side is there on the other."""
        rt.write_file("in.txt", "from outside\n")
        assert rt.bash("cat in.txt && echo inside > out.txt").endswith("from outside\n")
        assert rt.read_file("out.txt") == "inside\n"

    def test_input_is_empty(self, rt: Runtime):
        """A command that reads finds the end of its input."""
        assert rt.bash("cat; echo done") == "$ cat; echo done\ndone\n"

    def test_stream_has_the_same_text(self, rt: Runtime):
        """Whoever watches gets the command, the output as it comes, and the last line."""
        pieces: list[str] = []
        text = rt.bash("echo a; printf b; exit 2", stream=pieces.append)
        assert pieces[0] == "$ echo a; printf b; exit 2\n"
        assert "".join(pieces) == text + "\n"

    def test_stream_is_live(self, rt: Runtime):
        """A piece arrives while the command is still running."""

        def go_on(piece: str) -> None:
            if "first" in piece:
                (rt.base_dir / "go").touch()

        command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second"
        assert rt.bash(command, timeout=20, stream=go_on).endswith("first\nsecond\n")

    def test_timeout(self, rt: Runtime):
        """A command that takes too long is killed, and what it printed is there."""
        began = time.monotonic()
        text = rt.bash("echo early; sleep 60", timeout=0.3)
        assert text == "$ echo early; sleep 60\nearly\n[timeout after 0.3s]"
        assert time.monotonic() - began < 0.3 + SOON

    def test_timeout_of_nothing(self, rt: Runtime):
        """No time at all is over at once, and nothing ran."""
        assert rt.bash("touch ran", timeout=0) == "$ touch ran\n[timeout after 0s]"
        assert not (rt.base_dir / "ran").exists()

    def test_timeout_kills_everything(self, rt: Runtime):
        """Children in sessions of their own and orphans die with the command."""
        command = (
            "(setsid sh -c 'echo $$ >> pids; sleep 60' &) ; "
            "setsid sh -c 'echo $$ >> pids; sleep 60' & "
            "sh -c 'trap \"\" TERM INT HUP; echo $$ >> pids; sleep 60; sleep 60' & "
            "while [ $(wc -l < pids) -lt 3 ]; do sleep 0.01; done; touch ready; sleep 60"
        )
        rt.write_file("pids", "")
        text = rt.bash(command, timeout=2)
        assert text.endswith("[timeout after 2s]")
        assert rt.read_file("ready") == ""
        left = recorded(rt, "pids")
        assert len(left) == 3
        assert not any(map(alive, left))

    def test_stopped_command_is_killed(self, rt: Runtime):
        """A command that stops itself does not escape its timeout."""
        assert rt.bash("kill -STOP $$", timeout=0.3).endswith("[timeout after 0.3s]")

    def test_usable_after_a_timeout(self, rt: Runtime):
        """A timeout costs one command and no more."""
        rt.bash("sleep 60", timeout=0.2)
        assert rt.bash("echo fine") == "$ echo fine\nfine\n"

    def test_background_holder_does_not_hold_the_call(self, rt: Runtime):
        """The call ends with the shell, also when a child keeps the output open, and ends it."""
        began = time.monotonic()
        text = rt.bash("sleep 60 & echo $! > pids; echo hi", timeout=30)
        assert text.endswith("hi\n")
        assert time.monotonic() - began < SOON
        assert not any(map(alive, recorded(rt, "pids")))

    def test_background_child_dies_with_the_call(self, rt: Runtime):
        """What a command leaves running dies when it ends, silent and detached or not."""
        rt.write_file("pids", "")
        rt.bash(
            "setsid sh -c 'echo $$ >> pids; exec sleep 60' >/dev/null 2>&1 & "
            "(sh -c 'echo $$ >> pids; exec sleep 60' >/dev/null 2>&1 &) ; "
            "while [ $(wc -l < pids) -lt 2 ]; do sleep 0.01; done"
        )
        left = recorded(rt, "pids")
        assert len(left) == 2
        assert not any(map(alive, left))

    def test_cancel_from_another_thread(self, rt: Runtime):
        """Cancelling ends a command within a second, and the error has its output."""
        scope = CancelScope()
        caught: list[BaseException] = []

        def work() -> None:
            try:
                with scope.active():
                    rt.bash("echo begun; touch begun; sleep 60", timeout=None)
            except Cancelled as error:
                caught.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        wait_until((rt.base_dir / "begun").exists)
        began = time.monotonic()
        scope.cancel()
        thread.join(10)
        assert time.monotonic() - began < SOON
        assert [type(error) for error in caught] == [Cancelled]
        assert vars(caught[0])["output"].endswith("sleep 60\nbegun\n")
        assert rt.bash("echo fine") == "$ echo fine\nfine\n"

    def test_scope_deadline_beats_the_timeout(self, rt: Runtime):
        """The scope's deadline ends a command that had more time of its own."""
        scope = CancelScope(1.0)
        began = time.monotonic()
        with pytest.raises(TimedOut) as caught, scope.active():
            rt.bash("echo begun; sleep 60", timeout=50)
        assert time.monotonic() - began < 1.0 + SOON
        assert vars(caught.value)["output"].endswith("\nbegun\n")

    def test_nothing_starts_in_a_scope_that_is_over(self, rt: Runtime):
        """A cancelled turn runs no further command."""
        scope = CancelScope()
        with scope.active():
            scope.cancel()
            with pytest.raises(Cancelled):
                rt.bash("touch ran")
        assert not (rt.base_dir / "ran").exists()

    def test_environment_holds_no_secret(self, rt: Runtime, monkeypatch):
        """No variable of ours reaches a command unless it is known to be harmless."""
        for name in ("OPENAI_API_KEY", "HARMLESS_NAME", "pw", "PYGENT_MODEL", "GITHUB_TOKEN"):
            monkeypatch.setenv(name, "canary-secret")
        text = rt.bash("env; cat /proc/self/environ 2>/dev/null | tr '\\0' '\\n'")
        assert "PATH=" in text
        assert "canary-secret" not in text

    def test_commands_find_no_pager_and_no_colour(self, rt: Runtime):
        """Tools that look for a terminal are told that nobody watches."""
        told = rt.bash("echo $TERM $NO_COLOR $PAGER $GIT_PAGER")
        assert told.endswith("\ndumb 1 cat cat\n")

    def test_long_output_is_capped(self, rt: Runtime):
        """The model reads the start and the end; the rest is kept, and the text says where."""
        text = rt.bash("seq 1 200000")
        assert len(text) < 31_000
        assert "\n1\n2\n3\n" in text
        assert text.endswith("\n199999\n200000\n")
        result = rt.run("seq 1 200000")
        assert (result.total_bytes, result.exit_code) == (1_288_895, 0)
        assert f"{result.omitted_bytes} of 1288895 bytes omitted" in result.output
        assert result.whole is not None
        assert rt.read_file(result.whole) == "".join(f"{n}\n" for n in range(1, 200_001))

    def test_any_bytes_are_safe(self, rt: Runtime):
        """Binary output is text afterwards, valid and without controls, and its end is there."""
        text = rt.bash("head -c 100000 /dev/urandom; echo; echo END")
        assert text.endswith("\nEND\n")
        assert json.loads(json.dumps(text).encode()) == text
        assert text.encode()
        assert not {char for char in text if ord(char) < 32} - {"\n", "\t"}

    def test_invalid_text_loses_nothing(self, rt: Runtime):
        """A byte that is not UTF-8 is replaced, and what follows is there."""
        assert rt.bash(r"printf 'a\377b\n'; echo after").endswith("\na\ufffdb\nafter\n")

    def test_refuses_what_is_no_command(self, rt: Runtime):
        """A command that no shell can take is an error that says so."""
        with pytest.raises(ValueError, match="NUL"):
            rt.bash("echo a\0b")
        with pytest.raises(TypeError, match="string"):
            rt.bash(["ls"])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="timeout=-1"):
            rt.bash("ls", timeout=-1)

    def test_cleanup_twice(self, rt: Runtime):
        """Cleaning up again is fine, and so is going on afterwards."""
        rt.bash("echo hi")
        rt.cleanup()
        rt.cleanup()
        assert rt.bash("echo again") == "$ echo again\nagain\n"
        rt.cleanup()
