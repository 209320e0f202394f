"""What each test is given, and what it must not leave."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from hypothesis import given, settings, strategies as st

from . import leftovers
from .isolation import forget_what_was_registered


def test_the_home_is_the_tests_own(tmp_path):
    """Nothing that a test writes reaches the developer's own home, settings or sessions."""
    assert Path.home().is_relative_to(tmp_path)
    assert Path(tempfile.gettempdir()).is_relative_to(tmp_path)
    for name, value in os.environ.items():
        assert not name.startswith(("PYGENT_", "OPENAI_")), name
        assert not name.startswith("XDG_") or "HOME" not in name or value.startswith(str(tmp_path))


class Silent:
    def chat(self, messages, model, tools):
        return {"role": "assistant", "content": ""}


def test_what_a_test_registers_is_forgotten():
    """A custom model and a tool of one test are gone in the next."""
    from pygent import models, tools

    offered = list(tools.TOOLS)
    models.set_custom_model(Silent())
    tools.register_tool(
        "shout", "say it loud", {"type": "object", "properties": {}}, lambda _rt: "A"
    )
    forget_what_was_registered()
    assert models.CUSTOM_MODEL is None
    assert list(tools.TOOLS) == offered


def test_a_child_is_seen(tmp_path):
    """A process that is still running is found by its parent."""
    with subprocess.Popen(["sleep", "60"]) as child:
        assert child.pid in leftovers.processes(tmp_path)
        child.kill()


def test_an_orphan_in_the_workspace_is_seen(tmp_path):
    """A process whose parent is gone is found by the folder it works in."""
    script = "sleep 60 >/dev/null 2>&1 & echo $!"
    pid = int(subprocess.check_output(["setsid", "sh", "-c", script], cwd=tmp_path))
    try:
        assert pid in leftovers.processes(tmp_path)
    finally:
        os.kill(pid, 9)


def test_a_thread_is_seen():
    """A thread that would keep the process from ending is found."""
    ready = threading.Event()
    thread = threading.Thread(target=ready.wait, name="lingering")
    thread.start()
    assert thread in leftovers.threads()
    ready.set()
    thread.join()


LEAKING = """
import subprocess, threading

def test_process():
    subprocess.Popen(["sleep", "30"]).returncode = 0

def test_thread():
    threading.Thread(target=threading.Event().wait, args=(5,), name="lingering").start()
"""


def test_leaving_something_behind_fails_the_test(pytester, monkeypatch):
    """A test that leaves a process or a thread fails under its own name."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makeconftest('pytest_plugins = ["tests.isolation", "tests.leftovers"]')
    pytester.makepyfile(LEAKING)
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly")
    ran.assert_outcomes(passed=2, errors=2)
    ran.stdout.fnmatch_lines(["left behind: process*sleep*", "left behind: thread lingering"])
    for line in ran.stdout.lines:
        if line.startswith("left behind: process"):
            os.kill(int(line.split()[3].rstrip(":")), 9)


@settings(max_examples=5)
@given(st.integers())
def test_properties_take_the_fixtures(number):
    """Hypothesis works beside the fixtures that every test gets."""
    assert "PYGENT_MODEL" not in os.environ
    assert sys.maxsize > 0 or number
