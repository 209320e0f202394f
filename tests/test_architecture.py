"""How the house is built: which way imports point, how large a room may be, what an import costs.

The layers themselves are in pyproject.toml, under `tool.importlinter`.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pygent"
FILES = sorted(PACKAGE.rglob("*.py"))

FILE_LINES = 300
FUNCTION_LINES = 49

# Own modules imported inside a function, each with its reason: file, module, why.
INNER_IMPORTS: dict[tuple[str, str], str] = {
    ("pygent/agent/agent.py", ".aside"): "asyncio is for those who use it",
    (
        "pygent/store/care.py",
        ".salvage",
    ): "looking for damage is rare, and has much code of its own",
    ("pygent/store/care.py", ".wal"): "looking for damage is rare, and has much code of its own",
    (
        "pygent/store/sqlite.py",
        ".salvage",
    ): "looking for damage is rare, and has much code of its own",
    (
        "pygent/models/completions.py",
        ".http.exchange",
    ): "the HTTP client is loaded at the first call",
}

# What `import pygent` must not load: each costs more than the package itself.
HEAVY = (
    "asyncio",
    "docker",
    "hashlib",
    "h11",
    "httpcore2",
    "httpx2",
    "jsonschema",
    "openai",
    "pydantic",
    "rich",
    "sqlite3",
    "ssl",
    "typer",
)

# The front door, as promised: more may be offered, none of these may go.
PROMISED = {
    "AGENT_PRESETS",
    "APIError",
    "Agent",
    "AgentPreset",
    "CliSession",
    "Model",
    "OpenAIModel",
    "PROMPT_BUILDERS",
    "Persona",
    "PygentError",
    "Runtime",
    "Session",
    "TaskManager",
    "__version__",
    "clear_tools",
    "create_app",
    "execute_tool",
    "load_config",
    "load_snapshot",
    "openai_compat",
    "register_task_tools",
    "register_tool",
    "remove_tool",
    "reset_tools",
    "run_interactive",
    "set_custom_model",
    "set_system_message_builder",
    "tool",
}


def named(path: Path) -> str:
    """Name a file as the table of inner imports and pytest's report do."""
    return path.relative_to(ROOT).as_posix()


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function, methods and inner ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def own_modules(node: ast.AST) -> Iterator[str]:
    """Yield the modules of the package that an import statement names, as it names them."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "pygent")
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        if node.level or module.split(".")[0] == "pygent":
            yield module


def fresh(code: str, *, python: str = sys.executable, home: Path) -> str:
    """Run code in a new interpreter that has the package and the standard library, nothing else."""
    ran = subprocess.run(
        [
            python,
            "-I",
            "-S",
            "-B",
            "-W",
            "error",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}",
        ],
        cwd=home,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


def test_imports_point_one_way():
    """Every module has its layer and imports only from below; the core knows no interface library."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_file_has_one_subject(path):
    """No file grows past what can be read in one go, and no function past one screen."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= FILE_LINES
    lengths = [(f.name, (f.end_lineno or 0) - f.lineno + 1) for f in functions(ast.parse(text))]
    assert [(name, lines) for name, lines in lengths if lines > FUNCTION_LINES] == []


def test_own_modules_are_imported_at_the_top():
    """No import hides in a function to dodge a cycle, but for those on the list with a reason."""
    found = {
        (named(path), module)
        for path in FILES
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        for node in ast.walk(function)
        for module in own_modules(node)
    }
    assert found == set(INNER_IMPORTS)
    assert all(INNER_IMPORTS.values())


def test_importing_does_nothing_but_import(tmp_path):
    """`import pygent` prints nothing, makes no file, and loads nothing heavy."""
    code = "before = set(sys.modules); import pygent, json; print(json.dumps(sorted(set(sys.modules) - before)))"
    loaded = json.loads(fresh(code, home=tmp_path / "home"))
    assert "pygent" in loaded
    assert [name for name in loaded if name.split(".")[0] in HEAVY] == []
    assert list((tmp_path / "home").iterdir()) == []


def sort_key(name: str) -> tuple[int, str]:
    """Order names as ruff does: constants, classes, the rest."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_the_front_door_is_what_it_says():
    """`__all__` is sorted, holds all that is promised, and each of its names is there."""
    import pygent

    assert sorted(pygent.__all__, key=sort_key) == list(pygent.__all__)
    assert set(pygent.__all__) >= PROMISED
    assert [name for name in pygent.__all__ if not hasattr(pygent, name)] == []


def test_nothing_public_stands_beside_the_front_door():
    """What can be seen in `pygent` without an underscore is in `__all__`, or a module of its own."""
    import pygent

    seen = {
        name
        for name, value in vars(pygent).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert seen - set(pygent.__all__) == set()
    assert set(dir(pygent)) >= set(pygent.__all__)


TURN = """
import pygent
from pygent.openai_compat import Message

class Parrot:
    def chat(self, messages, model, tools):
        return Message(role="assistant", content="polly")

agent = pygent.Agent(model=Parrot())
print(agent.run("who are you?").content)
agent.close()
"""


def test_a_turn_needs_the_standard_library_alone(tmp_path):
    """With a model of one's own, an agent runs where nothing but Python is installed."""
    assert "polly" in fresh(TURN, home=tmp_path / "home")


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_a_turn_on_other_pythons(version, needs, tmp_path):
    """The package imports and runs a turn on each Python that it promises."""
    python = needs(f"python{version}")
    assert "polly" in fresh(TURN, python=python, home=tmp_path / "home")


def test_the_version_is_said_once():
    """One file has the version; the package, its metadata and the changelog agree with it."""
    import pygent

    saying = [named(path) for path in FILES if "__version__ = " in path.read_text(encoding="utf-8")]
    assert saying == ["pygent/version.py"]
    assert f"## [{pygent.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert version("pygent") == pygent.__version__
