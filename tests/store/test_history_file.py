"""Histories as files: whole at every moment, salvaged when cut, refused when they are none."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pygent.errors import ConfigError, StoreError
from pygent.messages import Message
from pygent.store import HistoryFile, history_file as module
from tests.contracts.contract_store import json_values, texts


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": f'ü "{number}" ]\n}},{{', **more}


def whole(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "history.json"


@pytest.fixture
def written(path: Path) -> Path:
    file = HistoryFile(path)
    for number in range(5):
        file.append(entry(number))
    file.close()
    return path


def torn(path: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(path.parent.glob(path.name + ".torn-*"))]


def test_the_file_is_an_array_after_every_append(path: Path) -> None:
    """`json.loads` reads the whole conversation after each message."""
    file = HistoryFile(path)
    assert file.load()[0] == []
    assert not path.exists()
    for number in range(20):
        file.append(entry(number))
        assert whole(path) == [entry(n) for n in range(number + 1)]
    file.append(Message(role="assistant", content="done"))
    assert whole(path)[-1]["content"] == "done"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    file.close()
    messages, report = HistoryFile(path).load()
    assert (len(messages), report.read, report.complete) == (21, 21, True)
    file.append(entry(21))
    assert len(whole(path)) == 22
    file.close()


def test_an_append_writes_its_entry_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One write of the entry's size, at 10 entries as at 2,000; nothing is read again."""
    file = HistoryFile(path)
    seen: list[int] = []
    write = os.pwrite

    def count(number: int, data: bytes, place: int) -> int:
        seen.append(len(data))
        return write(number, data, place)

    def never(*_: Any) -> Any:
        raise AssertionError("read again")

    for number in range(2001):
        if number == 10:
            monkeypatch.setattr(os, "pwrite", count)
            monkeypatch.setattr(os, "pread", never)
        file.append(entry(number % 10))
    assert len(seen) == 1991
    assert len(set(seen)) == 1
    monkeypatch.undo()
    assert len(whole(path)) == 2001
    file.close()


@pytest.mark.parametrize(
    "text", ["", "  \n", "[]", "[ ]\n\n", '[{"a": 1}]', "[\n  {\n  }\n]\n   \n"]
)
@pytest.mark.parametrize("load", [True, False])
def test_arrays_of_other_writers(tmp_path: Path, text: str, load: bool) -> None:
    """An array in any layout goes on, and what it had comes first."""
    path = tmp_path / "h.json"
    path.write_text(text)
    before = json.loads(text) if text.strip() else []
    file = HistoryFile(path)
    if load:
        assert file.load()[0] == before
    file.append(entry(1))
    file.append(entry(2))
    assert whole(path) == [*before, entry(1), entry(2)]
    file.close()


def test_cut_at_every_byte(written: Path) -> None:
    """Every entry that is whole is kept, the rest moved aside, and the next append goes on."""
    data = written.read_bytes()
    entries = [entry(number) for number in range(5)]
    ends = [
        data.index(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode())
        for one in entries
    ]
    ends = [
        data.index(b"}\n" if number == 4 else b"},\n", end) + 1 for number, end in enumerate(ends)
    ]
    for cut in range(len(data)):
        written.write_bytes(data[:cut])
        file = HistoryFile(written)
        messages, report = file.load()
        count = sum(end <= cut for end in ends)
        assert messages == entries[:count]
        assert written.read_bytes() == data[:cut]
        assert report.complete == (not cut)
        file.append(entry(99))
        file.close()
        assert whole(written) == [*entries[:count], entry(99)]
        for rest in torn(written):
            assert rest.strip(b",\n")
            assert data[:cut].endswith(rest)
        for aside in written.parent.glob("*.torn-*"):
            aside.unlink()


def test_damage_in_the_middle(written: Path) -> None:
    """A bad line loses that line only, and its bytes are kept."""
    lines = written.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"role":"us\0\0\0\n'
    written.write_bytes(b"".join(lines))
    file = HistoryFile(written)
    messages, report = file.load()
    assert messages == [entry(0), entry(2), entry(3), entry(4)]
    assert "torn-" in report.lost[0][1]
    file.append(entry(5))
    file.close()
    assert whole(written) == [*messages, entry(5)]
    assert torn(written) == [lines[2]]


