"""The errors that every store raises in the same words."""

from __future__ import annotations

from ..errors import SessionNotFound, StoreError

__all__ = ["exists_already", "no_session", "number_taken", "taken_over"]


def no_session(session: str) -> SessionNotFound:
    """Return the error for a session that is not there."""
    return SessionNotFound(f"no session {session!r}: `pygent sessions list` shows those there are")


def exists_already(session: str) -> StoreError:
    """Return the error for a session that is there."""
    return StoreError(f"session {session!r} exists already: choose another name, or open it")


def taken_over(session: str, epoch: int, now: int) -> StoreError:
    """Return the error for a writer of an older epoch."""
    return StoreError(
        f"another process has taken this session over: {session!r} is at epoch {now}, "
        f"we write epoch {epoch}; stop here, or open the session again"
    )


def number_taken(session: str, seq: int) -> StoreError:
    """Return the error for a number that is not free."""
    return StoreError(
        f"another writer has been there: session {session!r} has an event {seq} or a later one, "
        "and not this one; open the session again"
    )
