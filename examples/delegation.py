"""Two tasks in the background, each with its own workspace, and a file that comes back."""

import json

from pygent import Agent, Persona, Runtime, TaskManager, openai_compat


class CountingModel:
    """Counts the lines of a file with a command, and says so."""

    def __init__(self):
        self.asked = False

    def chat(self, messages, model, tools):
        if self.asked:
            return {"role": "assistant", "content": "The number of lines is in lines.txt."}
        self.asked = True
        function = openai_compat.ToolCallFunction(
            name="bash", arguments=json.dumps({"cmd": "wc -l < notes.txt > lines.txt"})
        )
        call = openai_compat.ToolCall(id="1", type="function", function=function)
        return openai_compat.Message(role="assistant", content=None, tool_calls=[call])


def make_agent(persona):
    return Agent(model=CountingModel(), persona=persona, runtime=Runtime(use_docker=False))


personas = [Persona("Ada", "counts lines."), Persona("Ben", "counts lines too.")]
with (
    Runtime(use_docker=False) as rt,
    TaskManager(make_agent, max_tasks=2, personas=personas) as manager,
):
    rt.write_file("notes.txt", "one\ntwo\nthree\n")
    tasks = [manager.start_task("Count the lines", rt, files=["notes.txt"]) for _ in personas]
    for task in tasks:
        print(manager.get_agent(task).persona.name, manager.wait(task), manager.result(task))
    print(manager.collect_file(rt, tasks[0], "lines.txt"))
    print(rt.read_file("lines.txt").strip())
