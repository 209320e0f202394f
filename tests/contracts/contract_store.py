"""What every store promises. A test class for a store inherits `StoreContract`."""

from __future__ import annotations

import hashlib
import threading
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pygent.errors import SessionNotFound, StoreError
from pygent.store import LoadReport, Store

texts = st.text(st.characters(exclude_categories=()), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def event(seq: int, *, epoch: int = 1, session: str = "s", **more: Any) -> dict[str, Any]:
    """Return an event as a log would write it."""
    return {
        "type": "tool_finished",
        "session": session,
        "seq": seq,
        "epoch": epoch,
        "at": 1000.0 + seq,
        "version": 1,
        "content": f"out {seq}",
        **more,
    }


def said(seq: int, text: Any, role: str = "user") -> dict[str, Any]:
    """Return the event of a message."""
    return event(seq, type="message_added", message={"role": role, "content": text})


class StoreContract:
    """Inherit, and give the fixture ``store``."""

    def test_what_is_appended_is_read(self, store: Store) -> None:
        """Events come back as they were, in order, from any point and up to any number."""
        assert store.create("s", at=1.0) == 1
        written = [event(seq) for seq in range(1, 501)]
        for one in written:
            store.append("s", one)
        assert list(store.read("s")) == written
        assert list(store.read("s", 490)) == written[490:]
        assert list(store.read("s", 3, 2)) == written[3:5]
        assert list(store.read("s", 500)) == []
        assert list(store.read("s", 0, 0)) == []
        assert (store.last_seq("s"), store.has("s", 500), store.has("s", 501)) == (500, True, False)

    @settings(suppress_health_check=list(HealthCheck))  # one class runs it for every store
    @given(payload=st.dictionaries(texts.filter(lambda key: key != "seq"), json_values))
    def test_any_json_comes_back(self, store: Store, payload: dict[str, Any]) -> None:
        """Unknown kinds, unknown keys and every JSON value are kept as they are."""
        name = uuid4().hex
        store.create(name, at=1.0)
        one = {**payload, **event(1, session=name, type="kind_of_the_future"), "payload": payload}
        store.append(name, one)
        assert list(store.read(name)) == [one]

    def test_names_may_hold_anything(self, store: Store) -> None:
        """Session names, titles and workspaces are texts like others."""
        store.create("ünï/ \n'\"\0;--", at=1.0, title="t\ud800", workspace="/w\udcff", parent="p")
        (info,) = store.sessions(workspace="/w\udcff")
        assert (info.id, info.parent) == ("ünï/ \n'\"\0;--", "p")

    def test_a_session_is_created_once(self, store: Store) -> None:
        """A name that is taken is refused, and the session that has it is as before."""
        store.create("s", at=1.0, title="first")
        with pytest.raises(StoreError, match="'s' exists already"):
            store.create("s", at=2.0)
        assert store.sessions()[0].title == "first"

    @pytest.mark.parametrize(
        "use",
        [
            lambda store: store.open("no"),
            lambda store: store.append("no", event(1)),
            lambda store: store.has("no", 1),
            lambda store: store.last_seq("no"),
            lambda store: store.epoch("no"),
            lambda store: store.read("no"),
            lambda store: store.rename("no", "x"),
            lambda store: store.delete("no"),
        ],
    )
    def test_a_session_that_is_not_there(self, store: Store, use: Any) -> None:
        """The error names the session and where to look."""
        with pytest.raises(SessionNotFound, match=r"'no'.*pygent sessions"):
            use(store)

    def test_an_older_writer_is_fenced_out(self, store: Store) -> None:
        """Who opens a session takes it over: an append of an older epoch is refused."""
        store.create("s", at=1.0)
        store.append("s", event(1))
        assert store.open("s") == 2
        assert store.epoch("s") == 2
        with pytest.raises(StoreError, match="another process has taken this session over"):
            store.append("s", event(2))
        store.append("s", event(2, epoch=2))
        assert [one["epoch"] for one in store.read("s")] == [1, 2]
        assert store.open("s") == 3

    def test_a_number_is_taken_once(self, store: Store) -> None:
        """The same number for another event is refused; the very same event again is nothing."""
        store.create("s", at=1.0)
        store.append("s", event(1))
        store.append("s", event(2))
        store.append("s", event(2))
        store.append("s", event(1), sync=True)
        with pytest.raises(StoreError, match="another writer has been there"):
            store.append("s", event(2, content="other"))
        assert list(store.read("s")) == [event(1), event(2)]
        assert store.sessions()[0].events == 2

    @pytest.mark.parametrize(
        "change",
        [
            {"seq": 0},
            {"seq": "1"},
            {"seq": None},
            {"seq": True},
            {"epoch": 0},
            {"type": None},
            {"at": "noon"},
        ],
    )
    def test_what_is_no_event_is_refused(self, store: Store, change: dict[str, Any]) -> None:
        """An envelope that makes no sense is refused with the value, and nothing is written."""
        store.create("s", at=1.0)
        with pytest.raises(StoreError, match="needs a"):
            store.append("s", {**event(1), **change})
        assert list(store.read("s")) == []

    def test_a_gap_is_reported(self, store: Store) -> None:
        """Numbers that are missing are named in the report."""
        store.create("s", at=1.0)
        for seq in (1, 3, 7):
            store.append("s", event(seq))
        report = LoadReport()
        assert [one["seq"] for one in store.read("s", report=report)] == [1, 3, 7]
        assert report.read == 3
        assert report.lost == [("s", "event 2 is missing"), ("s", "events 4 to 6 are missing")]

    def test_listing(self, store: Store) -> None:
        """The session that was last written to comes first, with its counts and its beginning."""
        store.create("old", at=1.0, title="The old one", workspace="/a", parent="p")
        store.create("new", at=2.0, workspace="/b")
        store.append("old", said(1, "be brief", role="system"))
        store.append("old", said(2, "  fix\nthe   test " + "x" * 500))
        store.append("old", said(3, "and again"))
        old, new = store.sessions()
        assert (old.id, old.title, old.workspace, old.parent) == ("old", "The old one", "/a", "p")
        assert (old.created, old.updated, old.events) == (1.0, 1003.0, 3)
        assert old.preview is not None
        assert old.preview.startswith("fix the test xxx")
        assert len(old.preview) == 200
        assert (new.id, new.updated, new.events, new.preview) == ("new", 2.0, 0, None)
        assert [info.id for info in store.sessions(workspace="/b")] == ["new"]
        assert [info.id for info in store.sessions(limit=1, offset=1)] == ["new"]
        assert store.sessions(limit=0) == []
        assert store.sessions(workspace="/c") == []

    def test_rename(self, store: Store) -> None:
        """A title can be given, changed and taken away."""
        store.create("s", at=1.0)
        for title in ("one", "two", None):
            store.rename("s", title)
            assert store.sessions()[0].title == title

    def test_delete(self, store: Store) -> None:
        """A deleted session is gone, its name free, and all others are there."""
        for name in ("s", "t"):
            store.create(name, at=1.0)
            store.append(name, event(1, session=name))
        store.delete("s")
        assert [info.id for info in store.sessions()] == ["t"]
        store.create("s", at=2.0)
        assert list(store.read("s")) == []
        assert len(list(store.read("t"))) == 1

    def test_blobs(self, store: Store) -> None:
        """Bytes come back under their SHA-256; an unknown name is an error."""
        data = bytes(range(256)) * 300
        digest = store.put_blob(data)
        assert digest == hashlib.sha256(data).hexdigest() == store.put_blob(data)
        assert store.get_blob(digest) == data
        assert store.get_blob(store.put_blob(b"")) == b""
        for wrong in ("0" * 64, "../../etc/passwd"):
            with pytest.raises(StoreError):
                store.get_blob(wrong)

    def test_large_texts_come_back(self, store: Store) -> None:
        """A large text anywhere in an event is read as it was written."""
        large = "ü\0\ud800x" * 30_000
        one = event(1, content=[{"text": large}, large, "small"], note=large)
        store.create("s", at=1.0)
        store.append("s", one, sync=True)
        store.append("s", one)
        assert list(store.read("s")) == [one]
        with pytest.raises(StoreError, match="another writer"):
            store.append("s", {**one, "note": large + "!"})

    def test_threads(self, store: Store) -> None:
        """Threads that write sessions of their own, and read others, do not disturb each other."""
        failures: list[BaseException] = []
        names = ["a", "b"]
        for name in names:
            store.create(name, at=1.0)

        def work(name: str, other: str) -> None:
            try:
                for seq in range(1, 151):
                    store.append(name, event(seq, session=name))
                    if seq % 50 == 0:
                        found = [one["seq"] for one in store.read(other)]
                        assert found == list(range(1, len(found) + 1))
            except BaseException as error:  # noqa: BLE001 - told below
                failures.append(error)

        threads = [threading.Thread(target=work, args=pair) for pair in ("ab", "ba")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert all(len(list(store.read(name))) == 150 for name in names)

    def test_one_of_two_writers_wins(self, store: Store) -> None:
        """Of two threads that write the same numbers, each number has one winner."""
        store.create("s", at=1.0)
        won: list[tuple[int, int]] = []
        start = threading.Barrier(2)

        def work(me: int) -> None:
            start.wait()
            for seq in range(1, 101):
                try:
                    store.append("s", event(seq, writer=me))
                except StoreError:
                    continue
                won.append((seq, me))

        threads = [threading.Thread(target=work, args=(me,)) for me in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [(one["seq"], one["writer"]) for one in store.read("s")] == sorted(won)

    def test_closing_twice(self, store: Store) -> None:
        """Closing a closed store is nothing."""
        store.close()
        store.close()
