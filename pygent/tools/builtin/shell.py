"""The `bash` tool."""

from __future__ import annotations

from typing import Any

from ...runtime import Runtime
from ..context import CallContext
from ..spec import Effect, Tool

__all__ = ["OFFERED", "bash"]


def bash(rt: Any, cmd: str, timeout: float | None = None) -> str:
    """Run a shell command in the workspace and return what it printed."""
    limits = {} if timeout is None else {"timeout": timeout}
    context = CallContext.current()
    if context is not None and isinstance(rt, Runtime):
        return rt.bash(cmd, **limits, stream=context.show)
    return str(rt.bash(cmd, **limits))


OFFERED = (
    Tool(
        name="bash",
        description="Run a shell command in the workspace. Output is cut in the middle when long.",
        parameters={
            "type": "object",
            "properties": {
                "cmd": {"type": "string"},
                "timeout": {"type": "number", "description": "seconds, 30 by default"},
            },
            "required": ["cmd"],
        },
        func=bash,
        effect=Effect.RECONCILABLE,
        honours_cancel=True,
    ),
)
