"""Output of any size and any bytes, made short and safe without keeping it in memory."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from .outputs import Outputs

__all__ = ["Capture", "OutputLimits", "clean"]

MARKER_ROOM = 200
"""Bytes of the limit that are set aside for the line that tells what was left out."""

# Controls become their pictures, one character each, so that text never grows by being made safe.
_SAFE = {code: 0x2400 + code for code in range(32) if code not in (9, 10)}
_SAFE |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


@dataclass(frozen=True)
class OutputLimits:
    """How many bytes of a command's output are kept, and for whom.

    ``head`` and ``tail`` together bound what the model reads, the line about the rest included.
    ``live`` bounds what is shown while the command runs, ``whole`` the copy on disk.
    """

    head: int = 10_000
    tail: int = 20_000
    live: int = 100_000
    whole: int = 64 << 20


def clean(data: bytes) -> str:
    """Decode bytes so that nothing is lost and no control character but tab and newline stays."""
    return _safe(data.decode("utf-8", "replace"))


def _safe(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_SAFE)


class Capture:
    """Takes a command's output piece by piece; memory stays flat however much it is."""

    def __init__(
        self,
        limits: OutputLimits,
        outputs: Outputs | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> None:
        self.total = 0
        self._limits = limits
        self._outputs = outputs
        self._head = bytearray()
        self._tail = bytearray()
        self._name: str | None = None
        self._spill: BinaryIO | None = None
        self._spilled = 0
        self._live = None if on_output is None else _Live(on_output, limits.live)

    @property
    def truncated(self) -> bool:
        """Whether there was more than the limits keep."""
        return self.total > self._limits.head + self._limits.tail

    @property
    def whole(self) -> str | None:
        """What `Runtime.read_file` takes for the whole output, once some was left out."""
        return None if self._name is None else f"output:{self._name}"

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        kept = self._limits.head + self._limits.tail
        if self.total <= kept < self.total + len(data):
            self._open_spill()
        self.total += len(data)
        self._write_spill(data)
        room = self._limits.head - len(self._head)
        if room > 0:
            self._head += data[:room]
            self._tail += data[room:]
        else:
            self._tail += data
        if len(self._tail) > 2 * self._limits.tail + (1 << 16):
            del self._tail[: len(self._tail) - self._limits.tail]
        if self._live is not None:
            self._live.feed(data)

    def silence(self) -> None:
        """Show nothing more to whoever watches."""
        self._live = None

    def finish(self) -> None:
        """Say that nothing comes any more."""
        if self._live is not None:
            self._live.finish()
        if self._spill is not None:
            self._spill.close()
            self._spill = None

    def text(self) -> tuple[str, int]:
        """Return the output within the limits, and how many bytes of it were left out."""
        if not self.truncated:
            return clean(bytes(self._head + self._tail)), 0
        head = _whole_end(bytes(self._head))
        room = max(0, self._limits.tail - MARKER_ROOM)
        tail = _whole_start(bytes(self._tail[len(self._tail) - room :]))
        omitted = self.total - len(head) - len(tail)
        before, after = clean(head), clean(tail)
        gap = "" if before.endswith("\n") or not before else "\n"
        return f"{before}{gap}{self._marker(omitted, len(head))}\n{after}", omitted

    def read(self, offset: int) -> bytes:
        """Return what is kept so far, from a byte offset on."""
        if self._outputs is not None and self._name is not None:
            if self._spill is not None:
                self._spill.flush()
            return self._outputs.read(self._name, offset) or b""
        return bytes((self._head + self._tail)[offset:])

    def _marker(self, omitted: int, start: int) -> str:
        told = f"[… {omitted} of {self.total} bytes omitted"
        if self.whole is None:
            return f"{told}]"
        much = "the whole" if self._spilled == self.total else f"the first {self._spilled} bytes"
        return f'{told}; read_file("{self.whole}@{start}") goes on here, "{self.whole}" is {much}]'

    def _open_spill(self) -> None:
        if self._outputs is None:
            return
        try:
            self._name, self._spill = self._outputs.create()
        except OSError:
            # A full disk costs the copy of the rest, never the command.
            return
        self._write_spill(bytes(self._head + self._tail))

    def _write_spill(self, data: bytes) -> None:
        room = self._limits.whole - self._spilled
        if self._spill is None or room <= 0:
            return
        try:
            self._spilled += self._spill.write(data[:room])
            if self._spilled >= self._limits.whole:
                self._spill.flush()
        except OSError:
            self._limits = OutputLimits(
                self._limits.head, self._limits.tail, self._limits.live, self._spilled
            )


class _Live:
    """Decoded output for somebody who watches, up to a limit."""

    def __init__(self, call: Callable[[str], None], limit: int) -> None:
        self._call = call
        self._room = limit
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._return = ""

    def feed(self, data: bytes) -> None:
        if self._room < 0:
            return
        text = self._return + self._decode(data[: self._room])
        self._room -= len(data)
        # A carriage return at the end may be half of a line's end.
        self._return = "\r" if text.endswith("\r") else ""
        self._say(text.removesuffix(self._return))
        if self._room < 0:
            self._say("\n[… more output is not shown while it runs]\n")

    def finish(self) -> None:
        if self._room >= 0:
            self._say(self._return + self._decode(b"", final=True))

    def _say(self, text: str) -> None:
        if text:
            self._call(_safe(text))


def _whole_end(data: bytes) -> bytes:
    """Drop a character that the end cuts in two."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
        if byte < 0x80:
            break
    return data


def _whole_start(data: bytes) -> bytes:
    """Drop the rest of a character that the start cuts in two."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
