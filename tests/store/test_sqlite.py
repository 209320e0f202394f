"""The store in SQLite: the contract, files, formats, processes, and what an append costs."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pygent.errors import StoreError
from pygent.store import LoadReport, SQLiteStore, Store
from tests.contracts.contract_store import StoreContract, event

LARGE = "x" * 100_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "deep" / "pygent.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    with_store = SQLiteStore(path)
    yield with_store
    with_store.close()


class TestSQLiteStore(StoreContract):
    """`SQLiteStore` keeps the contract."""

    @pytest.fixture
    def store(self, path: Path) -> Iterator[Store]:
        with_store = SQLiteStore(path)
        yield with_store
        with_store.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_written_is_there_for_the_next_process(path: Path) -> None:
    """A store that is opened again has every session, with its epoch."""
    first = SQLiteStore(path)
    first.create("s", at=1.0, title="t")
    first.append("s", event(1, note=LARGE))
    first.close()
    second = SQLiteStore(path)
    assert list(second.read("s")) == [event(1, note=LARGE)]
    assert second.open("s") == 2
    assert second.report.complete
    second.close()
    with pytest.raises(StoreError, match="closed"):
        second.sessions()


def test_files_are_private(store: SQLiteStore, path: Path) -> None:
    """Nobody else may read the folder, the database, its log and the blobs."""
    store.create("s", at=1.0)
    store.append("s", event(1, note=LARGE))
    assert mode(path.parent) == mode(store.blobs.folder) == 0o700
    files = [entry for entry in path.parent.rglob("*") if entry.is_file()]
    assert len(files) == 4
    assert {mode(entry) & 0o077 for entry in files} == {0}


def test_large_texts_are_files_and_deleted_with_their_last_session(
    store: SQLiteStore, path: Path
) -> None:
    """A text of more than 64 KiB is one file, however many events have it."""
    kept = store.put_blob(b"kept for good")
    for name in ("s", "t"):
        store.create(name, at=1.0)
        store.append(name, event(1, session=name, note=LARGE, again=[LARGE]))

    def blobs() -> list[str]:
        return sorted(entry.name for entry in store.blobs.folder.rglob("*") if entry.is_file())

    assert len(blobs()) == 2
    assert path.with_name("pygent.db-wal").stat().st_size < 2 * len(LARGE)
    store.delete("s")
    assert len(blobs()) == 2
    store.delete("t")
    assert blobs() == [kept]


def test_a_text_that_looks_like_a_reference_is_a_text(store: SQLiteStore) -> None:
    """Nothing that an event holds is taken for the place of a blob."""
    digest = store.put_blob(b"secret")
    one = event(1, content={"$blob": digest}, blobs=[[["content"], digest, 6]])
    store.create("s", at=1.0)
    store.append("s", one)
    assert list(store.read("s")) == [one]


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_lost_blob_is_said_and_not_raised(store: SQLiteStore, damage: str) -> None:
    """Reading goes on past a blob that is missing or wrong, with a word in its place."""
    store.create("s", at=1.0)
    store.append("s", event(1, note=LARGE))
    store.append("s", event(2))
    (blob,) = (entry for entry in store.blobs.folder.rglob("*") if entry.is_file())
    if damage == "missing":
        blob.unlink()
    else:
        blob.write_text("y" * len(LARGE))
    report = LoadReport()
    first, second = store.read("s", report=report)
    assert first["note"].startswith("[100000 bytes of text are lost")
    assert second == event(2)
    assert len(report.lost) == 1
    assert blob.name in report.lost[0][1]


def test_a_newer_format_is_read_and_not_written(path: Path) -> None:
    """A database of a newer Pygent can be read; writing says what to do."""
    old = SQLiteStore(path)
    old.create("s", at=1.0)
    old.append("s", event(1))
    old.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=2")
    connection.close()
    store = SQLiteStore(path)
    assert list(store.read("s")) == [event(1)]
    with pytest.raises(StoreError, match=r"newer Pygent \(format 2.*update Pygent"):
        store.append("s", event(2))
    store.close()


def test_read_only(path: Path) -> None:
    """A store opened for reading writes nothing and makes nothing."""
    with pytest.raises(StoreError, match="no database at"):
        SQLiteStore(path, read_only=True)
    assert not path.parent.exists()
    SQLiteStore(path).close()
    store = SQLiteStore(path, read_only=True)
    with pytest.raises(StoreError, match="for reading only"):
        store.create("s", at=1.0)
    store.close()


def test_other_files_are_refused(tmp_path: Path) -> None:
    """What is no database of ours is named, and left as it is."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("no database at all, " * 100)
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = (tmp_path / "other").read_bytes()
    for name in (".", "pipe", "text", "other"):
        with pytest.raises(StoreError, match=str(tmp_path / name).rstrip("/.")):
            SQLiteStore(tmp_path / name)
    assert (tmp_path / "other").read_bytes() == before
    with pytest.raises(StoreError, match="cannot make the database"):
        SQLiteStore(tmp_path / "text" / "pygent.db")


