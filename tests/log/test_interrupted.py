"""An interrupt at any line of an append leaves the record complete or absent, never half."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import pytest

import pygent
from pygent.events import HistoryEdited, MessageAdded, ModelReplied, SystemChanged, ToolFinished
from pygent.log import Log, Mirror
from pygent.store import MemoryStore, SQLiteStore
from tests.log.test_log import folded, said, shown

OURS = str(Path(pygent.__file__).parent)
EVENTS = [
    said("hello"),
    MessageAdded(message={"role": "system", "content": "s"}),
    ModelReplied(
        message={
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            ],
        }
    ),
    ToolFinished(call="1", name="bash", content="out"),
    SystemChanged(content="new"),
    HistoryEdited(messages=[{"role": "user", "content": "only"}]),
]


class InterruptAt:
    """Raises KeyboardInterrupt at the n-th line of our code that runs within a `with` block."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __enter__(self):
        gc.disable()  # what the collector finds is not ours, and an interrupt there is lost
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)
        gc.enable()

    @property
    def fired(self):
        return self.left <= 0

    def trace(self, frame, what, arg):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if what == "line" and not self.fired:
            self.left -= 1
            if self.fired:
                raise KeyboardInterrupt
        return self.trace


def prepared(kind, path, first):
    """Return a log with two messages, or, for the ``first`` append, with none."""
    store = {"none": lambda: None, "memory": MemoryStore, "sqlite": lambda: SQLiteStore(path)}[kind]
    log = Log(store())
    if not first:
        log.append(said("before"))
        log.append(said("too"))
    return log


@pytest.mark.parametrize("first", [False, True], ids=["later", "first"])
@pytest.mark.parametrize("kind", ["none", "memory", "sqlite"])
def test_an_interrupt_at_each_line_of_an_append(tmp_path, kind, first):
    """The record is there or not; the state is the fold of the events; the next append is fine."""
    for which, event in enumerate(EVENTS[:1] if first else EVENTS):
        line = 0
        while True:
            line += 1
            log = prepared(kind, tmp_path / f"{which}-{line}.db", first)
            before, told = log.state.seq, []
            log.subscribe(lambda event, told=told: told.append(event.seq))
            interrupt = InterruptAt(line)
            try:
                with interrupt:
                    log.append(event)
            except KeyboardInterrupt:
                pass
            last = log.append(said("after"))
            events = list(log.events())
            assert [e.seq for e in events] == list(range(1, last.seq + 1)), (event, line)
            assert last.seq in (before + 1, before + 2), (event, line)
            assert last.seq == before + 2 or not told[:-1], (event, line)
            assert len(told) == len(set(told)), (event, line)
            assert shown(folded(log)) == shown(log.state), (event, line)
            assert json.loads(log.history.wire()) == [dict(m) for m in log.history], (event, line)
            if log.store is not None:
                log.store.close()
            if not interrupt.fired:
                assert last.seq == before + 2
                break
        assert line > 5


def test_an_interrupt_while_the_history_file_is_written(tmp_path):
    """The file has each message once, whatever line the interrupt came at."""
    line = 0
    while True:
        line += 1
        log = prepared("none", None, first=False)
        path = tmp_path / f"{line}.json"
        log.follow(Mirror(path))
        interrupt = InterruptAt(line)
        try:
            with interrupt:
                log.append(said("x"))
        except KeyboardInterrupt:
            pass
        log.append(said("after"))
        assert json.loads(path.read_text()) == [dict(m) for m in log.history], line
        log.close()
        if not interrupt.fired:
            break


def test_the_lock_is_free_after_an_interrupt(tmp_path):
    """Another thread can append, at whatever line the interrupt came."""
    import threading

    line = 0
    while True:
        line += 1
        log = prepared("none", None, first=False)
        interrupt = InterruptAt(line)
        try:
            with interrupt:
                log.append(said("x"))
        except KeyboardInterrupt:
            pass
        other = threading.Thread(target=log.append, args=(said("other"),), daemon=True)
        other.start()
        other.join(5)
        assert not other.is_alive(), line
        if not interrupt.fired:
            break
