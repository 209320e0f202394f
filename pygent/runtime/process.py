"""The one place that starts processes and waits for them."""

from __future__ import annotations

import atexit
import os
import select
import signal
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import SandboxError
from . import stragglers
from .output import Capture
from .outputs import Outputs
from .sandbox import CommandResult, CommandSpec

if TYPE_CHECKING:
    import subprocess

__all__ = ["MARKER", "ProcessJob"]

MARKER = "PYGENT_CALL"
"""The variable that marks what belongs to a command; its children inherit it."""

_PIECE = 1 << 16
_PIECES_IN_A_PIPE = 32
_HOLDER_GRACE = 0.1
_NO_PIDFD_POLL = 0.02
_DAY = 86_400.0


class ProcessJob:
    """A program with its output on a pipe, in a session of its own; see `Job`.

    No thread watches it: whoever waits moves it along.
    """

    def __init__(
        self,
        argv: Sequence[str],
        spec: CommandSpec,
        *,
        cwd: str,
        env: Mapping[str, str],
        outputs: Outputs | None = None,
    ) -> None:
        if _exiting:
            raise SandboxError("the program is at its end: no command is started any more")
        self._spec = spec
        self._capture = Capture(spec.limits, outputs, spec.on_output)
        self._result: CommandResult | None = None
        self._pumping = threading.RLock()
        self._state = threading.Lock()
        self._ending = self._killed = self._timed_out = False
        self._below: list[int] = []
        self._mark = os.urandom(8).hex()
        marks = f"{os.environ.get(MARKER, '')}:{self._mark}"
        import subprocess

        self._pipe, write_end = os.pipe()
        try:
            self._pipe_name = _name_of(self._pipe)
            self._process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**env, MARKER: marks},
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._pipe)
            raise SandboxError(f"{argv[0]} could not be started: {error.strerror}") from error
        except BaseException:
            # Interrupted: the program may run already, and nobody knows its number.
            os.close(self._pipe)
            stragglers.kill_marked(self._mark.encode())
            raise
        finally:
            os.close(write_end)
        os.set_blocking(self._pipe, False)
        self._started = time.monotonic()
        self._ended, self._open = False, True
        self._pidfd = _watch(self._process.pid)
        _jobs.add(self)

    def __del__(self) -> None:
        """End a command that nobody holds any more, such as one whose start was interrupted."""
        if "_process" in vars(self) and self._result is None and self._process.returncode is None:
            self.kill()
            self._process.wait()

    def read(self, offset: int = 0) -> bytes:
        """Return what is kept of the output so far, from a byte offset on."""
        if self._pumping.acquire(blocking=False):
            try:
                if self._result is None:
                    self._pump(0.0)
            finally:
                self._pumping.release()
        return self._capture.read(offset)

    def kill(self) -> None:
        """End the command and all that it started, from any thread; `wait` has the result."""
        with self._state:
            if self._ending:
                return
            self._killed = True
            pid = self._process.pid
            self._below = stragglers.descendants(pid)
            _signal(os.killpg, pid)
            for child in self._below:
                _signal(os.kill, child)

    def wait(self, timeout: float | None = None) -> CommandResult | None:
        """Wait for the end, at most ``timeout`` seconds; None means that it still runs."""
        until = None if timeout is None else time.monotonic() + timeout
        with self._pumping:
            try:
                while self._result is None:
                    left = None if until is None else until - time.monotonic()
                    self._pump(left)
                    if self._ended:
                        self._finish()
                    elif left is not None and left <= 0:
                        break
            except BaseException:
                # Ctrl-C, or whoever watches the output failed: nothing may stay behind.
                self.kill()
                if self._result is None:
                    self._capture.silence()
                    self._finish()
                raise
            return self._result

    def _pump(self, patience: float | None) -> None:
        """Wait for output, the end or the deadline, once, and take in what there is."""
        if not self._killed and self._spec.timeout is not None:
            left = self._started + self._spec.timeout - time.monotonic()
            if left <= 0:
                self._timed_out = True
                self.kill()
            else:
                patience = _least(patience, left)
        poll = select.poll()
        if self._open:
            poll.register(self._pipe, select.POLLIN)
        if self._pidfd is not None:
            poll.register(self._pidfd, select.POLLIN)
        else:
            patience = _least(patience, _NO_PIDFD_POLL)
        # A wait of more than a day begins anew: the system counts its milliseconds in few bits.
        found = poll.poll(None if patience is None else min(max(0.0, patience), _DAY) * 1000)
        for fd, _ in found:
            if fd == self._pipe:
                self._take()
        self._ended = _is_over(self._process, self._pidfd, found)

    def _take(self) -> bool:
        """Read one piece; whether there was any."""
        try:
            data = os.read(self._pipe, _PIECE)
        except BlockingIOError:
            return False
        if not data:
            self._open = False
            return False
        self._capture.feed(data)
        return True

    def _finish(self) -> None:
        """Kill what is left of a command that ended, take in the rest, and make the result."""
        if self._open and not self._killed:
            self._linger()
        with self._state:
            self._ending = True
        # The leader is still a zombie, so that its number cannot be anybody else's.
        pid = self._process.pid
        _signal(os.killpg, pid)
        stragglers.end(self._mark.encode(), self._pipe_name, pid, self._started, self._below)
        self._process.wait()
        for _ in range(_PIECES_IN_A_PIPE):
            if not (self._open and self._take()):
                break
        self._capture.finish()
        self._result = self._make_result()
        os.close(self._pipe)
        if self._pidfd is not None:
            os.close(self._pidfd)

    def _linger(self) -> None:
        """Give what still holds the pipe a moment: ``> >(tee log)`` ends after its shell."""
        until = time.monotonic() + _HOLDER_GRACE
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        while self._open and (left := until - time.monotonic()) > 0:
            if poll.poll(left * 1000):
                self._take()

    def _make_result(self) -> CommandResult:
        code = self._process.returncode
        text, omitted = self._capture.text()
        return CommandResult(
            output=text,
            exit_code=code if code >= 0 else None,
            signal=_signal_name(-code) if code < 0 else None,
            timed_out=self._timed_out,
            killed=self._killed,
            seconds=time.monotonic() - self._started,
            total_bytes=self._capture.total,
            omitted_bytes=omitted,
            whole=self._capture.whole,
        )


_jobs: weakref.WeakSet[ProcessJob] = weakref.WeakSet()
_exiting = False


@atexit.register
def _end_all() -> None:
    """End the commands of threads that end with the program, such as those of tasks."""
    global _exiting
    _exiting = True
    for job in list(_jobs):
        if job._result is None:
            job.kill()
            stragglers.kill_marked(job._mark.encode())


os.register_at_fork(after_in_child=_jobs.clear)  # they are the parent's


def _name_of(pipe: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{pipe}")
    except OSError:
        return ""


def _watch(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _is_over(
    process: subprocess.Popen[bytes], pidfd: int | None, found: list[tuple[int, int]]
) -> bool:
    if pidfd is not None:
        return any(fd == pidfd for fd, _ in found)
    if hasattr(os, "waitid"):
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, process.pid, flags) is not None
        except ChildProcessError:
            return True
    return process.poll() is not None


def _signal(send: Callable[[int, int], None], pid: int) -> None:
    try:
        send(pid, signal.SIGKILL)
    except OSError:
        # It went away by itself.
        pass


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _least(first: float | None, second: float | None) -> float | None:
    return min((value for value in (first, second) if value is not None), default=None)
