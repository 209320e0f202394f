"""Every file among the examples runs by itself, in an empty folder, and shows what it says."""

import json
import os
import subprocess
import sys

import pytest

from tests.documents.conftest import ANSWER
from tests.documents.pages import DOCS, ROOT, assert_shows

EXAMPLES = ROOT / "examples"

SHOWN = {
    "async_example.py": f"{ANSWER}\n{ANSWER}",
    "bash_model.py": "[warning: …]\n$ echo 'hi from tool'\nhi from tool",
    "config_file.py": """
Persona(name='Ada', description='a careful reviewer of Python code.')
$ rm -r build
[error] command 'rm' disabled
['tester', 'writer']
""",
    "custom_tool.py": """
There are 3 words.
the model was told: …'text' is required…
the model was told: 3
""",
    "custom_tool_in_task.py": "Status: finished",
    "delegate_model.py": "[delegate_task] started …",
    "delegation.py": """
Ada finished The number of lines is in lines.txt.
Ben finished The number of lines is in lines.txt.
Retrieved lines.txt
3
""",
    "echo_model.py": "Pygent: Echo: test",
    "global_custom_model.py": "Pygent: Echo: hello",
    "history_file.py": "You spoke 1 times.",
    "http_model.py": f"Pygent: {ANSWER}",
    "presets.py": """
autonomous: …bash…
assistant: ask_user…
reviewer: …read_file…
any other: …delegate_task…
""",
    "runtime_example.py": """
Wrote hello.py
$ python3 hello.py
hello from a file

$ exit 3
[exit code 3]
$ sleep 60
[timeout after 0.2s]
print('hello from a file')

file nothing.txt not found
Exported hello.py
""",
    "sessions.py": "Echo: two\nA first session - 10 events\n10 lines",
    "streaming.py": f"{ANSWER}\n(answer)",
    "testing_your_agent.py": "…\n…1 passed…",
}


def run(name, place):
    """Run an example as a user would, and return what it showed."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.returncode == 0
    return ran.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs_and_shows_what_it_is_for(name, place, server):
    """Each example ends well, complains of nothing, and shows what it should."""
    assert_shows(run(name, place), SHOWN[name])


def test_every_example_is_run():
    """No file among the examples is left out."""
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(SHOWN)


def test_every_example_is_on_the_page():
    """The page of the examples has each of them, as it is: `tools/examples` writes them there."""
    page = (DOCS / "examples.md").read_text(encoding="utf-8")
    for path in EXAMPLES.iterdir():
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            text = "".join(line for line in lines if not line.startswith(("# ruff:", "# fmt:")))
            assert f"`examples/{path.name}`" in page
            assert f"\n{text}```" in page, f"{path.name} has changed: run tools/examples"


def test_the_history_file_goes_on(place, server):
    """A second run of the example finds the conversation of the first."""
    run("history_file.py", place)
    assert run("history_file.py", place) == "You spoke 2 times.\n"
    written = json.loads((place / "conversation.json").read_text())
    assert [entry["role"] for entry in written] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
