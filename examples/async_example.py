"""Two agents in one event loop. Set OPENAI_BASE_URL and OPENAI_API_KEY, or one of them."""

import asyncio

from pygent import Agent
from pygent.events import ModelReplied


async def ask(question):
    async for event in Agent().astream(question, max_time=60):
        if isinstance(event, ModelReplied):
            print(event.message["content"])


async def main():
    await asyncio.gather(ask("Who are you?"), ask("Where are you?"))


asyncio.run(main())
