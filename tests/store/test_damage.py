"""Databases that were cut, flipped, killed or had no room: what is lost is little, and named."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pygent.errors import StoreError
from pygent.store import (
    LoadReport,
    MemoryStore,
    SQLiteStore,
    check,
    memory,
    rows,
    salvage,
    sqlite,
    statements,
)
from tests.contracts.contract_store import event

COUNT = 60


def big(seq: int) -> dict[str, Any]:
    """Return an event that is in the row, on pages of its own, or a file, by its number."""
    return event(seq, note="n" * (6000 if seq % 7 == 0 else 70_000 if seq % 29 == 0 else 300))


EVENTS = [big(seq) for seq in range(1, COUNT + 1)]


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, list[int]]:
    """Return the folder of a database all of whose events are in its log, and the log's sizes."""
    folder = tmp_path / "made"
    store = SQLiteStore(tmp_path / "live" / "pygent.db")
    assert store._connection is not None
    store._connection.execute("PRAGMA wal_autocheckpoint=0")
    store.create("s", at=1.0, title="title", workspace="/w")
    sizes = []
    for one in EVENTS:
        store.append("s", one)
        sizes.append(store.path.with_name("pygent.db-wal").stat().st_size)
    shutil.copytree(store.path.parent, folder, ignore=shutil.ignore_patterns("*-shm"))
    store.close()
    return folder, sizes


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """Return a closed database: no log, three sessions."""
    store = SQLiteStore(tmp_path / "closed" / "pygent.db")
    for name in ("s", "t", "u"):
        store.create(name, at=1.0, title=f"title of {name}")
        for seq in range(1, COUNT + 1):
            store.append(name, {**big(seq), "session": name})
    store.close()
    return store.path


