"""No isolation at all: commands run as the user, in the workspace."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

from ..errors import PathError, SandboxError
from .files import PathLike, WorkspaceFiles, shown
from .outputs import Outputs
from .plain import plain_words
from .process import ProcessJob
from .sandbox import CommandSpec, Job, Probe
from .variables import child_environment

__all__ = ["LocalSandbox"]

_GAPS = (
    "commands can read and write everything that the user can",
    "commands can reach the network",
    "memory, processes and disk are not limited",
    "a program that clears its environment and becomes a daemon can outlive its command",
)


# Making a process stops all threads until its program runs. Those that want to make one too wait
# better here, where they sleep, than for the interpreter, where each wakes 200 times a second.
_starting = threading.Lock()


class LocalSandbox:
    """Run commands directly on this machine; see `Sandbox`.

    ``env`` holds variables that commands get besides the few harmless ones.
    """

    name = "local"
    isolated = False

    def __init__(
        self,
        workspace: WorkspaceFiles | PathLike,
        *,
        env: Mapping[str, str] | None = None,
        outputs: Outputs | None = None,
    ) -> None:
        if not isinstance(workspace, WorkspaceFiles):
            workspace = WorkspaceFiles(workspace)
        self.files: WorkspaceFiles = workspace
        self._env = dict(env or {})
        self._outputs = outputs or Outputs()

    def probe(self) -> Probe:
        """Say that it works everywhere, and all that it does not do."""
        return Probe(True, "no isolation: commands run as the user", _GAPS)

    def start(self, spec: CommandSpec) -> Job:
        """Start a command in the workspace, with the user's shell if it needs one."""
        with self.files.place(spec.cwd) as place:
            try:
                directory = place.open(os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                raise PathError(f"directory {shown(spec.cwd)!r} cannot be used") from error
        try:
            name = self._directory_name(directory, spec.cwd)
            env = {**child_environment(self._env), **spec.env}
            with _starting:
                return self._execute(spec, name, env)
        finally:
            os.close(directory)

    def _execute(self, spec: CommandSpec, cwd: str, env: dict[str, str]) -> Job:
        words = plain_words(spec.command)
        if words is not None:
            try:
                plain = {**env, "PWD": _where(cwd)}  # a shell would set it
                return ProcessJob(words, spec, cwd=cwd, env=plain, outputs=self._outputs)
            except SandboxError:
                pass  # no such program, or a script without a first line: the shell knows best
        argv = [_shell(), "-c", spec.command]
        return ProcessJob(argv, spec, cwd=cwd, env=env, outputs=self._outputs)

    def attach(self, call_id: str) -> Job | None:
        """Return None: a local command ends with the process that started it."""
        return None

    def close(self) -> None:
        """Let go of the workspace and of the outputs that were kept."""
        self.files.close()
        self._outputs.close()

    def _directory_name(self, directory: int, cwd: str) -> str:
        """Name an open directory, so that the command starts in it and in no other."""
        through = f"/proc/self/fd/{directory}"
        return through if os.path.isdir(through) else str(self.files.root / cwd)


def _where(cwd: str) -> str:
    """Return the real path of a directory, be it given by its descriptor."""
    return os.readlink(cwd) if cwd.startswith("/proc/self/fd/") else os.path.realpath(cwd)


def _shell() -> str:
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"


def _after_fork() -> None:
    global _starting
    _starting = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
