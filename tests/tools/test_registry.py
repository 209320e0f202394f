"""The global registry, and the built-in tools that are in it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pygent import tools
from pygent.runtime import Runtime
from pygent.tools import (
    REGISTRY,
    TOOL_SCHEMAS,
    TOOLS,
    Effect,
    clear_tools,
    execute_tool,
    register_tool,
    remove_tool,
    reset_tools,
)
from tests.agent.models import call, raw_call

ROOT = Path(__file__).resolve().parents[2]
NOTHING = {"type": "object", "properties": {}}


@pytest.fixture
def rt(tmp_path):
    with Runtime(workspace=tmp_path / "w", sandbox="local") as runtime:
        yield runtime


def run(rt, name, /, **arguments):
    return execute_tool(call(name, **arguments), rt)


def offered():
    return {schema["function"]["name"] for schema in TOOL_SCHEMAS}


def test_remove_reset_and_clear():
    """Tools go and come back; the tables stay the same objects."""
    before = offered()
    remove_tool("bash")
    assert "bash" not in TOOLS
    assert "bash" not in offered()
    with pytest.raises(ValueError, match="bash"):
        remove_tool("bash")
    register_tool("mine", "", NOTHING, lambda rt: "")
    clear_tools()
    assert not TOOLS
    assert not TOOL_SCHEMAS
    reset_tools()
    assert offered() == before
    assert (REGISTRY.functions, REGISTRY.schemas) == (tools.TOOLS, tools.TOOL_SCHEMAS)


def test_task_tools_come_back_with_a_reset():
    """The layer above is put back too."""
    import pygent.task_tools  # noqa: F401 - it offers the task tools

    reset_tools()
    assert {"delegate_task", "task_status", "collect_file"} <= offered()
    assert not {"delegate_persona_task", "list_personas", "list_tasks"} & offered()
    assert {"delegate_persona_task", "list_personas", "list_tasks"} <= set(TOOLS)


def test_register_task_tools_offers_all_and_may_be_called_twice():
    """The older way to get the task tools works on."""
    from pygent.task_tools import register_task_tools

    register_task_tools()
    register_task_tools()
    names = [schema["function"]["name"] for schema in TOOL_SCHEMAS]
    assert len(names) == len(set(names))
    assert {"list_tasks", "list_personas", "delegate_persona_task", "download_file"} <= set(names)


def test_effect_classes():
    """Reads are pure, writes reconcilable, delegation idempotent, others irreversible."""
    import pygent.task_tools  # noqa: F401 - it offers the task tools

    register_tool("mine", "", NOTHING, lambda rt: "")
    effects = {name: REGISTRY.get(name).effect for name in TOOLS}
    assert {n for n, e in effects.items() if e is Effect.RECONCILABLE} == {
        "bash",
        "write_file",
        "edit_file",
        "collect_file",
    }
    assert {n for n, e in effects.items() if e is Effect.IDEMPOTENT} == {
        "delegate_task",
        "delegate_persona_task",
    }
    assert [n for n, e in effects.items() if e is Effect.IRREVERSIBLE] == ["mine"]


def test_execute_tool_never_raises(rt):
    """Unknown, failing and badly called tools give a text."""
    register_tool("bad", "", NOTHING, lambda rt: 1 / 0)
    assert "ZeroDivisionError" in run(rt, "bad")
    assert "available: " in run(rt, "nope")
    assert "invalid arguments" in execute_tool(raw_call("bash", "{"), rt)


def test_a_result_that_cannot_be_shown_is_told(rt):
    """An object whose text fails is the tool's failure, not ours."""

    class Shy:
        def __str__(self):
            raise RuntimeError("no")

        __repr__ = __str__

    register_tool("shy", "", NOTHING, lambda rt: Shy())
    assert "RuntimeError" in run(rt, "shy")


def test_bash_and_write_file(rt):
    """The two tools of the first page, through the promised names too."""
    assert run(rt, "write_file", path="a/b.txt", content="x\n") == "Wrote a/b.txt"
    assert run(rt, "bash", cmd="cat a/b.txt; exit 3").startswith("$ cat a/b.txt; exit 3\nx\n")
    assert tools._write_file(rt, "c", "y") == "Wrote c"
    assert tools._bash(rt, "cat c").startswith("$ cat c\ny")


def test_read_file_with_line_ranges(rt):
    """From 1, both ends included; where there is more it says so."""
    rt.write_file("f", "".join(f"line {n}\n" for n in range(1, 11)))
    assert run(rt, "read_file", path="f").startswith("line 1\n")
    assert run(rt, "read_file", path="f", start=9) == "[lines 9-10 of 10]\nline 9\nline 10\n"
    assert run(rt, "read_file", path="f", start=2, end=3) == "[lines 2-3 of 10]\nline 2\nline 3\n"
    assert run(rt, "read_file", path="f", end=99).count("line ") == 10
    assert "10 lines" in run(rt, "read_file", path="f", start=11)
    assert "10 lines" in run(rt, "read_file", path="f", start=5, end=4)
    assert run(rt, "read_file", path="nope") == "file nope not found"
    rt.write_file("empty", "")
    assert run(rt, "read_file", path="empty") == ""


