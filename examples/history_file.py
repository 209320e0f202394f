"""A conversation that goes on in another process: run this twice in the same folder."""

from pygent import Agent, openai_compat


class CountingModel:
    def chat(self, messages, model, tools):
        said = [m for m in messages if m["role"] == "user"]
        return openai_compat.Message(role="assistant", content=f"You spoke {len(said)} times.")


with Agent(model=CountingModel(), history_file="conversation.json", display=False) as agent:
    print(agent.run("Hello.").content)
