# ruff: noqa: I001
# fmt: off
"""A tool of our own, a remote model, and a task in the background.

Set OPENAI_BASE_URL and OPENAI_API_KEY, or one of them.
"""

import json
import time
from pygent import Agent, TaskManager, register_tool, openai_compat

def shout(rt, text: str) -> str:
    return text.upper()

register_tool(
    "shout",
    "Uppercase some text",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    shout,
)

class HTTPModel:
    def chat(self, messages, model, tools):
        resp = openai_compat.chat.completions.create(
            model=model, messages=messages, tools=tools, tool_choice="auto"
        )
        return resp.choices[0].message

class DelegatingModel:
    def __init__(self):
        self.done = False

    def chat(self, messages, model, tools):
        if not self.done:
            self.done = True
            return openai_compat.Message(
                role="assistant",
                content=None,
                tool_calls=[
                    openai_compat.ToolCall(
                        id="1",
                        type="function",
                        function=openai_compat.ToolCallFunction(
                            name="delegate_task",
                            arguments=json.dumps({"prompt": "shout text='hi'\nstop"}),
                        ),
                    )
                ],
            )
        return openai_compat.Message(role="assistant", content="delegated")

manager = TaskManager(agent_factory=lambda p=None: Agent(model=HTTPModel(), persona=p))
main = Agent(model=DelegatingModel())

task_id = manager.start_task("begin", main.runtime)
while manager.status(task_id) == "running":
    time.sleep(1)
print("Status:", manager.status(task_id))
