"""Models: the protocol, and the one that speaks to any Chat Completions endpoint."""

from __future__ import annotations

from .base import Model, StreamingModel
from .openai import OpenAIModel

__all__ = [
    "CUSTOM_MODEL",
    "Model",
    "OpenAIModel",
    "StreamingModel",
    "default_model",
    "set_custom_model",
]

CUSTOM_MODEL: Model | None = None
"""The model of every agent that is not given one; None stands for `OpenAIModel`."""


def set_custom_model(model: Model | None) -> None:
    """Make ``model`` the one that new agents and tasks use; None restores `OpenAIModel`."""
    global CUSTOM_MODEL
    CUSTOM_MODEL = model


def default_model() -> Model:
    """Return the model for an agent that was not given one."""
    return OpenAIModel() if CUSTOM_MODEL is None else CUSTOM_MODEL
