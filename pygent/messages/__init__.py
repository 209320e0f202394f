"""The messages a model reads and writes, in the shape of the Chat Completions API."""

from __future__ import annotations

from .history import Entry, History, wire_bytes
from .message import Message, ToolCall, ToolCallFunction
from .parse import parse_message
from .repair import well_formed

__all__ = [
    "Entry",
    "History",
    "Message",
    "ToolCall",
    "ToolCallFunction",
    "parse_message",
    "well_formed",
    "wire_bytes",
]