def copy(folder: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    return to / "pygent.db"


def log_cut(made: tuple[Path, list[int]], path: Path, cut: int) -> None:
    folder, sizes = made
    database = copy(folder, path)
    os.truncate(database.with_name("pygent.db-wal"), cut)
    store = SQLiteStore(database)
    whole = sum(size <= cut for size in sizes)
    report = LoadReport()
    if cut < sizes[0]:
        assert whole == 0
        assert len(store.sessions()) <= 1
    else:
        assert list(store.read("s", report=report)) == EVENTS[:whole]
        assert report.complete
        if whole < COUNT:
            store.append("s", EVENTS[whole])
            assert store.last_seq("s") == whole + 1
    assert store.report.complete
    store.close()


def test_a_log_cut_anywhere_loses_its_last_event(
    made: tuple[Path, list[int]], tmp_path: Path
) -> None:
    """All events whose append had ended before the cut are there, and writing goes on."""
    chosen = random.Random(7)
    sizes = made[1]
    cuts = {0, 31, 32, *(size + move for size in chosen.sample(sizes, 4) for move in (-1, 0, 1))}
    for cut in sorted({*cuts, *chosen.sample(range(sizes[-1]), 20)}):
        log_cut(made, tmp_path / "cut", min(cut, sizes[-1]))


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_a_log_cut_at_every_byte(made: tuple[Path, list[int]], tmp_path: Path) -> None:
    """The same at every offset of an append, near the end of every one, and in what is before."""
    sizes = made[1]
    cuts = {
        *range(0, sizes[0], 64),
        *range(sizes[0], sizes[1]),
        *(s + move for s in sizes[:-1] for move in range(-30, 30)),
    }
    for cut in sorted(cuts):
        log_cut(made, tmp_path / "cut", cut)


def flipped_log(made: tuple[Path, list[int]], path: Path, at: int) -> None:
    database = copy(made[0], path)
    log = database.with_name("pygent.db-wal")
    data = bytearray(log.read_bytes())
    data[at] ^= 0x10
    log.write_bytes(data)
    first = check(database)
    assert first.lost, at
    assert log.read_bytes() == data
    store = SQLiteStore(database)
    report = LoadReport()
    events = list(store.read("s", report=report)) if store.sessions() else []
    named = " ".join(what for _, what in store.report.lost + report.lost)
    assert "damaged" in named
    assert all(one in EVENTS for one in events)
    assert len(events) >= COUNT - 2, (at, store.report.lost)
    for one in EVENTS:
        if one not in events:
            assert str(one["seq"]) in named or one["seq"] == COUNT, (at, one["seq"], named)
    store.append("s", event(store.last_seq("s") + 1))
    store.close()
    assert database.with_name("pygent.db.damaged-1-wal").read_bytes() == data


def test_a_flipped_byte_in_the_log(made: tuple[Path, list[int]], tmp_path: Path) -> None:
    """SQLite would drop all after it; here it costs what it hit, which is named."""
    chosen = random.Random(11)
    size = made[1][-1]
    for at in (0, 3, 17, 30, 33, 40, 50, *(chosen.randrange(size - 30_000) for _ in range(12))):
        flipped_log(made, tmp_path / "flip", at)


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_many_flipped_bytes_in_the_log(made: tuple[Path, list[int]], tmp_path: Path) -> None:
    """The same, in many more places."""
    size = made[1][-1]
    for at in range(0, size - 30_000, 997):
        flipped_log(made, tmp_path / "flip", at)


def salvaged(path: Path) -> tuple[dict[str, list[dict[str, Any]]], LoadReport]:
    before = path.read_bytes()
    into = MemoryStore()
    report = salvage(path, into)
    assert path.read_bytes() == before
    return {info.id: list(into.read(info.id)) for info in into.sessions()}, report


def wanted(name: str) -> list[dict[str, Any]]:
    return [{**one, "session": name} for one in EVENTS]


def test_a_whole_database(closed: Path) -> None:
    """A check finds nothing; salvage copies everything, titles and blobs included."""
    assert check(closed) == LoadReport(read=3 * COUNT)
    found, report = salvaged(closed)
    assert report.complete
    assert found == {name: wanted(name) for name in ("s", "t", "u")}
    into = MemoryStore()
    salvage(closed, into)
    assert {info.title for info in into.sessions()} == {f"title of {name}" for name in "stu"}
    assert salvage(closed, into) == LoadReport(read=0)


def test_pages_of_garbage(closed: Path) -> None:
    """Whatever page is destroyed: reading never fails, the rest is there, the loss is named."""
    data = closed.read_bytes()
    pages = len(data) // 4096
    for page in range(pages):
        closed.write_bytes(data[: page * 4096] + b"\xa5" * 4096 + data[(page + 1) * 4096 :])
        found, report = salvaged(closed)
        total = 0
        for name, events in found.items():
            good = wanted(name)
            assert all(one in good for one in events), page
            total += len(events)
            lost = " ".join(what for session, what in report.lost if session == name)
            missing = sorted({one["seq"] for one in good} - {one["seq"] for one in events})
            if missing and missing[-1] < events[-1]["seq"]:
                assert lost, page
        assert total >= 3 * COUNT - 20, page
        if total < 3 * COUNT or page == 0:
            assert report.lost, page
        assert check(closed).lost == report.lost
        read_in_spite(closed)


def read_in_spite(path: Path) -> None:
    """Read through SQLite: good events only, the others reported, or an error with the path."""
    refused = ""
    store = None
    try:
        store = SQLiteStore(path, read_only=True)
        for name in ("s", "t", "u"):
            told = LoadReport()
            events = list(store.read(name, report=told))
            assert all(one in wanted(name) for one in events)
            assert len(events) == COUNT or told.lost
    except StoreError as error:
        refused = str(error)
    if store is not None:
        store.close()
    assert not refused or str(path) in refused


def test_a_flipped_byte_in_a_row(closed: Path) -> None:
    """A text that changed on the disk is noticed by its checksum, left out and named."""
    data = bytearray(closed.read_bytes())
    data[data.index(b'"content":"out 17"') + 12] ^= 1
    closed.write_bytes(data)
    store = SQLiteStore(closed)
    total = 0
    lost = []
    for name in ("s", "t", "u"):
        report = LoadReport()
        total += len(list(store.read(name, report=report)))
        lost += report.lost
    assert total == 3 * COUNT - 1
    assert [what for _, what in lost] == ["event 17 is damaged: its checksum is wrong"]
    store.close()


def test_a_schema_that_is_no_text(closed: Path) -> None:
    """Bytes that are no UTF-8, where SQLite keeps its own names, are damage as any other."""
    data = closed.read_bytes()
    closed.write_bytes(data.replace(b"CREATE TABLE event", b"CREATE TABLE \xb1\xffent", 1))
    with pytest.raises(StoreError, match="is damaged"):
        SQLiteStore(closed)
    assert not check(closed).complete
    found, report = salvaged(closed)
    assert not report.complete
    assert found == {name: wanted(name) for name in ("s", "t", "u")}


def test_a_cut_database(closed: Path) -> None:
    """A database that was cut is refused with the way out, which gives what is left."""
    size = closed.stat().st_size
    os.truncate(closed, size // 2 + 100)
    with pytest.raises(StoreError, match=r"is damaged: the database is cut.*salvage"):
        SQLiteStore(closed)
    found, report = salvaged(closed)
    assert sum(map(len, found.values())) > COUNT // 2
    assert report.lost[0][1].startswith("the database is cut")
    os.truncate(closed, 0)
    assert check(closed).read == 0


def test_a_store_that_is_open_is_not_touched(tmp_path: Path) -> None:
    """A check of what this process has open is refused: it would drop SQLite's locks."""
    store = SQLiteStore(tmp_path / "pygent.db")
    with pytest.raises(StoreError, match="close the store first"):
        check(store.path)
    store.close()
    assert check(store.path).complete
    with pytest.raises(StoreError, match="cannot read"):
        check(tmp_path / "nothing.db")


WRITER = """
import sys
from pygent.store import SQLiteStore
store = SQLiteStore(sys.argv[1])
store._connection.execute("PRAGMA wal_autocheckpoint=20")
store.create("s", at=1.0)
seq = 0
while True:
    seq += 1
    note = "n" * (70000 if seq % 50 == 0 else 500)
    store.append("s", {"type": "x", "session": "s", "seq": seq, "epoch": 1, "note": note})
    print(seq, flush=True)
"""


@pytest.mark.parametrize("number", range(8))
def test_killed_while_writing(tmp_path: Path, number: int) -> None:
    """kill -9 at any moment: every event that was acknowledged is there, and nothing is odd."""
    path = tmp_path / "pygent.db"
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=environment
    )
    assert child.stdout is not None
    try:
        first = child.stdout.readline()
        time.sleep(random.Random(number).random() * 0.15)
    finally:
        child.kill()
    rest = child.communicate()[0]
    lines = (first + rest).split(b"\n")
    acknowledged = int(lines[-2])
    store = SQLiteStore(path)
    report = LoadReport()
    found = [one["seq"] for one in store.read("s", report=report)]
    assert found in (list(range(1, acknowledged + 1)), list(range(1, acknowledged + 2)))
    assert report.complete
    assert store.open("s") == 2
    store.append("s", {"type": "x", "session": "s", "seq": found[-1] + 1, "epoch": 2})
    store.close()
    assert check(path).complete


@pytest.mark.parametrize("step", ["create", "delete"])
def test_killed_while_creating_or_deleting(tmp_path: Path, step: str) -> None:
    """A session half made or half deleted is there or not, and its name can be used."""
    path = tmp_path / "pygent.db"
    code = f"""
import os, signal, sys
from pygent.store import SQLiteStore, statements
store = SQLiteStore(sys.argv[1])
store.create("t", at=1.0)
store.append("t", {{"type": "x", "seq": 1, "epoch": 1, "note": "n" * 70000}})
real = statements.{step}
def half(*args):
    real(*args)
    os.kill(os.getpid(), signal.SIGKILL)
statements.{step} = half
store.{step}(*{("s",) if step == "create" else ("t",)!r}, **{{"at": 1.0}} if "{step}" == "create" else {{}})
"""
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    store = SQLiteStore(path)
    assert [(info.id, info.events) for info in store.sessions()] == [("t", 1)]
    assert len(next(store.read("t"))["note"]) == 70_000
    store.create("s", at=1.0)
    store.close()


NO_ROOM = """
import os, sys
from pathlib import Path
from pygent.errors import StoreError
from pygent.store import LoadReport, SQLiteStore
folder = Path(sys.argv[1])
store = SQLiteStore(folder / "pygent.db")
store.create("s", at=1.0)
def event(seq, size):
    return {"type": "x", "session": "s", "seq": seq, "epoch": 1, "note": "n" * size}
written = []
failed = 0
room()
for seq in range(1, 5000):
    one = event(seq, 70000 if seq % 40 == 0 else 1000)
    try:
        store.append("s", one, sync=seq % 10 == 0)
    except StoreError as error:
        assert str(folder) in str(error) and "Traceback" not in str(error), error
        failed += 1
        try:
            store.append("s", one)
        except StoreError:
            break
    written.append(one)
assert failed, "never full"
assert list(store.read("s")) == written
more_room()
report = LoadReport()
store.append("s", one)
store.append("s", event(len(written) + 2, 70000))
assert list(store.read("s", report=report)) == [*written, one, event(len(written) + 2, 70000)]
assert report.complete
store.close()
again = SQLiteStore(folder / "pygent.db")
assert len(list(again.read("s"))) == len(written) + 2
again.close()
print("good", len(written))
"""
BY_LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def room(): resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
def more_room(): resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""
BY_MOUNT = """
import subprocess
def room(): pass
def more_room(): subprocess.run(["mount", "-o", "remount,size=8m", sys.argv[1]], check=True)
"""


@pytest.mark.parametrize("kind", ["limit", "mount"])
def test_no_room(tmp_path: Path, needs: Any, kind: str) -> None:
    """A full disk is an error, loses nothing that was acknowledged, and heals when there is room."""
    code = f"import sys\n{BY_LIMIT if kind == 'limit' else BY_MOUNT}{NO_ROOM}"
    command = [sys.executable, "-c", code, str(tmp_path)]
    if kind == "mount":
        mount = f"mount -t tmpfs -o size=512k t {tmp_path}"
        apart = needs("private_mounts")
        command = [*apart, "sh", "-c", f'{mount} && exec "$@"', "sh", *command]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)  # noqa: PLW1510
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("good")


