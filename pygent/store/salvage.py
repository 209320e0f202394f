"""Reading what is left of a damaged database, and naming what is not."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreError
from .blobs import BlobFolder, put_back
from .carve import Pages, Place, as_event, as_session
from .protocol import LoadReport, SessionInfo, Store
from .record import parse_object
from .rows import unpack
from .wal import damage_of, log_of

__all__ = ["Aside", "bring_back", "salvage_files", "set_aside"]


class _Found:
    """What the pages hold of one session."""

    def __init__(self) -> None:
        self.places: dict[int, Place] = {}
        self.info: SessionInfo | None = None

    def learn(self, info: SessionInfo) -> None:
        """Keep the newer of two rows about the session."""
        if self.info is None or (info.events, info.updated) >= (
            self.info.events,
            self.info.updated,
        ):
            self.info = info


def _search(pages: Pages, *, log_only: bool) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    for place, values in pages.places(log_only=log_only):
        carved = as_event(values)
        if carved is not None:
            found.setdefault(carved[0], _Found()).places.setdefault(carved[1], place)
        elif (info := as_session(values)) is not None:
            found.setdefault(info.id, _Found()).learn(info)
    return found


def salvage_files(
    path: Path, blobs: Path, into: Store, report: LoadReport, *, log_only: bool = False
) -> None:
    """Append to ``into`` the events that it lacks; name in ``report`` those that are lost."""
    pages = Pages(path)
    folder = BlobFolder(blobs)
    known = {info.id for info in into.sessions()}
    for session, found in sorted(_search(pages, log_only=log_only).items()):
        if session not in known:
            if log_only and not found.places:
                continue
            _create(into, session, found, pages)
        start = into.last_seq(session)
        after = start
        for seq in sorted(found.places):
            if seq <= start:
                continue
            report.lose_between(session, after, seq)
            after = seq
            name, _, data, where, crc = pages.event(found.places[seq])
            event = unpack(name, seq, data, where, crc)
            if where is not None:
                for lost in put_back(event, json.loads(where), folder):
                    report.lose(session, lost)
            into.append(session, event)
            report.read += 1
        last = found.info.events if found.info else 0
        report.lose_between(session, after, last + 1)


def _create(into: Store, session: str, found: _Found, pages: Pages) -> None:
    info = found.info
    if info is not None:
        into.create(
            session,
            at=info.created,
            parent=info.parent,
            title=info.title,
            workspace=info.workspace,
        )
        return
    first = parse_object(pages.event(found.places[min(found.places)])[2])
    described: dict[str, Any] = {
        name: first[name]
        for name in ("parent", "title", "workspace")
        if isinstance(first.get(name), str)
    }
    into.create(session, at=float(first.get("at", 0.0)), **described)


def _copy(path: Path) -> Path:
    """Copy a database and its log, as they are, to names beside them; return the database's."""
    import shutil

    for number in itertools.count(1):
        copy = path.with_name(f"{path.name}.damaged-{number}")
        try:
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            continue
        break
    shutil.copyfile(path, copy)
    if log_of(path).exists():
        shutil.copyfile(log_of(path), log_of(copy))
        log_of(copy).chmod(0o600)
    return copy


@dataclass(frozen=True, slots=True)
class Aside:
    """A copy of damaged files, and what is wrong with them."""

    copy: Path
    what: str


def set_aside(path: Path) -> Aside | None:
    """Copy the files of a database whose log is damaged, before SQLite drops the damaged part."""
    try:
        what = damage_of(path)
        if what is None:
            return None
        if what.startswith("the database is cut"):
            raise StoreError(
                f"{path} is damaged: {what}; pygent.store.salvage(path, into) reads what is left"
            )
        return Aside(_copy(path), what)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error


def bring_back(aside: Aside, into: Store, blobs: Path, report: LoadReport) -> None:
    """Append what SQLite dropped from the damaged log, and name what stays lost."""
    report.lose("", f"{aside.what}; the files as they were found are in {aside.copy}")
    salvage_files(aside.copy, blobs, into, report, log_only=True)
