"""`History`: the conversation as a list, each entry of it serialised once.

Assistant entries are `Message` objects, all others dictionaries. What users do to the list or to
an entry is noticed, so that neither the log nor the bytes on the wire go stale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from .message import Message
from .parse import parse_message

__all__ = ["IMAGE_MARK", "Entry", "History", "wire_bytes"]

IMAGE_MARK = b'"data:image/'
"""What a serialised conversation contains if a tool may have returned an image."""

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def wire_bytes(entry: Any) -> bytes:
    """Return one message as the JSON that goes over the wire."""
    if isinstance(entry, Message):
        entry = entry.to_dict()
    elif not isinstance(entry, Mapping):
        entry = parse_message(entry).to_dict()
    text = _json(entry)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate is legal in a Python string and not in UTF-8: an escape carries it.
        return json.dumps(entry, separators=(",", ":")).encode("ascii")


class Entry(dict[str, Any]):
    """A dictionary that tells its history when it is changed."""

    __slots__ = ("_watcher", "seq_")

    def watch(self, watcher: Callable[[], None] | None) -> None:
        """Call ``watcher`` whenever a key is set or deleted from now on."""
        self._watcher = watcher

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class History(list[Any]):
    """The messages of one conversation, in order.

    ``on_append`` is told each entry that a user appends, ``on_edit`` any other change; the log
    records both. `add` is for the log itself and tells nobody.
    """

    def __init__(
        self,
        on_append: Callable[[Any], None] | None = None,
        on_edit: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._on_append = on_append
        self._on_edit = on_edit
        self._wire = bytearray()
        self._serialised = 0
        self._has_images = False

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)

    def add(self, entry: Any, seq: int = 0) -> None:
        """Append an entry without telling anybody; the same ``seq`` twice appends once."""
        if seq and self and getattr(self[-1], "seq_", 0) == seq:
            return
        watched = self._watched(entry)
        object.__setattr__(watched, "seq_", seq)  # past the watcher: this is not an edit
        list.append(self, watched)

    def replace(self, entries: Iterable[Any]) -> None:
        """Take other entries, without telling anybody; what is equal stays the same object."""
        kept = [
            self[index] if index < len(self) and _same(self[index], entry) else self._watched(entry)
            for index, entry in enumerate(entries)
        ]
        list.__setitem__(self, slice(None), kept)
        self.forget()

    def forget(self) -> None:
        """Drop the serialised form; it is made again when it is next asked for."""
        self._wire.clear()
        self._serialised = 0
        self._has_images = False

    def wire(self, before: bytes = b"", after: bytes = b"") -> bytes:
        """Return the whole list as JSON; only entries that are new since then are serialised.

        ``before`` and ``after`` go around it: a long conversation is copied once, not twice.
        """
        for entry in self[self._serialised :]:
            new = wire_bytes(entry)
            self._has_images = self._has_images or IMAGE_MARK in new
            self._wire += b"," + new if self._serialised else new
            self._serialised += 1
        return b"".join((before, b"[", self._wire, b"]", after))

    @property
    def has_images(self) -> bool:
        """Whether what `wire` returned last may hold a text that is an image."""
        return self._has_images

    def append(self, entry: Any) -> None:
        """Append an entry, and have it recorded."""
        if self._on_append is None:
            self.add(entry)
        else:
            self._on_append(entry)

    def extend(self, entries: Iterable[Any]) -> None:
        """Append several entries, and have them recorded."""
        for entry in entries:
            self.append(entry)

    def __iadd__(self, entries: Iterable[Any]) -> Self:  # type: ignore[misc]
        self.extend(entries)
        return self

    def _watched(self, entry: Any) -> Any:
        if not isinstance(entry, Message):
            entry = Entry(entry) if isinstance(entry, Mapping) else parse_message(entry)
        entry.watch(self._edited)
        return entry

    def _edited(self) -> None:
        self.forget()
        for index, entry in enumerate(self):
            if not isinstance(entry, Entry | Message):
                list.__setitem__(self, index, self._watched(entry))
        if self._on_edit is not None:
            self._on_edit()


def _same(mine: Any, other: Any) -> bool:
    return isinstance(mine, Entry | Message) and bool(mine == other)


def _noticed(cls: Any, names: Iterable[str], changed: Callable[[Any], None]) -> None:
    """Make the methods ``names`` of ``cls`` call ``changed`` when they are done."""
    for name in names:
        original = getattr(cls, name)

        def method(self: Any, *args: Any, _original: Any = original, **kwargs: Any) -> Any:
            result = _original(self, *args, **kwargs)
            changed(self)
            return result

        method.__name__, method.__doc__ = name, original.__doc__
        setattr(cls, name, method)


def _entry_changed(entry: Entry) -> None:
    watcher = getattr(entry, "_watcher", None)
    if watcher is not None:
        watcher()


_noticed(
    Entry,
    ("__setitem__", "__delitem__", "__ior__", "update", "pop", "popitem", "clear", "setdefault"),
    _entry_changed,
)
_noticed(
    History,
    (
        "__setitem__",
        "__delitem__",
        "__imul__",
        "insert",
        "pop",
        "remove",
        "clear",
        "reverse",
        "sort",
    ),
    History._edited,
)
