"""Which model an agent gets that was not given one."""

from __future__ import annotations

import pygent.models as models
from pygent.models import OpenAIModel, default_model, set_custom_model


class Echo:
    def chat(self, messages, model, tools):
        return {"role": "assistant", "content": messages[-1]["content"]}


def test_without_a_custom_model():
    """It is `OpenAIModel`, and nothing is set."""
    assert models.CUSTOM_MODEL is None
    assert isinstance(default_model(), OpenAIModel)


def test_setting_it():
    """The function sets the module's name, and None takes it back."""
    echo = Echo()
    set_custom_model(echo)
    assert models.CUSTOM_MODEL is echo
    assert default_model() is echo
    set_custom_model(None)
    assert isinstance(default_model(), OpenAIModel)


def test_assigning_it(monkeypatch):
    """Assigning to the name itself does the same."""
    echo = Echo()
    monkeypatch.setattr(models, "CUSTOM_MODEL", echo)
    assert default_model() is echo
