"""Copies into and out of the workspace: what was named, links as links, any name."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from pygent.errors import PathError
from pygent.runtime import Runtime, beneath
from pygent.runtime.files import shown


@pytest.fixture(params=["openat2", "walk"])
def rt(request, monkeypatch):
    if request.param == "walk":
        monkeypatch.setattr(beneath, "openat2", lambda *_, **__: None)
    with Runtime(use_docker=False) as runtime:
        yield runtime


@pytest.fixture
def home(tmp_path):
    """A home with a secret in it."""
    folder = tmp_path / "fake_home"
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh/id_ed25519").write_text("canary-secret")
    return folder


def content(folder: Path) -> bytes:
    """Return all bytes of the files below a folder; links are not followed."""
    found = b""
    for base, _, names in os.walk(folder):
        for name in names:
            path = Path(base, name)
            if path.is_file() and not path.is_symlink():
                found += path.read_bytes()
    return found


def test_there_and_back(rt, tmp_path):
    """A file goes in and out, under its own name or another."""
    source = tmp_path / "src.txt"
    source.write_text("hello")
    assert rt.upload_file(source) == "Uploaded src.txt"
    assert rt.upload_file(str(source), "deep/down/b.txt") == "Uploaded deep/down/b.txt"
    assert rt.export_file("src.txt", tmp_path / "new/dest.txt") == "Exported src.txt"
    assert (tmp_path / "new/dest.txt").read_text() == "hello"
    assert rt.read_file("deep/down/b.txt") == "hello"


def test_directories(rt, tmp_path):
    """A directory goes in and out, into what is there already too; modes stay."""
    source = tmp_path / "project"
    (source / "sub/empty").mkdir(parents=True)
    (source / "sub/run.sh").write_text("#!/bin/sh\n")
    (source / "sub/run.sh").chmod(0o755)
    assert rt.upload_file(source) == "Uploaded project"
    assert rt.upload_file(source, "project") == "Uploaded project"
    goal = tmp_path / "goal"
    goal.mkdir()
    (goal / "kept").touch()
    assert rt.export_file("project", goal) == "Exported project"
    assert sorted(path.name for path in goal.rglob("*")) == ["empty", "kept", "run.sh", "sub"]
    assert (goal / "sub/run.sh").stat().st_mode & 0o777 == 0o755


def test_into_a_directory_that_is_there(rt, tmp_path):
    """A file that is copied to a directory goes into it."""
    (tmp_path / "f").write_text("x")
    rt.bash("mkdir d")
    assert rt.upload_file(tmp_path / "f", "d") == "Uploaded d/f"
    rt.export_file("d/f", tmp_path / "home")
    assert (tmp_path / "home/f").read_text() == "x"


def test_missing(rt, tmp_path):
    """What is not there is said in a sentence."""
    assert rt.upload_file(tmp_path / "nope") == f"file {tmp_path}/nope not found"
    assert rt.export_file("nope", tmp_path / "out") == "file nope not found"
    assert rt.read_file("nope") == "file nope not found"
    assert not (tmp_path / "out").exists()


def test_home_is_expanded_for_the_user(rt, tmp_path):
    """A path of the user's own machine may begin with ``~``."""
    (tmp_path / "home/notes").write_text("mine")
    assert rt.upload_file("~/notes") == "Uploaded notes"
    rt.export_file("notes", "~/copy")
    assert (tmp_path / "home/copy").read_text() == "mine"


def test_upload_stays_inside(rt, tmp_path):
    """A destination outside of the workspace is refused."""
    (tmp_path / "f").write_text("x")
    rt.bash(f"ln -s {tmp_path} out")
    for dest in ("../f", "out/g", tmp_path / "g"):
        with pytest.raises(PathError):
            rt.upload_file(tmp_path / "f", dest)
    assert not (tmp_path / "g").exists()


