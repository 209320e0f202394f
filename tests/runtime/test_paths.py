"""The path policy: files stay in the workspace, by names, by links and by races."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pygent.errors import PathError
from pygent.runtime import NotFound, Runtime, WorkspaceFiles, beneath

HOSTILE = (
    *("a\0b", ".", "..", "", "/", "./../x", "x" * 300, "d/" * 3000 + "f", "\ud800", "a/", "a/.."),
    *("new/../../x", "new/../x", "/etc/x", "../x", "a/../../x"),
)
ODD = (" ", "a//b", "CON", "~root/x", "$HOME/x", "file:///etc/x", "a\nb", "-rf", "..x", "a/./c")


@pytest.fixture(params=["openat2", "walk"])
def resolver(request, monkeypatch):
    """Both ways to find a path: the kernel's, and ours."""
    if request.param == "walk":
        monkeypatch.setattr(beneath, "openat2", lambda *_, **__: None)
    return request.param


@pytest.fixture
def rt(tmp_path, resolver):
    with Runtime(use_docker=False, workspace=tmp_path / "parent" / "ws") as runtime:
        yield runtime


@pytest.fixture
def outside(tmp_path):
    """A folder with a secret, next to the workspace's parent."""
    folder = tmp_path / "canary"
    folder.mkdir()
    (folder / "secret").write_text("canary-secret")
    return folder


def tree(folder: Path) -> dict[str, bytes | str]:
    """Return everything below a folder."""
    found: dict[str, bytes | str] = {}
    for base, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(base, name)
            plain = path.is_file() and not path.is_symlink()
            found[str(path.relative_to(folder))] = path.read_bytes() if plain else "…"
    return found


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: repr(path[:12]))
def test_hostile_paths_are_refused(rt, path):
    """A path that leaves, or is no file's, is an error, and nothing is made for it anywhere."""
    rt.write_file("keep", "x")
    before = tree(rt.base_dir.parent)
    for use in (lambda: rt.write_file(path, "pwn"), lambda: rt.files.read(path)):
        with pytest.raises(PathError):
            use()
    assert tree(rt.base_dir.parent) == before


@pytest.mark.parametrize("path", ODD)
def test_odd_paths_stay_inside(rt, path):
    """A name that is merely odd is a file of exactly that name: nothing is expanded."""
    assert rt.write_file(path, "content").startswith("Wrote ")
    assert rt.read_file(path) == "content"
    assert (rt.base_dir / path).read_text() == "content"
    assert [entry.name for entry in rt.base_dir.parent.iterdir()] == ["ws"]


def test_error_names_the_path(rt):
    """What is refused is said."""
    with pytest.raises(PathError, match=r"'\.\./tool_escape\.txt'.*leaves the workspace"):
        rt.write_file("../tool_escape.txt", "pwn")


def test_absolute_paths(rt, outside):
    """An absolute path is fine in the workspace and refused elsewhere."""
    assert rt.write_file(rt.base_dir / "a/b", "x") == "Wrote a/b"
    assert rt.read_file(str(rt.base_dir / "a/b")) == "x"
    with pytest.raises(PathError, match="outside of the workspace"):
        rt.write_file(outside / "abs_tool.txt", "pwn")
    assert sorted(os.listdir(outside)) == ["secret"]


def test_sibling_with_the_same_beginning(rt):
    """Names are compared part by part: `ws-evil` is not in `ws`."""
    for path in ("../ws-evil/x.txt", f"{rt.base_dir}-evil/x.txt"):
        with pytest.raises(PathError):
            rt.write_file(path, "pwn")
    assert not rt.base_dir.with_name("ws-evil").exists()


def test_control_naive_check_lets_out(tmp_path):
    """Control: comparing strings, or nothing, lets the same writes out."""
    root = tmp_path / "ws"
    target = os.path.normpath(f"{root}/../ws-evil")
    assert target.startswith(str(root))
    root.mkdir()
    (root / "../tool_escape.txt").write_text("pwn")
    assert (tmp_path / "tool_escape.txt").exists()


def test_link_that_leaves(rt, outside):
    """A link to a file outside is refused for writing and reading."""
    rt.bash(
        f"ln -s {outside}/via_link.txt out; ln -s {outside}/secret k; ln -s ../../canary/secret r"
    )
    for path in ("out", "k", "r"):
        with pytest.raises(PathError, match="leaves the workspace"):
            rt.write_file(path, "pwn")
        with pytest.raises(PathError, match="leaves the workspace"):
            rt.read_file(path)
    assert sorted(os.listdir(outside)) == ["secret"]
    assert (outside / "secret").read_text() == "canary-secret"


