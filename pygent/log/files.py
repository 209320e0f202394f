"""Files that follow a conversation while it grows."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..errors import StoreError
from ..messages import parse_message
from ..store import HistoryFile

__all__ = ["Follower", "MessageFile", "Mirror", "plain"]

Entry = Mapping[str, Any]


class Follower(Protocol):
    """What a log tells of each message."""

    path: Path

    def append(self, seq: int, message: Entry) -> None:
        """Write the message that event ``seq`` added; the same event twice is written once."""

    def rewrite(self, messages: Sequence[Entry]) -> None:
        """Take these messages as the whole conversation."""

    def close(self) -> None:
        """Release the file."""


class Mirror:
    """The conversation as a JSON array in a `HistoryFile`."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._file = HistoryFile(self.path)
        self._begun = 0
        self._done = 0

    def load(self) -> list[dict[str, Any]]:
        """Return the messages that the file has."""
        messages, _ = self._file.load()
        return messages

    def append(self, seq: int, message: Entry) -> None:
        """Write the message at the end of the array."""
        if seq and (seq <= self._done or (seq == self._begun and self._is_last(message))):
            return
        self._begun = seq
        self._file.append(message)
        self._done = seq

    def _is_last(self, message: Entry) -> bool:
        """Whether the write that was interrupted had been done by then."""
        written = self.load()
        return bool(written) and written[-1] == message

    def rewrite(self, messages: Sequence[Entry]) -> None:
        """Write the array again."""
        self._file.rewrite(list(messages))

    def close(self) -> None:
        """Close the file; an append opens it again."""
        self._file.close()


class MessageFile:
    """Each message as one line of JSON, for people to read while an agent works."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._last = 0
        self._descriptor: int | None = None

    def append(self, seq: int, message: Entry) -> None:
        """Write the message as a line; one write, so that lines of two writers never mix."""
        if seq and seq <= self._last:
            return
        os.write(self._open(), json.dumps(message).encode() + b"\n")
        self._last = seq

    def rewrite(self, messages: Sequence[Entry]) -> None:
        """Do nothing: what was said stays said."""

    def close(self) -> None:
        """Close the file; an append opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
                self._descriptor = os.open(self.path, flags, 0o600)
            except OSError as error:
                raise StoreError(
                    f"cannot write the log file {self.path}: {error.strerror}; "
                    "name another one with log_file= or PYGENT_LOG_FILE"
                ) from error
        return self._descriptor


def plain(entry: Any) -> dict[str, Any]:
    """Return a message as the plain dictionary of the wire."""
    return dict(entry) if isinstance(entry, Mapping) else parse_message(entry).to_dict()
