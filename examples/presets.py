"""Ready-made kinds of agents, each with its own prompt and tools."""

from pygent import AGENT_PRESETS, Agent

for name, preset in AGENT_PRESETS.items():
    print(f"{name}: {', '.join(preset.create_agent().tool_names())}")

# No other agent notices.
print("any other:", ", ".join(Agent().tool_names()))
