"""The envelope that every event has, and the deltas that are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

__all__ = ["FORMAT_VERSION", "Delta", "Event", "UnknownEvent"]

FORMAT_VERSION = 1
"""What this program writes. A higher one is read as far as it is understood, never written to."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Event:
    """One fact. The log fills the envelope in when the event is appended.

    ``session`` and ``seq`` name it for ever; ``epoch`` is the writer's; ``at`` the time in
    seconds since 1970; ``turn`` counts the user's messages; ``call`` is the tool call it is about;
    ``parent`` the session that started this one. ``extra`` keeps keys that this version of
    Pygent does not know.
    """

    kind: ClassVar[str] = ""

    session: str = ""
    seq: int = 0
    epoch: int = 0
    at: float = 0.0
    version: int = FORMAT_VERSION
    turn: int = 0
    call: str | None = None
    parent: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def type(self) -> str:
        """The name of the kind, as it is written in JSON."""
        return self.kind

    def stamped(self, **envelope: Any) -> Self:
        """Return the same fact in another envelope."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), **envelope)
        return twin

    # Written once here, and not made anew for each kind: that would be a third of the import.
    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = (f"{name}={value!r}" for name, value in vars(self).items() if name != "extra")
        return f"{type(self).__name__}({', '.join(told)})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnknownEvent(Event):
    """A kind that this version of Pygent does not know; all of it is kept."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The name that the event came with."""
        return self.name


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of something that is still being made: seen live, never recorded.

    ``what`` is ``text``, ``reasoning`` or ``output`` (of the tool call ``call``); ``after`` is the
    number of the last event before it. What the pieces add up to follows as an event.
    """

    what: str
    text: str
    call: str | None = None
    after: int = 0
    session: str = ""

    @property
    def type(self) -> str:
        """Always ``delta``."""
        return "delta"
