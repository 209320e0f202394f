"""How each row is tried: the thing is used, not only looked for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .row import Lacking, first, use

# Tests get a home of their own, so the real environment is read here, when the run begins.
_HOME = Path.home()
_PATH = os.environ.get("PATH", os.defpath)
_PYENV_ROOT = os.environ.get("PYENV_ROOT")
_NOBODY = "65534"


def _interpreters(version: str) -> Iterator[str]:
    """Where an interpreter may be: on PATH, or among pyenv's versions."""
    on_path = shutil.which(f"python{version}", path=_PATH)
    if on_path:
        yield on_path
    roots = [Path(_PYENV_ROOT)] if _PYENV_ROOT else []
    roots += [Path(part).parent for part in _PATH.split(os.pathsep) if Path(part).name == "shims"]
    roots.append(_HOME / ".pyenv")
    for root in dict.fromkeys(roots):
        yield from sorted(map(str, root.glob(f"versions/{version}*/bin/python")))


def _interpreter(path: str, version: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    is_version, _, executable = use(path, "-I", "-c", code).partition(" ")
    if is_version != version:
        raise Lacking(f"{path} is Python {is_version}")
    return executable


def python(version: str) -> object:
    """Return the path of an interpreter of that version that runs."""
    return first(
        [partial(_interpreter, path, version) for path in _interpreters(version)],
        f"no python{version} on PATH and none in ~/.pyenv/versions",
    )


def git() -> str:
    """Make a repository and return git's path."""
    path = shutil.which("git", path=_PATH) or "git"
    quiet = {"PATH": _PATH, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        use(path, "init", "--quiet", folder, env=quiet)
        use(path, "-C", folder, "status", "--porcelain", env=quiet)
    return path


def tmux() -> str:
    """Open a terminal of 80 by 24 and return tmux's path."""
    path = shutil.which("tmux", path=_PATH) or "tmux"
    with tempfile.TemporaryDirectory() as folder:
        client = (path, "-S", f"{folder}/socket", "-f", os.devnull)
        use(*client, "new-session", "-d", "-x", "80", "-y", "24", "sleep 60")
        try:
            size = use(*client, "display-message", "-p", "#{pane_width}x#{pane_height}")
        finally:
            use(*client, "kill-server")
    if size not in {"80x24", "80x23"}:
        raise Lacking(f"tmux opened a terminal of {size}, not 80x24")
    return path


def ordinary_user() -> object:
    """Return the words to put before a command so that it runs as an ordinary user."""
    if os.geteuid():
        return ()
    ways = [
        ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"),
        ("runuser", "-u", "nobody", "--"),
    ]
    return first([partial(_drops_root, way) for way in ways], "")


def private_mounts() -> tuple[str, ...]:
    """Mount a disk that nobody else sees; return the words to put before a command that does."""
    way = ("unshare", "--user", "--map-root-user", "--mount")
    with tempfile.TemporaryDirectory() as folder:
        use(*way, "mount", "-t", "tmpfs", "-o", "size=512k", "probe", folder)
    return way


def _drops_root(way: tuple[str, ...]) -> tuple[str, ...]:
    uid = use(*way, "id", "-u")
    if uid == "0":
        raise Lacking(f"{way[0]} stays root")
    return way
