# ruff: noqa: I001
# fmt: off
"""A model that hands work to an agent in the background, and then stops."""

import json
from pygent import Agent, openai_compat

class DelegateModel:
    def __init__(self):
        self.first = True

    def chat(self, messages, model, tools):
        if self.first:
            self.first = False
            return openai_compat.Message(
                role="assistant",
                content=None,
                tool_calls=[
                    openai_compat.ToolCall(
                        id="1",
                        type="function",
                        function=openai_compat.ToolCallFunction(
                            name="delegate_task",
                            arguments=json.dumps({"prompt": "noop"}),
                        ),
                    )
                ],
            )
        return openai_compat.Message(role="assistant", content=None, tool_calls=[
            openai_compat.ToolCall(
                id="2",
                type="function",
                function=openai_compat.ToolCallFunction(name="stop", arguments="{}"),
            )
        ])

ag = Agent(model=DelegateModel())
ag.run_until_stop("begin", max_steps=2)
