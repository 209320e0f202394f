"""Watch an agent at work. Set OPENAI_BASE_URL and OPENAI_API_KEY, or one of them."""

from pygent import Agent
from pygent.events import Delta, ToolFinished, TurnEnded

agent = Agent()
for event in agent.stream("Say hello.", max_time=60):
    match event:
        case Delta(what="text"):
            print(event.text, end="", flush=True)
        case ToolFinished():
            print(f"\n[{event.name}] {event.content}")
        case TurnEnded():
            print(f"\n({event.reason})")
