"""`Runtime`: workspaces, settings, the promised words."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from contextvars import copy_context
from pathlib import Path

import pytest

from pygent.cancel import CancelScope
from pygent.errors import Cancelled, ConfigError, PathError, PygentError, SandboxError
from pygent.runtime import Runtime
from tests.contracts.contract_sandbox import wait_until


def made() -> list[str]:
    """Return the temporary workspaces that are there."""
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("pygent-")]


def test_making_one_costs_nothing(tmp_path):
    """A runtime that was not used has made nothing, and cleaning it up makes nothing."""
    rt = Runtime(workspace=tmp_path / "ws")
    Runtime().cleanup()
    rt.cleanup()
    assert made() == []
    assert not (tmp_path / "ws").exists()


def test_temporary_workspace():
    """Without a workspace there is a private temporary one, and cleanup deletes it."""
    rt = Runtime(use_docker=False)
    folder = rt.base_dir
    assert folder.parent == Path(tempfile.gettempdir())
    assert folder.name.startswith("pygent-")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert rt._persistent is False
    rt.write_file("deep/er/x", "y")
    rt.bash("chmod 000 deep/er; mkdir -p $(printf 'd/%.0s' $(seq 1500))")
    rt.cleanup()
    assert made() == []
    assert rt.read_file("x") == "file x not found"
    assert rt.base_dir != folder
    rt.cleanup()
    assert made() == []


def test_named_workspace(tmp_path):
    """A named workspace is made when needed, and kept with all that is in it."""
    rt = Runtime(use_docker=False, workspace=tmp_path / "a/ws")
    assert rt.base_dir == tmp_path / "a/ws"
    assert rt._persistent is True
    rt.write_file("foo.txt", "bar")
    rt.cleanup()
    again = Runtime(use_docker=False, workspace=str(tmp_path / "a/ws"))
    assert again.read_file("foo.txt") == "bar"
    again.cleanup()
    assert (tmp_path / "a/ws/foo.txt").read_text() == "bar"


def test_relative_workspace(tmp_path, monkeypatch):
    """A relative workspace is taken from where the runtime was made; ``.`` is the folder itself."""
    monkeypatch.chdir(tmp_path)
    here, below = Runtime(use_docker=False, workspace="."), Runtime(workspace="sub")
    monkeypatch.chdir("/")
    here.write_file("foo.txt", "bar")
    assert below.base_dir == tmp_path / "sub"
    here.cleanup()
    assert (tmp_path / "foo.txt").exists()


def test_workspace_setting(tmp_path, monkeypatch):
    """`PYGENT_WORKSPACE` names one too, ``~`` is the home, and the argument wins."""
    monkeypatch.setenv("PYGENT_WORKSPACE", "~/work")
    assert Runtime().base_dir == tmp_path / "home/work"
    assert Runtime(workspace=tmp_path / "mine").base_dir == tmp_path / "mine"


def test_workspace_that_is_a_file(tmp_path):
    """A workspace that cannot be one is an error that names it."""
    (tmp_path / "f").touch()
    with pytest.raises(SandboxError, match=r"workspace .*/f cannot be used"):
        Runtime(use_docker=False, workspace=tmp_path / "f").bash("true")


def test_cleanup_spares_a_folder_that_took_the_place():
    """When another folder stands where the temporary one was, it is not ours to delete."""
    rt = Runtime(use_docker=False)
    folder = rt.base_dir
    rt.write_file("x", "y")
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    (folder / "precious").touch()
    rt.cleanup()
    assert (folder / "precious").exists()


def test_initial_files(tmp_path, monkeypatch):
    """Files and folders are copied in when the workspace is made, each time anew."""
    (tmp_path / "seed.txt").write_text("seed")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/m.py").write_text("x = 1")
    rt = Runtime(use_docker=False, initial_files=[str(tmp_path / "seed.txt"), tmp_path / "lib"])
    assert rt.bash("cat seed.txt lib/m.py").endswith("\nseedx = 1")
    rt.cleanup()
    assert (rt.base_dir / "seed.txt").exists()
    rt.cleanup()
    monkeypatch.setenv("PYGENT_INIT_FILES", f"{tmp_path}/seed.txt{os.pathsep}{tmp_path}/lib")
    with Runtime(use_docker=False) as other:
        assert sorted(os.listdir(other.base_dir)) == ["lib", "seed.txt"]
    with pytest.raises(PathError, match="initial file nope not found"):
        _ = Runtime(initial_files=["nope"]).base_dir
    assert made() == []


def test_image(monkeypatch):
    """The image is the argument's, the setting's or the default, read when it is asked for."""
    rt = Runtime()
    assert rt.image == "python:3.12-slim"
    monkeypatch.setenv("PYGENT_IMAGE", "busybox")
    assert rt.image == "busybox"
    assert Runtime(image="mine").image == "mine"


def test_task_depth():
    """A runtime knows how deep in delegation it is, and starts at the top."""
    rt = Runtime()
    assert rt.task_depth == 0
    rt.task_depth = 2
    assert rt.task_depth == 2


def test_reading(tmp_path):
    """Text is text, ``binary`` is base64, and so is what is no UTF-8; lines stay as they are."""
    with Runtime(use_docker=False) as rt:
        assert rt.write_file("a.txt", "é\r\n") == "Wrote a.txt"
        assert rt.read_file("a.txt") == "é\r\n"
        assert rt.read_file("a.txt", binary=True) == "w6kNCg=="
        (rt.base_dir / "b").write_bytes(b"\xff")
        assert rt.read_file("b") == "/w=="
        assert rt.read_file(Path("a.txt")) == "é\r\n"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "rm -rf foo",
            "/bin/rm x",
            "true; rm x",
            "true && rm x",
            "a | rm",
            "cd x\nrm y",
            "'rm' x",
        ),
        *("r\\m x", "X=1 rm y", "env X=1 rm y", "sudo -n rm y", "(rm x)", "$(rm x)", "`rm x`"),
        *("timeout 5 rm x", "if true; then rm x; fi", "sh -c 'cd /; rm x'", "! rm x", "a &rm x"),
        "cat <<E\nit's\nE\nrm x",
    ],
)
def test_banned_command(command):
    """A banned command is found behind separators, quotes and starters, and does not run."""
    rt = Runtime(use_docker=False, banned_commands=["rm"])
    assert rt.bash(command) == f"$ {command}\n[error] command 'rm' disabled"
    assert made() == []


@pytest.mark.parametrize("command", ["echo rm", "ls /bin/rm", "rmdir x", "echo 'a; rm x'", "# rmx"])
def test_not_a_banned_command(command):
    """A word that is no command is left alone."""
    with Runtime(use_docker=False, banned_commands=["rm"]) as rt:
        assert "disabled" not in rt.bash(command)


def test_banned_app(monkeypatch):
    """A banned application is found anywhere in the line; the settings extend the arguments."""
    monkeypatch.setenv("PYGENT_BANNED_APPS", f"python{os.pathsep} node")
    monkeypatch.setenv("PYGENT_BANNED_COMMANDS", "curl")
    rt = Runtime(use_docker=False, banned_apps={"git"})
    assert rt.banned_apps == {"python", "node", "git"}
    assert rt.banned_commands == {"curl"}
    pieces: list[str] = []
    text = rt.bash("xargs /usr/bin/python script.py", stream=pieces.append)
    assert text.endswith("\n[error] application 'python' disabled")
    assert "".join(pieces) == text + "\n"
    rt.banned_apps.clear()
    assert rt.bash("echo python").endswith("\npython\n")
    rt.cleanup()


def test_lock_is_one_for_a_workspace(tmp_path):
    """Two runtimes on one workspace, however it is named, exclude each other."""
    (tmp_path / "link").symlink_to(tmp_path)
    one, two = Runtime(workspace=tmp_path), Runtime(workspace=tmp_path / "link")
    order: list[str] = []

    def second():
        with two.lock():
            order.append("second")

    with one.lock(), one.lock():
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.1)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_lock_travels_with_the_context(tmp_path):
    """A worker that runs in a copy of the holder's context goes straight on, while it is held."""
    rt = Runtime(workspace=tmp_path)
    done: list[str] = []

    def work():
        with rt.lock():
            done.append("worked")

    with rt.lock():
        context = copy_context()
        thread = threading.Thread(target=context.run, args=(work,))
        thread.start()
        thread.join(10)
        assert done == ["worked"]
    scope = CancelScope()
    holder = Runtime(workspace=tmp_path)
    with holder.lock(), scope.active():
        # The old context's hold is over: another one has the lock now.
        late = threading.Thread(target=context.run, args=(work,))
        late.start()
        late.join(0.2)
        assert done == ["worked"]
    late.join(10)
    assert done == ["worked", "worked"]


