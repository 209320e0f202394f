"""A tool from a typed function, and the model that calls it here."""

import json

from pygent import Agent, openai_compat, tool


@tool(effect="pure")
def word_count(text: str, longest: int = 0) -> str:
    """Count the words of a text.

    Args:
        text: what to look at
        longest: count only words of at most so many letters; 0 counts all
    """
    return str(len([w for w in text.split() if not longest or len(w) <= longest]))


class CountingModel:
    """Calls the tool once, wrongly, then rightly, and tells what came of it."""

    def __init__(self):
        self.arguments = [{"words": "a b c"}, {"text": "a b c"}]

    def chat(self, messages, model, tools):
        if not self.arguments:
            answer = f"There are {messages[-1]['content']} words."
            return openai_compat.Message(role="assistant", content=answer)
        function = openai_compat.ToolCallFunction(
            name="word_count", arguments=json.dumps(self.arguments.pop(0))
        )
        call = openai_compat.ToolCall(id="", type="function", function=function)
        return openai_compat.Message(role="assistant", content=None, tool_calls=[call])


agent = Agent(model=CountingModel(), tools=[word_count], display=False)
print(agent.run("How many words are in 'a b c'?").content)
for message in agent.history:
    if message["role"] == "tool":
        print("the model was told:", message["content"])
