"""Signals become exceptions, once: the first one ends the work, which cleans up in peace."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Ended", "tidy_signals"]

_PATIENCE = 3


class Ended(KeyboardInterrupt):
    """A signal asked the process to end. Whatever stops for Ctrl-C stops for this."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def tidy_signals() -> Generator[None]:
    """Turn SIGTERM and SIGHUP into `Ended` within a ``with`` block.

    What comes while the first one is seen to is ignored; who insists three times gets an end at
    once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            raise Ended(number)
        if count > _PATIENCE:
            os._exit(128 + number)

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        # What the parent had ignored (nohup) stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def one_interrupt() -> Generator[None]:
    """Let one Ctrl-C through within a ``with`` block: those that follow find the end under way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            raise KeyboardInterrupt
        if count > _PATIENCE:
            os._exit(128 + number)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
