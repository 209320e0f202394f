# ruff: noqa: I001
# fmt: off
"""Ask a remote endpoint: set OPENAI_BASE_URL and OPENAI_API_KEY, or one of them."""

from pygent import Agent, openai_compat

class HTTPModel:
    def chat(self, messages, model, tools):
        resp = openai_compat.chat.completions.create(
            model=model,
            messages=messages,
            tools=tools,
            tool_choice="auto",
        )
        return resp.choices[0].message

ag = Agent(model=HTTPModel())
ag.step("who am I?")