def test_control_plain_open_follows(rt, outside):
    """Control: an ordinary read of the same link gives the secret away."""
    rt.bash(f"ln -s {outside}/secret k")
    assert (rt.base_dir / "k").read_text() == "canary-secret"


def test_parent_link_that_leaves(rt, outside):
    """A folder that is a link outside is refused, and nothing is made behind it."""
    rt.bash(f"ln -s {outside} sub; ln -s .. up; mkdir real")
    for path in ("sub/x/y.txt", "sub/y.txt", "up/y.txt", "up/ws/../y.txt", "real/../sub/y.txt"):
        with pytest.raises(PathError, match="leaves the workspace"):
            rt.write_file(path, "pwn")
    with pytest.raises(PathError):
        rt.files.mkdir("sub/x")
    with pytest.raises(PathError):
        rt.files.list("sub")
    assert sorted(os.listdir(outside)) == ["secret"]
    assert rt.write_file("real/x/y.txt", "fine") == "Wrote real/x/y.txt"


def test_links_inside_are_followed(rt):
    """A link that stays inside works: relative, absolute, chained, to files and to folders."""
    rt.bash(
        'mkdir -p a/b; echo -n old > a/b/f; ln -s a/b/f rel; ln -s "$PWD/a/b" abs; ln -s rel chain; '
        "ln -s ../../a a/b/up; ln -s a/b/fresh dangling"
    )
    for path in ("rel", "abs/f", "chain", "abs/up/b/f"):
        assert rt.read_file(path) == "old"
    rt.write_file("chain", "new")
    assert (rt.base_dir / "a/b/f").read_text() == "new"
    assert (rt.base_dir / "chain").is_symlink()
    rt.write_file("dangling", "made")
    assert (rt.base_dir / "a/b/fresh").read_text() == "made"
    assert rt.read_file("a/b/../b/f") == "new"


def test_link_loops_end(rt):
    """Links that lead to each other are an error."""
    rt.bash("ln -s y x; ln -s x y; ln -s self self")
    for path in ("x", "y/z", "self"):
        with pytest.raises(PathError, match="link"):
            rt.read_file(path)


def test_no_special_file_is_opened(rt):
    """A fifo, a socket or a directory is an error at once, for reading and writing."""
    rt.bash("mkfifo f; mkdir d")
    here = os.getcwd()
    os.chdir(rt.base_dir)
    try:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("s")
        listener.close()
    finally:
        os.chdir(here)
    for path, kind in (("f", "fifo"), ("s", "socket"), ("d", "directory")):
        with pytest.raises(PathError, match=f"is a {kind}"):
            rt.read_file(path)
        with pytest.raises(PathError, match=f"is a {kind}"):
            rt.write_file(path, "x")


def test_control_plain_open_of_a_fifo_hangs(tmp_path):
    """Control: an ordinary open waits for a writer."""
    os.mkfifo(tmp_path / "f")
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(["cat", tmp_path / "f"], timeout=0.5, check=False)


def test_write_replaces_in_one_step(rt):
    """Whoever has the old file open keeps all of it; mode stays, and nothing lies around."""
    rt.write_file("f", "old")
    os.chmod(rt.base_dir / "f", 0o751)
    with open(rt.base_dir / "f") as old:
        rt.write_file("f", "new")
        assert old.read() == "old"
    assert (rt.base_dir / "f").read_text() == "new"
    assert (rt.base_dir / "f").stat().st_mode & 0o777 == 0o751
    assert os.listdir(rt.base_dir) == ["f"]


def test_new_file_has_the_usual_mode(rt):
    """A new file's mode is what any program's would be."""
    mask = os.umask(0o027)
    try:
        rt.write_file("f", "x")
    finally:
        os.umask(mask)
    assert (rt.base_dir / "f").stat().st_mode & 0o777 == 0o640


def test_content_is_checked(rt):
    """What is no text is refused before the file is touched; bytes are taken as they are."""
    rt.write_file("f", "old")
    with pytest.raises(TypeError):
        rt.write_file("f", None)
    with pytest.raises(ValueError, match="surrogates"):
        rt.write_file("f", "\ud800")
    assert rt.read_file("f") == "old"
    rt.write_file("f", b"\xff\x00")
    assert rt.read_file("f") == "/wA="


