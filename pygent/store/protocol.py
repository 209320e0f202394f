"""What a store promises, and the plain data it hands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

__all__ = ["LoadReport", "SessionInfo", "Store"]


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session, as a list shows it; ``preview`` is the start of the first user message."""

    id: str
    created: float
    updated: float
    events: int = 0
    title: str | None = None
    parent: str | None = None
    workspace: str | None = None
    preview: str | None = None


@dataclass(slots=True)
class LoadReport:
    """How reading went: how much was ``read``, and what was ``lost``, as (session, what) pairs.

    A loss that belongs to no one session has an empty name.
    """

    read: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing was lost."""
        return not self.lost

    def lose(self, session: str, what: str) -> None:
        """Name one loss."""
        self.lost.append((session, what))

    def lose_between(self, session: str, after: int, before: int) -> None:
        """Name the events between two numbers, if there are any."""
        if before - after == 2:
            self.lose(session, f"event {after + 1} is missing")
        elif before - after > 2:
            self.lose(session, f"events {after + 1} to {before - 1} are missing")


@runtime_checkable
class Store(Protocol):
    """Keeps the events of sessions, as the dictionaries that `event_to_dict` makes.

    Safe to use from several threads. Each session has an epoch: whoever opens it raises the
    epoch, and from then on what writers of an older epoch append is refused.
    """

    def create(
        self,
        session: str,
        *,
        at: float,
        parent: str | None = None,
        title: str | None = None,
        workspace: str | None = None,
    ) -> int:
        """Begin a session and return its first epoch, 1; a `StoreError` if it exists."""
        ...

    def open(self, session: str) -> int:
        """Take a session over: raise its epoch by one, and return it."""
        ...

    def append(self, session: str, event: Mapping[str, Any], *, sync: bool = False) -> None:
        """Record one event, wholly or not at all; with ``sync`` it survives a power cut too.

        Refused, as a `StoreError`: an epoch older than the session's, and a number (``seq``) that
        is not above all before it. The very same event again is no error and changes nothing.
        """
        ...

    def has(self, session: str, seq: int) -> bool:
        """Return whether the session has an event of that number."""
        ...

    def last_seq(self, session: str) -> int:
        """Return the number of the last event, 0 before the first."""
        ...

    def epoch(self, session: str) -> int:
        """Return the session's epoch, without raising it."""
        ...

    def read(
        self,
        session: str,
        after: int = 0,
        limit: int | None = None,
        *,
        report: LoadReport | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the events numbered above ``after``, in order.

        What is damaged is left out, or stands as a placeholder, and is named in ``report``.
        """
        ...

    def sessions(
        self, *, workspace: str | None = None, limit: int | None = None, offset: int = 0
    ) -> list[SessionInfo]:
        """Return the sessions, the one that was last written to first."""
        ...

    def rename(self, session: str, title: str | None) -> None:
        """Give a session another title."""
        ...

    def delete(self, session: str) -> None:
        """Forget a session: its events, and the large texts that no other session has."""
        ...

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes for good, and return their SHA-256 as the name to get them by."""
        ...

    def get_blob(self, digest: str) -> bytes:
        """Return what was put; a `StoreError` if it is missing or no longer what it was."""
        ...

    def close(self) -> None:
        """Let go of files. A closed store cannot be used again; closing twice is fine."""
        ...