def test_a_read_only_place(tmp_path: Path, needs: Any) -> None:
    """On a read-only file system a database is read, and writing says where it could not."""
    path = tmp_path / "pygent.db"
    store = SQLiteStore(path)
    store.create("s", at=1.0)
    store.append("s", event(1))
    store.close()
    code = f"""
from pygent.errors import StoreError
from pygent.store import SQLiteStore
store = SQLiteStore({str(path)!r}, read_only=True)
assert len(list(store.read("s"))) == 1
for place in ({str(path)!r}, {str(tmp_path / "new.db")!r}):
    try:
        SQLiteStore(place).open("s")
    except StoreError as error:
        assert place in str(error), error
    else:
        raise AssertionError(place)
"""
    mount = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}"
    done = subprocess.run(
        [
            *needs("private_mounts"),
            "sh",
            "-c",
            f'{mount} && exec "$@"',
            "sh",
            sys.executable,
            "-c",
            code,
        ],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_an_interrupt_at_every_line_of_append(tmp_path: Path, kind: str) -> None:
    """Ctrl-C at any line of an append: the event is there or not, and the store goes on."""
    files = {module.__file__ for module in (memory, sqlite, statements, rows)}
    store: Any = MemoryStore() if kind == "memory" else SQLiteStore(tmp_path / "pygent.db")
    for line in range(1, 200):
        name = f"s{line}"
        store.create(name, at=1.0)
        store.append(name, event(1))
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
            store.append(name, event(2), sync=line % 2 == 0)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(old)
        assert store._lock.acquire(blocking=False)
        store._lock.release()
        there = store.has(name, 2)
        assert store.last_seq(name) == (2 if there else 1)
        store.append(name, event(2))
        store.append(name, event(3))
        assert list(store.read(name)) == [event(1), event(2), event(3)]
        if left > 0:
            assert line > 10
            store.close()
            return
    raise AssertionError("the append never ended")


def test_sqlite_says_nothing_to_the_user(closed: Path) -> None:
    """Every failure of SQLite is a `StoreError` with the path, none of its own."""
    store = SQLiteStore(closed)
    connection = sqlite3.connect(closed)
    connection.execute("DROP TABLE session")
    connection.close()
    for use in (store.sessions, lambda: store.open("s"), lambda: store.append("s", event(99))):
        with pytest.raises(StoreError, match=str(closed)):
            use()
    store.close()
