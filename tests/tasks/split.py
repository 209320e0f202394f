"""A model for parents and children alike."""

from __future__ import annotations

from tests.agent.models import call, calls, until


class Split:
    """One model for parent and child: whoever is asked to delegate does, all others work."""

    def __init__(self, *work, delegate=None):
        self.work = work or ("child's answer",)
        self.delegate = delegate or calls(call("delegate_task", "d", prompt="work"))
        self.offered = {}
        self.models = []

    def chat(self, messages, model, tools=None):
        said = next(m["content"] for m in messages if m["role"] == "user")
        self.offered[said] = [tool["function"]["name"] for tool in tools or ()]
        self.models.append((said, model))
        done = sum(m["role"] == "assistant" for m in messages)
        script = self.work if said == "work" else (self.delegate, "parent's answer")
        reply = script[done]
        return {"role": "assistant", "content": reply} if isinstance(reply, str) else reply


def only(manager):
    (task,) = manager.tasks.values()
    until(lambda: task.done)
    return task
