"""A session in SQLite, opened again, and written out as JSON Lines."""

from pathlib import Path

from pygent import Agent, Log, openai_compat
from pygent.store import SQLiteStore, export_jsonl


class EchoModel:
    def chat(self, messages, model, tools):
        last = messages[-1]["content"]
        return openai_compat.Message(role="assistant", content=f"Echo: {last}")


store = SQLiteStore(Path("sessions.db"))
with Agent(model=EchoModel(), log=Log(store, title="A first session")) as agent:
    agent.run("one")
    session = agent.session

with Agent(model=EchoModel(), log=Log.load(store, session)) as agent:
    print(agent.run("two").content)

for info in store.sessions():
    print(info.title, "-", info.events, "events")
export_jsonl(store, session, Path("session.jsonl"))
print(len(Path("session.jsonl").read_text().splitlines()), "lines")
store.close()