@given(
    at=st.integers(0, 400),
    length=st.integers(0, 60),
    new=st.binary(max_size=30) | st.just(b"\0" * 40) | st.sampled_from([b"]", b"[", b"},", b"{\n"]),
)
def test_any_mutation(tmp_path: Path, at: int, length: int, new: bytes) -> None:
    """However a file was damaged, reading it gives messages or refuses; it never fails otherwise."""
    path = tmp_path / "h.json"
    path.unlink(missing_ok=True)
    entries = [entry(number) for number in range(8)]
    file = HistoryFile(path)
    file.rewrite(entries)
    data = path.read_bytes()
    damaged = data[:at] + new + data[at + length :]
    path.write_bytes(damaged)
    for old in tmp_path.glob("*.torn-*"):
        old.unlink()
    try:
        messages, _ = file.load()
    except ConfigError:
        with pytest.raises(ConfigError):
            file.append(entry(9))
        assert path.read_bytes() == damaged
        return
    finally:
        file.close()
    assert len([one for one in messages if one not in entries]) <= 2  # changed, not invented
    rest = iter(entries)
    assert all(one in rest for one in messages if one in entries)
    file.append(entry(9))
    file.close()
    assert whole(path) == [*messages, entry(9)]


@given(messages=st.lists(st.dictionaries(texts, json_values)))
def test_any_message_comes_back(tmp_path: Path, messages: list[dict[str, Any]]) -> None:
    """Whatever JSON a message holds, it is read as it was written."""
    path = tmp_path / "h.json"
    path.unlink(missing_ok=True)
    file = HistoryFile(path)
    for message in messages:
        file.append(message)
    file.close()
    assert HistoryFile(path).load()[0] == messages


@pytest.mark.parametrize(
    "text",
    ['{"broken":', '{"a": 1}', "1", "null", '"text"', "[1, 2]", '[{"a": 1}, 2]', '["a', "hello", "\0\0\0", "[[]", "ÿþ[", "[" * 100_000],
)  # fmt: skip
def test_what_is_no_history_is_left_alone(tmp_path: Path, text: str) -> None:
    """A file that is no array of messages is refused for reading and writing, untouched."""
    path = tmp_path / "h.json"
    path.write_text(text, encoding="latin-1")
    before = path.read_bytes()
    file = HistoryFile(path)
    for use in (file.load, lambda: file.append(entry(1)), lambda: file.rewrite([entry(1)])):
        with pytest.raises(ConfigError, match="cannot restore") as caught:
            use()
        assert isinstance(caught.value, ValueError)
        assert str(path) in str(caught.value)
    file.close()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path / "..") != []
    assert [name for name in os.listdir(tmp_path) if name.startswith("h.json")] == ["h.json"]


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    """A directory, pipe, device, socket, or a link to one is refused with the reason, at once."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(tmp_path, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    odd = {
        "folder": "a directory",
        "pipe": "a pipe",
        "link": "a pipe",
        "socket": "a socket",
        "loop": "symbolic links",
        "/dev/null": "a device",
    }
    for name, reason in odd.items():
        file = HistoryFile(tmp_path / name)
        for use in (file.load, lambda file=file: file.append(entry(1))):
            with pytest.raises(ConfigError, match=rf"cannot restore .*{reason}"):
                use()


@pytest.mark.needs("ordinary_user")
def test_an_unreadable_file(tmp_path: Path) -> None:
    """A file that is not ours to read is refused, with the system's reason."""
    path = tmp_path / "h.json"
    path.write_text("[]")
    path.chmod(0)
    if os.geteuid() == 0:
        for parent in (tmp_path, *tmp_path.parents[:2]):
            parent.chmod(0o755)
        os.seteuid(65534)
    try:
        with pytest.raises(ConfigError, match=r"cannot restore .*Permission denied"):
            HistoryFile(path).load()
    finally:
        if os.getuid() == 0:
            os.seteuid(0)


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    """A link to a regular file is followed, also by a rewrite, which keeps the file's mode."""
    real, link = tmp_path / "real" / "h.json", tmp_path / "link.json"
    real.parent.mkdir()
    real.write_text("[]")
    real.chmod(0o640)
    link.symlink_to(real)
    file = HistoryFile(link)
    file.append(entry(1))
    file.rewrite([entry(2)])
    file.append(entry(3))
    file.close()
    assert link.is_symlink()
    assert whole(real) == [entry(2), entry(3)]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert os.listdir(real.parent) == ["h.json"]


