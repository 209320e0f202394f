"""What every sandbox offers: the seam between an agent and where its commands run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .files import Files
from .output import OutputLimits

__all__ = ["CommandResult", "CommandSpec", "Job", "Probe", "Sandbox"]


@dataclass(frozen=True, kw_only=True)
class CommandSpec:
    """A shell command, and how it is to run.

    ``cwd`` is relative to the workspace. ``env`` is added to the few variables that commands get.
    ``timeout`` is the command's own; None is no limit. ``on_output`` gets the output as it comes,
    decoded and safe to show. ``call_id`` names the command for `Sandbox.attach`.
    """

    command: str
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    on_output: Callable[[str], None] | None = None
    limits: OutputLimits = field(default_factory=OutputLimits)
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """How a command ended.

    ``output`` is capped and safe. ``exit_code`` is None when the command ended by a signal, and
    ``signal`` is that signal's name. ``killed`` says that it was ours, because of ``timed_out`` or
    because somebody asked. ``whole`` is what `Runtime.read_file` takes for all of the output, if
    ``omitted_bytes`` of ``total_bytes`` had to be left out.
    """

    output: str
    exit_code: int | None = 0
    signal: str | None = None
    timed_out: bool = False
    killed: bool = False
    seconds: float = 0.0
    total_bytes: int = 0
    omitted_bytes: int = 0
    whole: str | None = None


@dataclass(frozen=True)
class Probe:
    """Whether a sandbox holds on this machine, why not, and what it does not cover."""

    ok: bool
    reason: str = ""
    gaps: tuple[str, ...] = ()


class Job(Protocol):
    """A command that was started. Its owner calls `wait`, which is what moves its output along."""

    def read(self, offset: int = 0) -> bytes:
        """Return what is kept of the output so far, from a byte offset on."""

    def wait(self, timeout: float | None = None) -> CommandResult | None:
        """Wait for the end, at most ``timeout`` seconds; None means that it still runs.

        Once a result is there, nothing that the command started is alive.
        """

    def kill(self) -> None:
        """End the command and all that it started, from any thread; `wait` has the result."""


class Sandbox(Protocol):
    """A place where commands run and files live.

    The contract is in ``tests/contracts/contract_sandbox.py``; every implementation runs it.
    """

    @property
    def name(self) -> str:
        """The tier's name, such as ``local``."""

    @property
    def isolated(self) -> bool:
        """Whether a command is kept from the rest of the machine."""

    @property
    def files(self) -> Files:
        """The workspace's files, seen from outside."""

    def probe(self) -> Probe:
        """Say whether this sandbox holds here, by trying it."""

    def start(self, spec: CommandSpec) -> Job:
        """Start a command."""

    def attach(self, call_id: str) -> Job | None:
        """Return the job of a call that an earlier process started; None where none is known."""

    def close(self) -> None:
        """Release whatever the sandbox holds; safe to call twice."""