def test_upload_takes_what_was_named(rt, tmp_path, home):
    """A link that the user named is followed; links in a directory stay links; fifos are left."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "key").symlink_to(home / ".ssh/id_ed25519")
    os.mkfifo(folder / "fifo")
    assert rt.upload_file(folder) == "Uploaded folder"
    assert os.listdir(rt.base_dir / "folder") == ["key"]
    assert (rt.base_dir / "folder/key").is_symlink()
    assert b"canary" not in content(rt.base_dir)
    assert rt.upload_file(folder / "key") == "Uploaded key"
    assert rt.read_file("key") == "canary-secret"
    with pytest.raises(PathError, match="fifo"):
        rt.upload_file(folder / "fifo")


def test_upload_of_a_parent_ends(tmp_path):
    """Uploading a directory that the workspace is in copies everything but the copy."""
    (tmp_path / "top").mkdir()
    (tmp_path / "top/f").write_text("x")
    with Runtime(use_docker=False, workspace=tmp_path / "top/ws") as rt:
        rt.upload_file(tmp_path / "top", "copy")
        assert rt.read_file("copy/f") == "x"
        assert not (rt.base_dir / "copy/ws/copy").exists()


def test_export_of_everything_takes_no_secret(rt, tmp_path, home):
    """Links are copied as links, loops end, what is no file is left out."""
    rt.bash(f"ln -s {home} home; ln -s . loop; mkfifo f; mkdir d; ln -s ../.. d/up; echo ok > d/x")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(rt.base_dir)
    try:
        listener.bind("s")
    finally:
        os.chdir(here)
        listener.close()
    out = tmp_path / "out"
    rt.export_file(".", out)
    assert content(out) == b"ok\n"
    assert sorted(os.listdir(out)) == ["d", "home", "loop"]
    assert os.readlink(out / "loop") == "."
    rt.export_file("loop", tmp_path / "again")
    assert content(tmp_path / "again") == b"ok\n"


def test_control_plain_copy_takes_the_secret(rt, tmp_path, home):
    """Control: an ordinary copy of the same tree follows the link."""
    rt.bash(f"ln -s {home} home")
    shutil.copytree(rt.base_dir, tmp_path / "out")
    assert b"canary-secret" in content(tmp_path / "out")


def test_export_of_a_link_that_leaves(rt, tmp_path, home):
    """Naming a link that leads out exports nothing."""
    rt.bash(f"ln -s {home}/.ssh/id_ed25519 k; ln -s {home} h; mkfifo f")
    for path in ("k", "h", "h/.ssh", "..", "f", str(home)):
        with pytest.raises(PathError):
            rt.export_file(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_export_replaces_a_link_and_not_its_target(rt, tmp_path):
    """An existing link at the destination is replaced; what it points to stays as it was."""
    rt.bash("mkdir d; echo new > a.txt; echo new > d/inner; mkdir d/sub; echo new > d/sub/x")
    target = tmp_path / "target"
    target.write_text("old")
    (tmp_path / "dest").symlink_to(target)
    rt.export_file("a.txt", tmp_path / "dest")
    assert target.read_text() == "old"
    assert (tmp_path / "dest").read_text() == "new\n"
    assert not (tmp_path / "dest").is_symlink()

    goal, other = tmp_path / "goal", tmp_path / "other"
    goal.mkdir()
    other.mkdir()
    (goal / "inner").symlink_to(target)
    (goal / "sub").symlink_to(other)
    with pytest.raises(PathError):
        rt.export_file("d", goal)
    assert target.read_text() == "old"
    assert not list(other.iterdir())
    (tmp_path / "to_dir").symlink_to(other)
    with pytest.raises(PathError, match="name the directory itself"):
        rt.export_file("a.txt", tmp_path / "to_dir")
    assert not list(other.iterdir())


def test_control_plain_copy_follows_the_destination(rt, tmp_path):
    """Control: an ordinary copy writes through the link."""
    rt.write_file("a.txt", "new")
    (tmp_path / "target").write_text("old")
    (tmp_path / "dest").symlink_to(tmp_path / "target")
    shutil.copy(rt.base_dir / "a.txt", tmp_path / "dest")
    assert (tmp_path / "target").read_text() == "new"


def test_any_name_survives(rt, tmp_path):
    """Names of any bytes are listed, exported and cleaned up; shown, they hold no control."""
    names = [b"-rf", b"new\nline", b"esc\x1b[31m", b"\xff\xfe", b" lead", b"con trail ", b"tab\t"]
    for name in names:
        (rt.base_dir / os.fsdecode(name)).write_bytes(name)
    (rt.base_dir / "--help").mkdir()
    rt.export_file(".", tmp_path / "out")
    assert sorted(os.listdir(os.fsencode(tmp_path / "out"))) == sorted([*names, b"--help"])
    for entry in rt.files.list():
        if entry.kind == "file":
            assert rt.files.read(entry.path) == os.fsencode(entry.path)
        assert shown(entry.path).isprintable()
        assert shown(entry.path).encode()
    assert rt.export_file(os.fsdecode(b"\xff\xfe"), tmp_path / "one") == "Exported \\xff\\xfe"
    folder = rt.base_dir
    rt.cleanup()
    assert not folder.exists()
