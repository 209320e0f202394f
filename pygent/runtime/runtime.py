"""`Runtime`: a workspace and a sandbox behind the promised methods."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from ..cancel import CancelScope
from ..config.environment import names, text
from ..errors import ConfigError, SandboxError
from .bans import find_ban
from .choice import TierChoice, check_name, decide, warn_once
from .files import Files, PathLike, WorkspaceFiles, shown
from .local import LocalSandbox
from .lock import workspace_lock
from .outputs import Outputs
from .reading import read_text
from .running import run
from .sandbox import CommandResult, CommandSpec, Sandbox
from .wording import Teller, check_command, check_list, check_timeout, ending, with_ending
from .workspace import Workspace

__all__ = ["Runtime"]


class Runtime:
    """Where an agent's commands run and its files live.

    Making one costs nothing: the workspace is made when it is first needed, and the sandbox is
    chosen at the first command. A ``workspace`` that is named is never deleted; without one there
    is a temporary folder, which `cleanup` deletes. ``sandbox`` is a tier's name, or a `Sandbox`,
    which brings its own workspace. ``env`` holds variables for the commands, which otherwise get
    only a few harmless ones. ``on_choice`` is called with the `TierChoice` once it is made;
    without it, a choice that nobody asked for is a `SandboxWarning`.
    """

    def __init__(
        self,
        image: str | None = None,
        use_docker: bool | None = None,
        initial_files: Iterable[PathLike] | None = None,
        workspace: PathLike | None = None,
        banned_commands: Iterable[str] | None = None,
        banned_apps: Iterable[str] | None = None,
        *,
        sandbox: str | Sandbox | None = None,
        env: Mapping[str, str] | None = None,
        on_choice: Callable[[TierChoice], None] | None = None,
    ) -> None:
        self._asked_sandbox = check_name(sandbox) if isinstance(sandbox, str) else None
        self._asked_docker = use_docker
        self._given = None if isinstance(sandbox, str) else sandbox
        if self._given is not None and workspace is not None:
            raise ConfigError(f"workspace={workspace!r} and a sandbox that has its own: give one")
        if use_docker and self._asked_sandbox not in (None, "docker"):
            raise ConfigError(f"use_docker=True and sandbox={sandbox!r}: give one of them")
        self._workspace = Workspace(workspace, initial_files)
        self._image = image
        self._env = dict(env or {})
        banned_commands = check_list("banned_commands", banned_commands)
        banned_apps = check_list("banned_apps", banned_apps)
        self.banned_commands = {*banned_commands, *names("PYGENT_BANNED_COMMANDS")}
        self.banned_apps = {*banned_apps, *names("PYGENT_BANNED_APPS")}
        self.task_depth = 0
        self.on_choice = on_choice
        self._lock = threading.RLock()
        self._files: WorkspaceFiles | None = None
        self._sandbox: Sandbox | None = None
        self._choice: TierChoice | None = None
        self._outputs = Outputs()
        self._real: tuple[Path, str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cleanup()

    def __repr__(self) -> str:
        tier = self._choice.tier if self._choice is not None else "not chosen yet"
        return f"<Runtime sandbox: {tier}>"

    @property
    def base_dir(self) -> Path:
        """The workspace; reading this makes it, with the initial files in it."""
        return self._workspace.folder if self._given is None else self._given.files.root

    @property
    def image(self) -> str:
        """The container image that a Docker sandbox runs."""
        return self._image or text("PYGENT_IMAGE") or "python:3.12-slim"

    @property
    def _persistent(self) -> bool:
        return self._given is not None or self._workspace.persistent

    @property
    def use_docker(self) -> bool:
        """Whether commands run in a Docker container; reading this makes the choice."""
        return self.choice.tier == "docker"

    @property
    def choice(self) -> TierChoice:
        """The sandbox in force and why; reading this makes the choice."""
        self.sandbox  # noqa: B018 - making it is what counts
        assert self._choice is not None
        return self._choice

    @property
    def chosen(self) -> TierChoice | None:
        """The choice if it was made already, else None."""
        return self._choice

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox in force; it is chosen and made when first needed."""
        with self._lock:
            if self._sandbox is None:
                self._sandbox = self._choose()
            return self._sandbox

    @property
    def files(self) -> Files:
        """The workspace's files, under the one path policy."""
        if self._given is not None:
            return self._given.files
        return self._local_files()

    def sibling(self) -> Runtime:
        """Return a runtime like this one with a temporary workspace of its own."""
        if self._given is not None:
            raise SandboxError(
                f"the sandbox {self._given.name!r} was given as an object and has one workspace: "
                "a second runtime cannot be made from it"
            )
        twin = Runtime(
            image=self._image,
            use_docker=self._asked_docker,
            banned_commands=self.banned_commands,
            banned_apps=self.banned_apps,
            sandbox=self._asked_sandbox,
            env=self._env,
        )
        twin._workspace = Workspace(None, (), made_up=True)
        return twin

    def lock(self) -> AbstractContextManager[None]:
        """Return the lock of this workspace, across runtimes: hold it to change files alone.

        Whoever holds it already goes straight on; waiting ends with the current `CancelScope`.
        """
        folder = self.base_dir
        if self._real is None or self._real[0] is not folder:
            self._real = folder, os.path.realpath(folder)
        return workspace_lock(self._real[1])

    def run(
        self,
        command: str,
        *,
        timeout: float | None = 30,
        stream: Callable[[str], None] | None = None,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a shell command and return how it ended, without looking at the bans.

        When the current `CancelScope` ends first, the command is killed and the scope's error
        raised, with what was printed by then as its ``output``.
        """
        spec = CommandSpec(
            command=check_command(command),
            cwd=cwd,
            env=env or {},
            timeout=check_timeout(timeout),
            on_output=stream,
        )
        CancelScope.current().check()
        return run(self.sandbox, spec)

    def bash(
        self,
        cmd: str,
        timeout: float | None = 30,
        stream: Callable[[str], None] | None = None,
    ) -> str:
        """Run a shell command in the workspace; return ``$ cmd``, what it printed, how it ended.

        The last line tells an exit code other than 0 and a timeout. ``stream`` gets the same text
        piece by piece as it comes. What the command leaves running is killed.
        """
        title = f"$ {check_command(cmd)}\n"
        banned = find_ban(cmd, self.banned_commands, self.banned_apps)
        if not banned:
            self.sandbox  # noqa: B018 - the choice is told before the command is
        teller = None if stream is None else Teller(stream)
        if teller is not None:
            teller(title)
        if banned:
            last = f"[error] {banned}"
            output = ""
        else:
            try:
                result = self.run(cmd, timeout=timeout, stream=teller)
            except BaseException as error:
                if (partial := getattr(error, "output", None)) is not None:
                    vars(error)["output"] = title + partial
                raise
            last = ending(result, timeout)
            output = result.output
        if teller is not None:
            teller.last(last)
        return title + with_ending(output, last)

    def write_file(self, path: PathLike, content: str | bytes) -> str:
        """Create or replace a file of the workspace, in one step."""
        if not isinstance(content, (str, bytes)):
            raise TypeError(f"content of {path!r} is text, not {type(content).__name__}")
        data = content if isinstance(content, bytes) else content.encode()
        return f"Wrote {self.files.write(path, data)}"

    def read_file(self, path: PathLike, binary: bool = False) -> str:
        """Return the text of a file of the workspace; base64 if ``binary`` or not UTF-8.

        Also takes the names that a long output gives, ``output:NAME`` and ``output:NAME@OFFSET``.
        """
        return read_text(self.files, self._outputs, path, binary=binary)

    def upload_file(self, src: PathLike, dest: PathLike | None = None) -> str:
        """Copy a file or directory of this machine into the workspace."""
        source = os.path.abspath(os.path.expanduser(src))
        if not os.path.exists(source):
            return f"file {shown(src)} not found"
        return f"Uploaded {self.files.copy_in(source, dest or os.path.basename(source))}"

    def export_file(self, path: PathLike, dest: PathLike) -> str:
        """Copy a file or directory of the workspace to this machine, links as links."""
        if self.files.stat(path) is None:
            return f"file {shown(path)} not found"
        self.files.copy_out(path, os.path.expanduser(dest))
        return f"Exported {shown(path)}"

    def cleanup(self) -> None:
        """End the sandbox, and delete a workspace that was made up; safe to call twice.

        The runtime can be used again: a temporary workspace is a new, empty one then.
        """
        with self._lock:
            sandbox, self._sandbox = self._sandbox or self._given, None
            files, self._files = self._files, None
            try:
                if sandbox is not None:
                    sandbox.close()
            finally:
                if files is not None:
                    files.close()
                self._outputs.close()
                self._workspace.remove()

    def _local_files(self) -> WorkspaceFiles:
        with self._lock:
            if self._files is None:
                self._files = WorkspaceFiles(self.base_dir)
            return self._files

    def _choose(self) -> Sandbox:
        """Make the sandbox, tell the choice, and warn if it is nobody's wish."""
        sandbox: Sandbox
        words: str | None = "sandbox=…"
        if self._given is not None:
            sandbox = self._given
        else:
            words = decide(self._asked_sandbox, self._asked_docker).words
            sandbox = LocalSandbox(self._local_files(), env=self._env, outputs=self._outputs)
        if self._choice is None:
            probe = sandbox.probe()
            self._choice = choice = TierChoice(
                sandbox.name, sandbox.isolated, probe.reason, probe.gaps, words
            )
            if self.on_choice is not None:
                self.on_choice(choice)
            elif not choice.isolated and words is None:
                warn_once(choice)
        return sandbox
