"""The text of a history file: a JSON array of messages, each on a line of its own."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Broken", "array_of", "parse_array", "tail_of"]

_decoder = json.JSONDecoder()
_SPACE = " \t\r\n"
_BOM = b"\xef\xbb\xbf"


class Broken(ValueError):
    """The text is no array of messages, nor the beginning of one; the error says why."""


def array_of(entries: list[bytes]) -> bytes:
    """Return entries as the text of a file."""
    return b"[" + b",".join(b"\n" + entry for entry in entries) + b"\n]"


def tail_of(entry: bytes, *, first: bool) -> bytes:
    """Return what is written over the end of the array to add an entry to it."""
    return b"%s\n%s\n]" % (b"" if first else b",", entry)


def parse_array(data: bytes) -> tuple[list[dict[str, Any]], bytes | None]:
    """Return the messages of a file, and None if it is whole.

    Of a damaged file come the messages that are whole, and the bytes that are none; what never
    was an array of messages is `Broken`.
    """
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text) if text.strip(_SPACE) else []
    except (ValueError, RecursionError):
        return _pick(data)
    if not isinstance(value, list):
        raise Broken(f"it holds {_name(value)}, not an array of messages")
    for number, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise Broken(f"its entry {number} is {_name(entry)}, not a message")
    return value, None


def _name(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "a flag", type(None): "null"}
    return names.get(type(value), "a number")


def _pick(data: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """Read entry by entry up to the first bad one, then take the lines that are entries."""
    data = data.removeprefix(_BOM)
    text = data.decode("latin-1")  # a character for each byte: places in one are places in both
    place = _skip(text, 0)
    if text[place : place + 1] != "[":
        raise Broken("it does not begin as an array")
    good = place + 1
    place = _skip(text, good)
    if text[place : place + 1] not in ("", "{", "]", "\0"):
        raise Broken("its first entry is not a message")
    entries: list[dict[str, Any]] = []
    while (found := _entry(text, place)) is not None:
        entries.append(found[0])
        good = found[1]
        place = _skip(text, good)
        if text[place : place + 1] != ",":
            break
        place = _skip(text, place + 1)
    bad: list[bytes] = []
    for line in data[good:].splitlines(keepends=True):
        whole = line.strip().removesuffix(b",")
        found = _entry(whole.decode("latin-1"), 0) if line.startswith(b"{") else None
        if found is not None and found[1] == len(whole) and "role" in found[0]:
            entries.append(found[0])
        elif whole not in (b"", b"]"):
            bad.append(line)
    return entries, b"".join(bad)


def _skip(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t", "\r", "\n"):
        place += 1
    return place


def _entry(text: str, place: int) -> tuple[dict[str, Any], int] | None:
    """Return the object that begins at a place of the Latin-1 text, and where it ends."""
    if text[place : place + 1] != "{":
        return None
    try:
        _, end = _decoder.raw_decode(text, place)
        return json.loads(text[place:end].encode("latin-1").decode()), end
    except (ValueError, RecursionError):
        return None
