"""What an interactive session shows while the agent works."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from ..display import Display
from ..events import Delta, Event, ToolStarted

__all__ = ["Screen"]


class Screen:
    """Shows a log as `Display` does; when there is nobody to show it to, the agent stops.

    ``gone`` is how writing failed then.
    """

    def __init__(self, agent: Any) -> None:
        self.gone: OSError | None = None
        self._agent = agent
        self._display = Display(agent.persona.name)

    def __enter__(self) -> Self:
        self._unsubscribe = self._agent.log.subscribe(self._show)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._unsubscribe()

    def _show(self, event: Event | Delta) -> None:
        if self.gone is not None or _is_question(event):
            return
        try:
            self._display.show(event)
        except OSError as error:
            self.gone = error
            self._agent.cancel()


def _is_question(event: Event | Delta) -> bool:
    """Whether the session itself shows this: the model's questions, once the turn is over."""
    return isinstance(event, ToolStarted) and event.name == "ask_user"
