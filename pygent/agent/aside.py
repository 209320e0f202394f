"""Async callers: the agent works in a thread, its events arrive in the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Any

from ..events import Delta, Event

if TYPE_CHECKING:
    from .agent import Agent

__all__ = ["follow"]

_END = object()


async def follow(
    agent: Agent, events: Generator[Event | Delta, None, Any]
) -> AsyncGenerator[Event | Delta, None]:
    """Yield the events of a turn that runs in a thread; leaving early cancels the turn."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[Any] = asyncio.Queue()
    left = threading.Event()

    def work() -> None:
        ending: Any = _END
        try:
            for event in events:
                loop.call_soon_threadsafe(arrived.put_nowait, event)
                if left.is_set():  # before there was anything to cancel
                    break
        except BaseException as error:  # noqa: BLE001 - it is raised where the events are read
            ending = error
        finally:
            events.close()
        loop.call_soon_threadsafe(arrived.put_nowait, ending)

    working = loop.run_in_executor(None, work)
    over = False
    try:
        while (item := await arrived.get()) is not _END:
            if isinstance(item, BaseException):
                over = True
                raise item
            yield item
        over = True
    finally:
        left.set()
        if not over:
            agent.cancel()
        await asyncio.shield(working)
