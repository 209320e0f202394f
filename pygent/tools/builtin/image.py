"""The `read_image` tool."""

from __future__ import annotations

import base64
from typing import Any

from ...errors import ToolError
from ..spec import Effect, Tool

__all__ = ["ACCEPTED", "read_image"]

LIMIT = 20 * 1024 * 1024

_SIGNATURES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)


def read_image(rt: Any, path: str) -> str:
    """Return an image of the workspace as a data URL; the agent shows it to the model."""
    encoded = rt.read_file(path, binary=True)
    if encoded == f"file {path} not found":
        return str(encoded)
    if len(encoded) > LIMIT * 4 // 3:
        raise ToolError(f"{path} is larger than {LIMIT // 2**20} MB: make it smaller first")
    kind = _image_type(base64.b64decode(encoded[:64]))
    if kind is None:
        raise ToolError(f"{path} is not a PNG, JPEG, GIF, WebP or BMP image")
    return f"data:{kind};base64,{encoded}"


def _image_type(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if start.startswith(signature)), None)


ACCEPTED = (
    Tool(
        name="read_image",
        description="Look at an image file of the workspace.",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
        func=read_image,
        effect=Effect.PURE,
        honours_cancel=True,
    ),
)
