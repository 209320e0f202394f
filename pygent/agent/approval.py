"""Asking for leave before a call runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..events import ApprovalAnswered, ApprovalAsked
from ..messages import ToolCall

if TYPE_CHECKING:
    from .agent import Agent
    from .loop import Events

__all__ = ["Approver", "refusal"]

Approver = Callable[[ToolCall], "bool | str"]
"""Told a call, returns whether it may run; a text refuses it, in words for the model."""


def refusal(agent: Agent, call: ToolCall) -> Events[str | None]:
    """Return why a call must not run, or None; what was asked and answered is recorded.

    Without an approver everything is allowed, but for what ``confirm_bash`` asks about.
    """
    name = call.function.name
    if agent.approve is None and not (agent.confirm_bash and name == "bash"):
        return None
    digest = _digest(agent, call)
    yield agent.log.append(
        ApprovalAsked(call=call.id, name=name, arguments=call.function.arguments, digest=digest)
    )
    # The approver gets a copy: what runs is what was shown, byte for byte.
    shown = replace(call, function=replace(call.function))
    answer: Any = agent.approve(shown) if agent.approve is not None else _NOBODY
    allowed = answer is True
    reason = answer if isinstance(answer, str) else None
    yield agent.log.append(
        ApprovalAnswered(call=call.id, allowed=allowed, digest=digest, reason=reason)
    )
    if allowed:
        return None
    return f"[refused] {reason}" if reason else "[refused] the user does not want this call to run"


_NOBODY = "bash needs a confirmation and nobody is there to give it (confirm_bash without approve=)"


def _digest(agent: Agent, call: ToolCall) -> str:
    """Name exactly this call: tool, arguments, workspace and tier."""
    import hashlib

    runtime = agent.runtime
    parts = (
        call.function.name,
        call.function.arguments,
        str(getattr(runtime, "base_dir", "")),
        str(getattr(runtime, "tier", "")),
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
