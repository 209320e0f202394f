"""The tables of the pages say what the code says: kinds of events, settings, tools, signatures."""

import ast
import dataclasses
import re

import pytest

from pygent import task_tools, tools
from pygent.cli import endings
from pygent.commands import COMMANDS
from pygent.config import files
from pygent.events import Event
from pygent.events.kinds import KINDS
from tests.documents.pages import DOCS, ROOT

PACKAGE = ROOT / "pygent"
NAME = re.compile(r"(?:PYGENT|OPENAI)_[A-Z_]*[A-Z]")

# Names that look like settings and are none.
NOT_SETTINGS = {
    "PYGENT_CALL": "marks the processes of a command, for ourselves",
}


def rows(page):
    """Return the rows of all tables on a page, each as its cells without the marks of code."""
    text = (DOCS / page).read_text(encoding="utf-8").replace("\\|", "¦")
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in line] for line in lines]


def first_cells(page, width):
    """Return the code in the first cells of a page's tables, for rows of so many cells."""
    return [row[0].strip("`") for row in rows(page) if len(row) == width and row[0][:1] == "`"]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_page_tells_of_each_kind_of_event(kind):
    """Each kind of event is in the table, with its class and all fields of its own."""
    (row,) = [row for row in rows("events.md") if row[0] == f"`{kind}`"]
    own = {f.name for f in dataclasses.fields(KINDS[kind])} - {
        f.name for f in dataclasses.fields(Event)
    }
    assert row[1] == f"`{KINDS[kind].__name__}`"
    assert set(re.findall(r"`(\w+)`", row[2])) == own
    assert row[3]


def test_the_page_tells_of_no_other_kind():
    """The table has no kind that is not there."""
    assert set(first_cells("events.md", 4)) == set(KINDS)


def test_the_page_has_the_envelope():
    """The envelope's table has every field of it."""
    named = [f.name for f in dataclasses.fields(Event)]
    assert [row for row in first_cells("events.md", 2) if row in named] == named


def test_the_page_has_the_reasons_of_a_turn():
    """The words that a turn can end with are those of the class."""
    page = (DOCS / "events.md").read_text(encoding="utf-8")
    described = re.findall(r"``([a-z_]+)``", KINDS["turn_ended"].__doc__ or "")
    for word in set(described) - {"reason", "verified"}:
        assert f"`{word}`" in page


def variables():
    """Return the settings that the package names."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(NAME.findall(node.value))
    return found - set(NOT_SETTINGS)


def test_the_page_has_every_variable():
    """Each variable that the package reads is in the table, and no other."""
    assert {name for name in first_cells("settings.md", 3) if NAME.fullmatch(name)} == variables()


def test_the_page_has_every_key_of_a_file():
    """Each key of `pygent.toml` is in the table, with the variable that it stands for."""
    told = {row[0].strip("`"): row[1] for row in rows("settings.md") if len(row) == 2}
    known = {**files._TEXTS, **files._LISTS, "task_personas": "PYGENT_TASK_PERSONAS"}
    for key, variable in known.items():
        assert f"`{variable}`" in told[key]
    keys = {key for key in told if re.fullmatch(r"[a-z_]+", key)}
    assert keys == set(known)


def test_the_page_has_every_tool():
    """The table of what is built in has each tool, its effect, and whether it is offered."""
    told = {
        row[0].strip("`"): row for row in rows("tools.md") if len(row) == 4 and row[0][:1] == "`"
    }
    assert set(told) == set(tools.TOOLS)
    offered = set(tools.REGISTRY.offered())
    task_tools.register_task_tools()
    for name, row in told.items():
        found = tools.REGISTRY.get(name)
        assert found is not None
        assert row[2] == found.effect.value
        assert (row[3] == "yes") is (name in offered)


def test_the_page_has_every_effect_class():
    """The table of effect classes has each of them."""
    assert set(first_cells("tools.md", 2)) >= set(tools.Effect)


def test_the_page_has_every_exit_code():
    """The exit codes on the page are those in the code, with the same words."""
    known = re.findall(
        r"^\| (\d)\S*\s+\|[^|]*\|([^|]*)\|", endings.__doc__ or "", flags=re.MULTILINE
    )
    told = {row[0][:1]: row[2] for row in rows("command-line.md") if row[0][:1].isdecimal()}
    words = {code: set(re.findall(r"\w+", text)) for code, text in known}
    assert {code: set(re.findall(r"\w+", text)) for code, text in told.items()} == words


def test_the_page_has_every_slash_command():
    """Each command of a conversation is on the page, as its help says it is used."""
    told = set(first_cells("command-line.md", 2))
    usages = {command.usage or name for name, command in COMMANDS.items()}
    assert told == {usage.replace("|", "¦") for usage in usages} | {"/exit"}


def test_the_layers_on_the_page_are_all():
    """The table of layers names every module of the package."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert [name for name in sorted(there) if name[0] != "_" and f"`{name}`" not in page] == []