def test_waiting_for_the_lock_can_be_cancelled(tmp_path):
    """Who waits for the lock stops with the scope."""
    rt = Runtime(workspace=tmp_path)
    scope = CancelScope()
    caught: list[BaseException] = []

    def wait():
        try:
            with scope.active(), rt.lock():
                raise AssertionError
        except Cancelled as error:
            caught.append(error)

    with rt.lock():
        thread = threading.Thread(target=wait)
        thread.start()
        scope.cancel()
        wait_until(lambda: caught)
        thread.join()


def test_a_sandbox_brings_its_workspace(tmp_path):
    """A sandbox that is given and a workspace exclude each other."""
    from pygent.runtime import LocalSandbox

    rt = Runtime(sandbox=LocalSandbox(tmp_path))
    assert rt.base_dir == tmp_path
    rt.write_file("x", "y")
    assert rt.bash("cat x").endswith("\ny")
    rt.cleanup()
    assert (tmp_path / "x").exists()
    with pytest.raises(ConfigError, match="workspace="):
        Runtime(workspace=tmp_path, sandbox=LocalSandbox(tmp_path))


def test_parallel_first_use():
    """Many threads that use a new runtime at once share one workspace."""
    rt = Runtime(use_docker=False)
    failures: list[BaseException] = []

    def work(number: int):
        try:
            rt.write_file(f"f{number}", "x")
            assert "hi" in rt.bash("echo hi")
        except (AssertionError, OSError, PygentError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(rt.files.list()) == 8
    rt.cleanup()
    assert made() == []


@pytest.mark.parametrize("name", ["banned_commands", "banned_apps", "initial_files"])
def test_a_text_is_no_list(name):
    """It would be one of its letters, and nothing that was meant would be banned."""
    with pytest.raises(ConfigError, match=rf"{name} is 'rm': give a list, \['rm'\]"):
        Runtime(**{name: "rm"})


def test_an_empty_name_is_no_workspace(tmp_path, monkeypatch):
    """It is not taken for the current folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="workspace is ''"):
        Runtime(workspace="")
    assert Runtime(workspace=".").base_dir == tmp_path
