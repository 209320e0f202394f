"""Sessions as JSON Lines: one event per line, for people, other programs and other machines."""

from __future__ import annotations

import bisect
import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import StoreError
from ..events import FORMAT_VERSION
from .protocol import LoadReport, Store
from .record import NotAnEvent, envelope_of, event_text, parse_object

__all__ = ["export_jsonl", "import_jsonl"]

_LONGEST = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"

Target = str | os.PathLike[str] | IO[bytes] | IO[str]


def export_jsonl(store: Store, session: str, target: Target) -> LoadReport:
    """Write a session, an event to a line, to a path (whole or not at all) or to an open file."""
    report = LoadReport()
    events = store.read(session, report=report)
    if isinstance(target, (str, os.PathLike)):
        _export_to(Path(target), events)
    else:
        text = isinstance(target, io.TextIOBase)
        for event in events:
            line = event_text(event)[0] + "\n"
            target.write(line if text else line.encode())  # type: ignore[arg-type]
    return report


def _export_to(path: Path, events: Iterator[dict[str, Any]]) -> None:
    import tempfile

    try:
        number, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.writelines(event_text(event)[1] + b"\n" for event in events)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def import_jsonl(
    store: Store, source: Target, *, session: str | None = None, longest: int = _LONGEST
) -> LoadReport:
    """Make a new session of what `export_jsonl` wrote; ``session`` gives it another name.

    A line that is no event is left out and named in the report, as is one of more than
    ``longest`` bytes. A file of a newer format is refused, and nothing is written.
    """
    try:
        with contextlib.ExitStack() as stack:
            file = _bytes_of(source, stack)
            report = LoadReport()
            name, places = _survey(file, longest, report)
            if not places:
                raise StoreError(f"no events in {_name(source)}: is it a session in JSON Lines?")
            _fill(store, session or name, file, places, report)
    except OSError as error:
        raise StoreError(f"cannot read {_name(source)}: {error.strerror}") from error
    return report


def _name(source: Target) -> str:
    name = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    return "the file" if name is None else str(name)


def _bytes_of(source: Target, stack: contextlib.ExitStack) -> IO[bytes]:
    """Return the source as bytes that can be read twice."""
    if isinstance(source, (str, os.PathLike)):
        return stack.enter_context(Path(source).open("rb"))
    import tempfile

    spool = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    while piece := source.read(1 << 20):
        spool.write(piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece)
    spool.seek(0)
    return spool


def _lines(
    file: IO[bytes], longest: int, report: LoadReport
) -> Iterator[tuple[int, int, int, dict[str, Any]]]:
    """Yield number, place, length and object of each line that has one."""
    number = 0
    while True:
        start = file.tell()
        line = file.readline(longest + 1)
        if not line:
            return
        number += 1
        if len(line) > longest:
            while line and not line.endswith(b"\n"):
                line = file.readline(1 << 20)
            report.lose("", f"line {number}: longer than {longest} bytes")
            continue
        end = file.tell()
        if line.strip(b"\r\n \t"):
            try:
                yield number, start, len(line), parse_object(line.removeprefix(_BOM))
            except NotAnEvent as error:
                report.lose("", f"line {number}: {error}")
        file.seek(end)


def _survey(
    file: IO[bytes], longest: int, report: LoadReport
) -> tuple[str, dict[int, tuple[int, int]]]:
    """Return the session's name, and where the event of each number is."""
    name: str | None = None
    places: dict[int, tuple[int, int]] = {}
    for number, start, length, event in _lines(file, longest, report):
        version = event.get("version", FORMAT_VERSION)
        if type(version) is int and version > FORMAT_VERSION:
            raise StoreError(
                f"line {number} is of format {version}, and this Pygent reads {FORMAT_VERSION}: "
                "update Pygent; nothing was imported"
            )
        try:
            seq = envelope_of(event)[0]
        except StoreError as error:
            report.lose("", f"line {number}: {error}")
            continue
        owner = event.get("session")
        if not isinstance(owner, str) or owner != (name or owner):
            report.lose("", f"line {number}: of another session, {owner!r}")
            continue
        name = owner
        if seq not in places:
            places[seq] = (start, length)
        elif _at(file, places[seq]) != event:
            report.lose(owner, f"line {number}: another event {seq}; the first one was kept")
    return name or "", places


def _at(file: IO[bytes], place: tuple[int, int]) -> dict[str, Any]:
    file.seek(place[0])
    return parse_object(file.read(place[1]).removeprefix(_BOM))


def _fill(
    store: Store,
    session: str,
    file: IO[bytes],
    places: dict[int, tuple[int, int]],
    report: LoadReport,
) -> None:
    numbers = _in_step(file, places, session, report)
    first = _at(file, places[numbers[0]])
    described = {
        name: first[name]
        for name in ("parent", "title", "workspace")
        if isinstance(first.get(name), str)
    }
    store.create(session, at=envelope_of(first)[2], **described)
    try:
        after = 0
        for seq in numbers:
            report.lose_between(session, after, seq)
            after = seq
            event = _at(file, places[seq])
            if event["session"] != session:
                event["session"] = session
            store.append(session, event)
            report.read += 1
    except BaseException:
        with contextlib.suppress(StoreError):
            store.delete(session)
        raise


def _in_step(
    file: IO[bytes], places: dict[int, tuple[int, int]], session: str, report: LoadReport
) -> list[int]:
    """Return the numbers in order, without those few whose epoch does not fit to the others'.

    Epochs only ever rise, so the longest rising series is kept; in a good file that is all.
    """
    seqs = sorted(places)
    epochs = [envelope_of(_at(file, places[seq]))[1] for seq in seqs]
    tops: list[int] = []  # the lowest epoch that ends a series of each length
    ends: list[int] = []  # and the place of the event that has it
    before: list[int] = []
    for place, epoch in enumerate(epochs):
        length = bisect.bisect_right(tops, epoch)
        tops[length : length + 1] = [epoch]
        ends[length : length + 1] = [place]
        before.append(ends[length - 1] if length else -1)
    kept = []
    place = ends[-1]
    while place >= 0:
        kept.append(seqs[place])
        place = before[place]
    for seq in sorted(set(seqs) - set(kept)):
        report.lose(session, f"event {seq} has an epoch out of order")
    return kept[::-1]