def test_two_writers_lose_nothing(path: Path) -> None:
    """Two writers of one file, also after one of them rewrote it, see and keep each other's."""
    one, two = HistoryFile(path), HistoryFile(path)
    for number in range(10):
        one.append(entry(number))
        two.append(entry(number + 100))
    assert len(whole(path)) == 20
    one.rewrite([entry(0)])
    two.append(entry(1))
    one.append(entry(2))
    assert whole(path) == [entry(0), entry(1), entry(2)]
    assert sum(len(json.loads(rest)) for rest in torn(path)) == 20
    one.close()
    two.close()


def test_threads_and_processes_append_at_once(path: Path) -> None:
    """Every message of several threads and processes is there once, in a whole array."""
    code = (
        "import sys; from pygent.store import HistoryFile; f = HistoryFile(sys.argv[1])\n"
        "for n in range(50): f.append({'role': 'user', 'content': sys.argv[2] + str(n)})"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name], env=environment)
        for name in "ab"
    ]
    file = HistoryFile(path)

    def work(name: str) -> None:
        for number in range(50):
            file.append({"role": "user", "content": f"{name}{number}"})

    threads = [threading.Thread(target=work, args=(name,)) for name in "cd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.wait(60) for child in children] == [0, 0]
    file.close()
    found = [one["content"] for one in whole(path)]
    assert sorted(found) == sorted(f"{name}{number}" for name in "abcd" for number in range(50))
    for name in "abcd":
        assert [one for one in found if one[0] == name] == [f"{name}{n}" for n in range(50)]


def test_a_full_disk(tmp_path: Path) -> None:
    """An append that does not fit leaves the array as it was, and works when there is room."""
    path = tmp_path / "h.json"
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            file = HistoryFile(path)
            for number in range(20):
                file.append(entry(number))
            size = path.stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30, resource.RLIM_INFINITY))
            for _ in range(2):
                with pytest.raises(StoreError, match="cannot write"):
                    file.append(entry(20))
                assert len(whole(path)) == 20
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            file.append(entry(20))
            assert len(whole(path)) == 21
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_what_is_no_json_is_refused(path: Path) -> None:
    """A message that cannot be written is named; the file is as it was."""
    file = HistoryFile(path)
    file.append(entry(1))
    with pytest.raises(StoreError, match="not JSON"):
        file.append({"role": "user", "content": object()})
    assert whole(path) == [entry(1)]
    file.close()


def test_an_interrupt_at_every_line_of_append(path: Path) -> None:
    """Ctrl-C anywhere in an append: the message is there or not, and the next one works."""
    files = {module.__file__, module.__file__.replace("history_file", "history_io")}
    for line in range(1, 200):
        path.unlink(missing_ok=True)
        file = HistoryFile(path)
        file.append(entry(0))
        left = line

        def trace(frame: Any, what: str, _: Any) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in files:
                return None
            if what == "line":
                left -= 1
                if not left:
                    raise KeyboardInterrupt
            return trace

        old = sys.gettrace()
        sys.settrace(trace)
        try:
            file.append(entry(1))
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(old)
        assert whole(path) in ([entry(0)], [entry(0), entry(1)])
        file.append(entry(2))
        assert whole(path)[-1] == entry(2)
        file.close()
        if left > 0:
            assert line > 20
            return
    raise AssertionError("the append never ended")
