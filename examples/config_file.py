"""Settings from a file: who the agent is, what commands are refused, who tasks are given to."""

from pathlib import Path

from pygent import Agent, TaskManager, load_config

load_config(Path(__file__).with_name("pygent.toml"))

agent = Agent()
print(agent.persona)
print(agent.runtime.bash("rm -r build"))
print([persona.name for persona in TaskManager().personas])
