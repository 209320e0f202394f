"""A conversation as a file that is a JSON array at every moment."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigError, StoreError
from ..messages import Message, wire_bytes
from .history_io import locked, open_regular, read_all, replace, save_torn
from .history_text import Broken, array_of, parse_array, tail_of
from .protocol import LoadReport

__all__ = ["HistoryFile"]

_TAIL = 4096
_END = b"\n]"


class HistoryFile:
    """Messages in a JSON array, which `json.loads` reads after every `append`.

    An append overwrites the closing bracket in place, so that its cost does not grow with the
    file. What a crash left half written is moved aside before the next one, never dropped, and
    a file that is no array of messages is refused and left as it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._file: int | None = None
        self._size = -1  # of the file as we left it; -1 before we know it
        self._place = 0  # where the next entry goes
        self._rest = b""  # what is there now, up to the end
        self._empty = True

    def load(self) -> tuple[list[dict[str, Any]], LoadReport]:
        """Return the messages that are there, and what was lost of them; changes nothing.

        A missing or empty file has none. What cannot be a history is a `ConfigError`.
        """
        report = LoadReport()
        with self._lock:
            file = self._opened(create=False)
            if file is None:
                return [], report
            with self._told("read"), locked(file, self.path):
                messages, bad = self._parse(file)
        report.read = len(messages)
        if bad is not None:
            report.lose(
                "",
                f"{self.path} is damaged: {len(bad)} bytes of it are no message; "
                f"the next message moves them to {self.path.name}.torn-…",
            )
        return messages, report

    def append(self, message: Mapping[str, Any] | Message) -> None:
        """Add one message to the end of the array, in one write."""
        entry = self._entry(message)
        # On one line, so that nothing can interrupt between the body and the lock's release.
        with self._lock: self._append(entry)  # fmt: skip  # noqa: E701

    def rewrite(self, messages: Iterable[Mapping[str, Any] | Message]) -> None:
        """Put other messages in the place of all that is there, wholly or not at all.

        What somebody else wrote since we last did is moved aside first.
        """
        entries = [self._entry(message) for message in messages]
        with self._lock: self._rewrite(entries)  # fmt: skip  # noqa: E701

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock: self._close()  # fmt: skip  # noqa: E701

    def _close(self) -> None:
        file, self._file, self._size = self._file, None, -1
        if file is not None:
            os.close(file)

    def _entry(self, message: Mapping[str, Any] | Message) -> bytes:
        try:
            return wire_bytes(message)
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(
                f"a message is not JSON and cannot go to {self.path}: {error}"
            ) from error

    @contextlib.contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot {doing} {self.path}: {error.strerror or error}") from error

    def _opened(self, *, create: bool) -> int | None:
        """Return the file that the path names now; another one may have taken its place."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                there, ours = os.stat(self.path), os.fstat(self._file)
                if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
                    return self._file
            self._close()
        self._file = open_regular(self.path, create=create)
        return self._file

    def _parse(self, file: int) -> tuple[list[dict[str, Any]], bytes | None]:
        data = read_all(file)
        self._size = -1
        try:
            messages, bad = parse_array(data)
        except Broken as error:
            raise ConfigError(
                f"cannot restore the history from {self.path}: {error}; it was left as it is, "
                "name another file or move it away"
            ) from None
        if bad is None:
            self._remember(data[-_TAIL:], len(data))
        return messages, bad

    def _remember(self, tail: bytes, size: int) -> bool:
        """Find the place for the next entry in the end of the file, if it ends as an array does."""
        body = tail.rstrip(b" \t\r\n")
        if not body and len(tail) == size:
            self._place, self._rest, self._empty, self._size = 0, tail, True, size
            return True
        inner = body[:-1].rstrip(b" \t\r\n")
        if not body.endswith(b"]") or not inner.endswith((b"}", b"[")):
            self._size = -1
            return False
        self._place = size - len(tail) + len(inner)
        self._rest, self._empty, self._size = tail[len(inner) :], inner.endswith(b"["), size
        return True

    def _append(self, entry: bytes) -> None:
        with self._told("write to"):
            file = self._opened(create=True)
            assert file is not None
            with locked(file, self.path):
                size = os.fstat(file).st_size
                if size != self._size and not self._find_end(file, size):
                    file = self._repair(file)
                first = self._place == 0
                text = array_of([entry]) if first else tail_of(entry, first=self._empty)
                self._put(file, text)

    def _find_end(self, file: int, size: int) -> bool:
        """Learn where the array ends: by its end if we have read it before, else by all of it."""
        start = max(0, size - _TAIL)
        if self._size >= 0 and self._remember(os.pread(file, size - start, start), size):
            return True
        return self._parse(file)[1] is None and self._size >= 0

    def _repair(self, file: int) -> int:
        """Move what is no message aside, and write the rest anew."""
        messages, bad = self._parse(file)
        if bad:
            save_torn(self.path, bad)
        return self._replace(file, [wire_bytes(message) for message in messages])

    def _replace(self, file: int, entries: list[bytes]) -> int:
        data = array_of(entries)
        new = replace(self.path, data, os.fstat(file).st_mode)
        self._close()
        self._file = new
        self._remember(data[-_TAIL:], len(data))
        return new

    def _put(self, file: int, text: bytes) -> None:
        """Write the end of the array; if that fails half way, put back what was there."""
        size = self._size
        try:
            if os.pwrite(file, text, self._place) != len(text):
                raise OSError(28, "no space left")  # noqa: TRY301 - a short write says no more
        except OSError:
            os.pwrite(file, self._rest, self._place)
            os.ftruncate(file, size)
            raise
        end = self._place + len(text)
        if size > end:
            os.ftruncate(file, end)
        self._place, self._rest, self._empty = end - len(_END), _END, False
        self._size = end

    def _rewrite(self, entries: list[bytes]) -> None:
        with self._told("write to"):
            file = self._opened(create=True)
            assert file is not None
            with locked(file, self.path):
                size = os.fstat(file).st_size
                known = self._size
                if size and size != known:
                    _, bad = self._parse(file)  # no array of messages is overwritten
                    if known >= 0 or bad is not None:
                        save_torn(self.path, read_all(file))
                self._replace(file, entries)
