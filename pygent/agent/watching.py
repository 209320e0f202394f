"""What the readers of a turn see: all that is recorded meanwhile, in the order of the log."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ..events import Delta, Event
from ..log import Log

__all__ = ["complete"]


def complete(log: Log, turn: Generator[Event | Delta, None, Any]) -> Generator[Event | Delta]:
    """Yield what a turn yields, and in its place what others recorded on the way.

    The choice of a sandbox, the end of a task, the answers to calls that were cut short.
    """
    last = log.state.seq
    try:
        while True:
            try:
                item = next(turn)
            except StopIteration:
                return
            except Exception:
                yield from log.events(last)
                raise
            if isinstance(item, Event):
                if item.seq > last + 1:
                    yield from (event for event in log.events(last) if event.seq < item.seq)
                last = item.seq
            yield item
    except BaseException as error:
        turn.throw(error)  # the reader left, or failed: the turn ends with that
        raise
    finally:
        turn.close()