def test_a_forked_child_has_a_connection_of_its_own(store: SQLiteStore) -> None:
    """A child of fork reads and writes without touching what it inherited."""
    store.create("s", at=1.0)
    store.append("s", event(1))
    inherited = store._connection
    child = os.fork()
    if not child:
        status = 1
        try:
            assert [one["seq"] for one in store.read("s")] == [1]
            assert store._connection is not inherited
            store.append("s", event(2))
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    store.append("s", event(3))
    assert [one["seq"] for one in store.read("s")] == [1, 2, 3]


WRITER = """
import sys
from pygent.errors import StoreError
from pygent.store import SQLiteStore
store = SQLiteStore(sys.argv[1])
name = sys.argv[2]
try:
    store.create(name, at=1.0)
except StoreError:
    pass
won = 0
for seq in range(1, 101):
    try:
        store.append(name, {"type": "x", "session": name, "seq": seq, "epoch": 1, "w": sys.argv[3]})
        won += 1
    except StoreError as error:
        assert "another writer" in str(error), error
print(won)
"""


@pytest.mark.parametrize("names", [("a", "b"), ("s", "s")])
def test_two_processes(path: Path, names: tuple[str, str]) -> None:
    """Two processes make and use one database; no event is lost, doubled or interleaved."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(number)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        for number, name in enumerate(names)
    ]
    won = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    store = SQLiteStore(path)
    found = [one["seq"] for name in set(names) for one in store.read(name)]
    store.close()
    assert sorted(found) == sorted([*range(1, 101)] * len(set(names)))
    assert sum(won) == len(found)


def statements_of(store: SQLiteStore, seq: int) -> list[str]:
    said: list[str] = []
    assert store._connection is not None
    store._connection.set_trace_callback(said.append)
    store.append("s", event(seq))
    store._connection.set_trace_callback(None)
    return said


def test_an_append_costs_the_same_at_any_length(store: SQLiteStore, path: Path) -> None:
    """The statements and the bytes of an append do not grow with the session."""
    log = path.with_name("pygent.db-wal")
    store.create("s", at=1.0)
    assert store._connection is not None
    store._connection.execute("PRAGMA wal_autocheckpoint=0")
    cost = {}
    for seq in range(1, 2002):
        if seq in (10, 2000):
            before = log.stat().st_size
            count = len(statements_of(store, seq))
            for _ in range(1):
                cost[seq] = (count, (log.stat().st_size - before) // 8192)
        else:
            store.append("s", event(seq))
    assert cost[10][0] == cost[2000][0] == 4
    assert cost[2000][1] <= cost[10][1] + 1


def test_synced_appends_reach_the_disk(store: SQLiteStore) -> None:
    """An append with ``sync`` runs at SQLite's full level, others do not."""
    store.create("s", at=1.0)
    said: list[str] = []
    assert store._connection is not None
    store._connection.set_trace_callback(said.append)
    store.append("s", event(1), sync=True)
    store.append("s", event(1), sync=True)
    store.append("s", event(2))
    text = " ".join(said)
    assert text.count("FULL") == text.count("NORMAL") == 2
    assert text.index("FULL") < text.index("BEGIN") < text.index("COMMIT") < text.index("NORMAL")


def test_a_page_of_ten_thousand_sessions(store: SQLiteStore) -> None:
    """The first page of a long list comes through an index, in well under half a second."""
    assert store._connection is not None
    store._connection.execute("BEGIN")
    store._connection.executemany(
        "INSERT INTO session VALUES (?, 1, 5, 5, 1.0, ?, NULL, 'title', ?, 'preview')",
        ((f"s{number}", float(number), f"/w{number % 3}") for number in range(10_000)),
    )
    store._connection.execute("COMMIT")
    start = time.perf_counter()
    first = store.sessions(limit=50)
    there = store.sessions(workspace="/w0", limit=50)
    assert time.perf_counter() - start < 0.5
    assert [info.id for info in first[:2]] == ["s9999", "s9998"]
    assert [info.id for info in there[:2]] == ["s9999", "s9996"]
    for where in ("", "WHERE workspace = '/w0'"):
        plan = store._connection.execute(
            f"EXPLAIN QUERY PLAN SELECT * FROM session {where} ORDER BY updated DESC, id DESC"
        ).fetchall()
        assert "TEMP B-TREE" not in str(plan)
        assert "USING INDEX" in str(plan)