def test_files_interface(rt):
    """Stat, list, walk, remove: what tools need, under the same policy."""
    rt.bash("mkdir -p d/e; echo hello > d/e/f; ln -s d/e/f link; ln -s . loop; mkfifo p")
    files = rt.files
    assert [(entry.path, entry.kind) for entry in files.walk()] == [
        ("d", "directory"),
        ("d/e", "directory"),
        ("d/e/f", "file"),
        ("link", "link"),
        ("loop", "link"),
        ("p", "fifo"),
    ]
    assert [entry.path for entry in files.walk("d", lambda _: False)] == ["d/e"]
    entry = files.stat("link")
    assert entry is not None
    assert (entry.kind, entry.size) == ("file", 6)
    assert files.stat("nothing") is None
    assert files.read("d/e/f", 1, 3) == b"ell"
    files.remove("link")
    assert files.read("d/e/f") == b"hello\n"
    with pytest.raises(NotFound):
        files.read("link")
    with pytest.raises(PathError):
        files.remove("d")
    files.mkdir("m/n/")
    files.mkdir("m/n")
    assert (rt.base_dir / "m/n").is_dir()
    with pytest.raises(PathError):
        files.mkdir("d/e/f")


def test_swapped_folder_is_not_followed(rt, outside, monkeypatch):
    """A folder that turns into a link after it was checked leads nowhere."""
    rt.bash("mkdir d")
    find = beneath.locate

    def swap(*args, **kwargs):
        place = find(*args, **kwargs)
        os.rename(rt.base_dir / "d", rt.base_dir / "moved")
        os.symlink(outside, rt.base_dir / "d")
        return place

    monkeypatch.setattr("pygent.runtime.files.locate", swap)
    rt.write_file("d/f", "x")
    assert sorted(os.listdir(outside)) == ["secret"]
    assert (rt.base_dir / "moved/f").read_text() == "x"


# Random trees of links, random paths: whatever is found is below the root, by both resolvers.
NAMES = st.sampled_from(["a", "b", "c", "d"])
PARTS = st.one_of(NAMES, st.sampled_from(["..", ".", ""]))
PATHS = st.lists(PARTS, min_size=1, max_size=6).map("/".join).filter(lambda path: path[:1] != "/")
TARGETS = st.one_of(PATHS, PATHS.map("ROOT/{}".format), PATHS.map("OUT/{}".format))
TREES = st.lists(st.tuples(PATHS, st.one_of(st.none(), st.just(""), TARGETS)), max_size=8)


def build(root: Path, entries: list) -> None:
    """Make folders (None), files (empty) and links (a target), as far as they are possible."""
    for path, target in entries:
        place = root / path
        if not os.path.realpath(place.parent).startswith(str(root)):
            continue
        try:
            if target is None:
                place.mkdir()
            elif not target:
                place.touch()
            else:
                out = str(root.parent / "out")
                os.symlink(target.replace("ROOT", str(root)).replace("OUT", out), place)
        except (OSError, ValueError):
            continue


def look(root: Path, path: str, kernel: bool) -> tuple:
    """Return what a resolver finds: an inode and a name, or which error."""
    fd = os.open(root, os.O_RDONLY)
    saved = vars(beneath)["openat2"]
    if not kernel:
        vars(beneath)["openat2"] = lambda *_, **__: None
    try:
        with beneath.locate(fd, path.encode(), top=os.fsencode(root)) as place:
            there = os.path.realpath(f"/proc/self/fd/{place.directory}")
            assert there == str(root) or there.startswith(f"{root}/")
            return there, place.info and place.info.st_ino
    except OSError as error:
        return ("error", error.errno)
    finally:
        vars(beneath)["openat2"] = saved
        os.close(fd)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(entries=TREES, paths=st.lists(PATHS, min_size=1, max_size=5))
def test_nothing_reaches_outside(tmp_path_factory, entries, paths):
    """Both resolvers find the same, always inside, and writing never changes the outside."""
    top = Path(os.path.realpath(tmp_path_factory.mktemp("tree")))
    root = top / "root"
    root.mkdir()
    for name in ("a", "b/c"):
        (top / "out" / name).mkdir(parents=True)
    (top / "out/d").write_text("secret")
    build(root, entries)
    before = tree(top / "out")
    for path in paths:
        assert look(root, path, kernel=True) == look(root, path, kernel=False)
    files = WorkspaceFiles(root)
    for path in paths:
        try:
            assert files.read(path) != b"secret"
        except PathError:
            pass
        try:
            files.write(path, b"pwn")
        except PathError:
            pass
    files.close()
    assert tree(top / "out") == before
    assert sorted(os.listdir(top)) == ["out", "root"]