def test_a_long_file_is_read_in_pieces(rt):
    """Following what each piece says, the whole file is read, each line once."""
    lines = [f"{n} {'x' * 90}\n" for n in range(3000)]
    rt.write_file("long", "".join(lines))
    start, got = 1, ""
    for _ in range(20):
        piece = run(rt, "read_file", path="long", start=start)
        assert len(piece) < 60_000
        body = piece.split("\n", 1)[1]
        if "[cut here" not in body:
            got += body
            break
        body, _, rest = body.rpartition("\n[cut here")
        got += body
        start = int(rest.split("start=")[1].split(")")[0])
    assert got == "".join(lines)


def test_edit_file(rt):
    """Exactly one place, or all; what is wrong is said, and the file stays as it was."""
    rt.write_file("f", "a\r\nb\r\na\r\n")
    assert run(rt, "edit_file", path="f", old="b\r\n", new="c\r\n") == "Replaced 1 place in f"
    assert "2 times" in run(rt, "edit_file", path="f", old="a", new="x")
    assert "not in f" in run(rt, "edit_file", path="f", old="zzz", new="x")
    assert "empty" in run(rt, "edit_file", path="f", old="", new="x")
    assert "not found" in run(rt, "edit_file", path="g", old="a", new="x")
    assert (rt.base_dir / "f").read_bytes() == b"a\r\nc\r\na\r\n"
    assert run(rt, "edit_file", path="f", old="a", new="x", replace_all=True).startswith(
        "Replaced 2"
    )
    assert (rt.base_dir / "f").read_bytes() == b"x\r\nc\r\nx\r\n"
    rt.write_file("latin", b"\xe9\n")
    assert "UTF-8" in run(rt, "edit_file", path="latin", old="a", new="b")
    assert (rt.base_dir / "latin").read_bytes() == b"\xe9\n"


def test_grep_and_glob(rt):
    """They look below a path, skip what is no text, and say when there is nothing."""
    rt.write_file("src/a.py", "import os\nx = 1\n")
    rt.write_file("src/deep/b.py", "import sys\n")
    rt.write_file("note.txt", "important\n")
    rt.write_file("bin", b"import\0\xff")
    rt.write_file(".git/config", "import\n")
    assert run(rt, "grep", pattern="^import ").splitlines() == [
        "src/a.py:1: import os",
        "src/deep/b.py:1: import sys",
    ]
    assert run(rt, "grep", pattern="import", glob="*.txt") == "note.txt:1: important"
    assert run(rt, "grep", pattern="zzz") == "no line matches 'zzz'"
    assert "regular expression" in run(rt, "grep", pattern="(")
    assert "not found" in run(rt, "grep", pattern="x", path="nowhere")
    assert run(rt, "glob", pattern="*.py").splitlines() == ["src/a.py", "src/deep/b.py"]
    assert run(rt, "glob", pattern="src/*.py") == "src/a.py"
    assert run(rt, "glob", pattern="src/**/*.py").splitlines() == ["src/a.py", "src/deep/b.py"]
    assert run(rt, "glob", pattern="*.rs") == "no file matches '*.rs'"


def test_read_image(rt):
    """A data URL for images, a clear error for all else."""
    rt.write_file("a.png", b"\x89PNG\r\n\x1a\nrest")
    encoded = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
    assert tools._read_image(rt, "a.png") == f"data:image/png;base64,{encoded}"
    rt.write_file("b.png", "text")
    assert "b.png is not a" in run(rt, "read_image", path="b.png")
    assert run(rt, "read_image", path="c.png") == "file c.png not found"


def test_tools_stay_in_the_workspace(rt, tmp_path):
    """Neither `..`, nor an absolute path, nor a link leads out."""
    (tmp_path / "secret").write_text("s3cret")
    (rt.base_dir / "link").symlink_to(tmp_path / "secret")
    for path in ("../secret", str(tmp_path / "secret"), "link"):
        for told in (
            run(rt, "read_file", path=path),
            run(rt, "grep", pattern="s3", path=path),
            run(rt, "download_file", path=path),
            run(rt, "edit_file", path=path, old="s3", new="x"),
            run(rt, "write_file", path=path, content="x") if path != "link" else "",
        ):
            assert "s3cret" not in told
    assert (tmp_path / "secret").read_text() == "s3cret"


def test_importing_the_tools_imports_no_heavy_library():
    """Pydantic and jsonschema wait until a tool needs them."""
    program = (
        "import sys, pygent.agent, pygent.task_tools\n"
        "from pygent.tools import execute_tool\n"
        "from tests.agent.models import call\n"
        "execute_tool(call('nope'), None)\n"
        "heavy = {'pydantic', 'jsonschema', 'httpx2', 'sqlite3', 'asyncio', 'docstring_parser'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "[]\n", done.stderr
