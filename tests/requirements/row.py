"""A row of the table, and what its probe found."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

PROBE_SECONDS = 60


class Lacking(Exception):
    """The machine does not have it; the text says what was tried and what came of it."""


@dataclass(frozen=True)
class Row:
    """One thing that tests need and a machine may lack.

    `probe` uses the thing for real and returns what a test needs to use it too, such as a path;
    it raises `Lacking` otherwise. `apt` names the Debian packages that bring it; `install` says
    it in words where there is no package.
    """

    name: str
    purpose: str
    probe: Callable[[], object]
    apt: tuple[str, ...] = ()
    install: str = ""

    @cached_property
    def found(self) -> object:
        """What the probe found: tried once in a process. A `Lacking` is returned, not raised."""
        try:
            return self.probe()
        except Lacking as why:
            return why

    @property
    def lacking(self) -> str | None:
        """Why the row is lacking; None where it is there."""
        return str(self.found) if isinstance(self.found, Lacking) else None

    @property
    def how(self) -> str:
        """How to install it, in words."""
        return self.install or f"apt-get install {' '.join(self.apt)}"

    def forget(self) -> None:
        """Probe again at the next question."""
        self.__dict__.pop("found", None)


def use(*argv: str, env: Mapping[str, str] | None = None, cwd: str | None = None) -> str:
    """Run a command of a probe and return its output; whatever goes wrong is `Lacking`."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROBE_SECONDS,
            env=env,
            cwd=cwd,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Lacking(f"{argv[0]}: {error}") from error
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Lacking(f"{argv[0]} ended with {done.returncode}: {last}")
    return done.stdout.strip()


def first(probes: Sequence[Callable[[], object]], otherwise: str) -> object:
    """Return what the first probe that succeeds found."""
    reasons = []
    for probe in probes:
        try:
            return probe()
        except Lacking as why:
            reasons.append(str(why))
    raise Lacking("; ".join(reasons) or otherwise)
