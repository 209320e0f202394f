"""Server-sent events: bytes in any portions to the data of whole events.

httpx2 has a parser, but it is bound to that client's own responses, keeps a byte order mark, hands
out events that carry no data, and measures each line by encoding it again.
"""

from __future__ import annotations

__all__ = ["EventParser"]

_BOM = b"\xef\xbb\xbf"


class EventParser:
    """Takes the bytes of a stream, gives the data of its events.

    Lines end with LF, CRLF or CR. Comments and fields other than ``data`` are passed over, and so
    is an event without data.
    """

    __slots__ = ("_data", "_ended_with_cr", "_lines", "_size", "_started")

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0
        self._data: list[bytes] = []
        self._ended_with_cr = False
        self._started = False

    @property
    def pending(self) -> int:
        """How many bytes wait for the end of their event."""
        return self._size + sum(map(len, self._data))

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of each event that ``chunk`` completes."""
        if not self._started:
            chunk = self._without_mark(chunk)
        if self._ended_with_cr and chunk:
            self._ended_with_cr = False
            if chunk[0] == 10:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._ended_with_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        lines = chunk.split(b"\n")
        if self._lines:
            lines[0] = b"".join((*self._lines, lines[0]))
            self._lines.clear()
            self._size = 0
        rest = lines.pop()
        if rest:
            self._keep(rest)
        return self._events(lines)

    def finish(self) -> list[str]:
        """Return the data of an event that the end of the stream left open.

        Strictly it is to be dropped, but servers do leave the last empty line out.
        """
        line = b"".join(self._lines)
        self._lines.clear()
        return self._events([line, b""])

    def _keep(self, part: bytes) -> None:
        self._lines.append(part)
        self._size += len(part)

    def _without_mark(self, chunk: bytes) -> bytes:
        start = b"".join((*self._lines, chunk))
        self._lines.clear()
        self._size = 0
        if len(start) < len(_BOM) and _BOM.startswith(start):
            self._keep(start)
            return b""
        self._started = True
        return start.removeprefix(_BOM)

    def _events(self, lines: list[bytes]) -> list[str]:
        events = []
        data = self._data
        for line in lines:
            if line[:5] == b"data:":
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line == b"data":
                data.append(b"")
            elif not line and data:
                whole = data[0] if len(data) == 1 else b"\n".join(data)
                data.clear()
                if whole:
                    events.append(whole.decode("utf-8", "replace"))
        return events
