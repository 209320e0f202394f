"""A sandbox that runs nothing: its commands and their results are written down before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..runtime.files import WorkspaceFiles
from ..runtime.sandbox import CommandResult, CommandSpec, Job, Probe

__all__ = ["FakeResult", "FakeSandbox"]

FakeResult = str | CommandResult
"""What a scripted command gives: its output, or all of how it ended."""

Step = FakeResult | tuple[str | re.Pattern[str], FakeResult]


class FakeSandbox:
    """Answer commands from a script, in order; files are real, in a temporary folder.

    A step is ``(command, result)``, where the command is the exact text or a pattern that has to
    match all of it, or a result alone for whatever command comes. A result is the output, or a
    `CommandResult`. A command that was not expected fails, and so does `close` when one was not
    expected or a result was not used.

        rt = Runtime(sandbox=FakeSandbox([("pytest -q", "3 passed")]))
        assert "3 passed" in rt.bash("pytest -q")
    """

    name = "fake"
    isolated = True

    def __init__(self, results: Iterable[Step] = (), *, workspace: Path | None = None) -> None:
        self.commands: list[str] = []
        self._steps = list(results)
        self._problems: list[str] = []
        self._folder = None if workspace is None else Path(workspace)
        self._made = workspace is None
        self._files: WorkspaceFiles | None = None

    @property
    def files(self) -> WorkspaceFiles:
        """The workspace's files; without a ``workspace`` the folder is made when first needed."""
        if self._files is None:
            if self._folder is None:
                import tempfile

                self._folder = Path(tempfile.mkdtemp(prefix="pygent-fake-"))
            self._files = WorkspaceFiles(self._folder)
        return self._files

    def probe(self) -> Probe:
        """Say that it holds: nothing runs."""
        return Probe(True, "commands are scripted and nothing runs")

    def start(self, spec: CommandSpec) -> Job:
        """Answer a command with the next result of the script."""
        self.commands.append(spec.command)
        job = FakeJob(self._next(spec.command))
        if spec.on_output is not None and job.output:
            spec.on_output(job.output)
        return job

    def attach(self, call_id: str) -> Job | None:
        """Return None: no command lives on."""
        return None

    def close(self) -> None:
        """Delete a folder that was made up, and fail if the script and the commands differed."""
        import shutil

        if self._files is not None:
            self._files.close()
            self._files = None
        if self._made and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        self.check()

    def check(self) -> None:
        """Fail if a command was not expected, or a result was not used."""
        problems, self._problems = self._problems, []
        if self._steps:
            problems.append(f"unused results: {self._steps!r}")
            self._steps = []
        if problems:
            raise AssertionError("; ".join(problems))

    def _next(self, command: str) -> FakeResult:
        if not self._steps:
            raise self._problem(f"unexpected command {command!r}: the script is at its end")
        step = self._steps[0]
        if isinstance(step, tuple):
            expected, result = step
            if not _matches(expected, command):
                raise self._problem(f"unexpected command {command!r}: {expected!r} comes next")
        else:
            result = step
        del self._steps[0]
        return result

    def _problem(self, text: str) -> AssertionError:
        # An agent turns what a tool raises into a message: `close` says it again.
        self._problems.append(text)
        return AssertionError(text)


class FakeJob:
    """A command that has ended before it began; see `Job`."""

    def __init__(self, result: FakeResult) -> None:
        self._result = CommandResult(output=result) if isinstance(result, str) else result

    @property
    def output(self) -> str:
        """What the command printed."""
        return self._result.output

    def read(self, offset: int = 0) -> bytes:
        """Return the output from a byte offset on."""
        return self.output.encode()[offset:]

    def wait(self, timeout: float | None = None) -> CommandResult | None:
        """Return the scripted result."""
        return self._result

    def kill(self) -> None:
        """Do nothing: it has ended."""


def _matches(expected: str | re.Pattern[str], command: str) -> bool:
    if isinstance(expected, str):
        return expected == command
    return expected.fullmatch(command) is not None
