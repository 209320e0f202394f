"""`@tool` and `register_tool`: the schema that a model sees, and what the function gets."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pydantic
import pytest

from pygent.errors import ConfigError
from pygent.runtime import Runtime
from pygent.tools import REGISTRY, TOOL_SCHEMAS, TOOLS, Effect, execute_tool, register_tool, tool
from tests.agent.models import raw_call

NOTHING = {"type": "object", "properties": {}}


def schema_of(name):
    (found,) = [s["function"] for s in TOOL_SCHEMAS if s["function"]["name"] == name]
    return found


def run(name, rt=None, /, **arguments):
    return execute_tool(raw_call(name, json.dumps(arguments)), rt)


@dataclass
class Point:
    x: int
    y: int = 0


class Address(pydantic.BaseModel):
    street: str
    number: int


class Color(Enum):
    RED = "red"
    BLUE = "blue"


def test_registering_a_name_twice_is_a_value_error():
    """The first registration stays."""
    register_tool("mine", "first", NOTHING, lambda rt: "first")
    for again in (
        lambda: register_tool("mine", "second", NOTHING, lambda rt: "second"),
        lambda: tool(name="mine", description="", parameters=NOTHING)(lambda rt: "third"),
        lambda: tool(name="bash")(lambda rt: "fourth"),
    ):
        with pytest.raises(ValueError, match="already registered"):
            again()
    assert run("mine") == "first"


def test_the_old_form():
    """Name, description and parameters as they are given; the runtime comes first."""
    parameters = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }

    @tool(name="shout", description="Shout it.", parameters=parameters)
    def whatever(rt, text):
        return f"{rt} {text.upper()}"

    assert schema_of("shout") == {
        "name": "shout",
        "description": "Shout it.",
        "parameters": parameters,
    }
    assert run("shout", "RT", text="hi") == "RT HI"
    assert whatever("x", "y") == "x Y"


def test_the_bare_form_has_an_exact_schema():
    """Everything comes from signature and docstring, and nothing else is in it."""

    @tool
    def find(
        rt,
        query: str,
        kind: Literal["file", "folder"] = "file",
        limit: int = 10,
        since: Optional[float] = None,  # noqa: UP045 - users write it like this
        tags: list[str] = [],  # noqa: B006 - and this
    ) -> str:
        """Find things.

        It looks everywhere.

        Args:
            query: what to look for,
                in words
            limit: how many at most
        """
        return f"{rt} {query} {kind} {limit} {since} {tags}"

    assert schema_of("find") == {
        "name": "find",
        "description": "Find things.\nIt looks everywhere.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "what to look for, in words"},
                "kind": {"type": "string", "enum": ["file", "folder"], "default": "file"},
                "limit": {"type": "integer", "default": 10, "description": "how many at most"},
                "since": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    }
    assert run("find", "RT", query="x") == "RT x file 10 None []"
    assert run("find", "RT", query="x", kind="folder", limit=2, since=1.5, tags=["a"]) == (
        "RT x folder 2 1.5 ['a']"
    )
    for bad in ({"kind": "door"}, {"limit": "many"}, {"tags": "a"}, {"nope": 1}):
        told = run("find", "RT", query="x", **bad)
        assert "invalid arguments for find" in told
        assert f"'{next(iter(bad))}" in told


@pytest.mark.parametrize(
    ("style", "doc"),
    [
        ("google", "Do it.\n\nArgs:\n    what: the thing\n"),
        ("numpy", "Do it.\n\nParameters\n----------\nwhat : str\n    the thing\n"),
        ("sphinx", "Do it.\n\n:param what: the thing\n"),
    ],
)
def test_docstrings_of_three_styles(style, doc):
    """What they say of a parameter is its description."""

    def act(what: str):
        return what

    act.__doc__ = doc
    tool(act)
    assert schema_of("act")["description"] == "Do it."
    assert schema_of("act")["parameters"]["properties"]["what"] == {
        "type": "string",
        "description": "the thing",
    }


def test_the_modern_form_with_some_arguments():
    """What is given wins, the rest is read from the function."""

    @tool(name="add", effect="pure")
    def plus(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    assert schema_of("add")["description"] == "Add two numbers."
    assert REGISTRY.get("add").effect is Effect.PURE
    assert run("add", a=1, b=2) == "3"

    @tool(description="Said so.")
    def other() -> None:
        """Not this."""

    assert schema_of("other")["description"] == "Said so."
    assert REGISTRY.get("other").effect is Effect.IRREVERSIBLE


def test_structured_parameters_arrive_as_what_they_are():
    """Dataclasses, pydantic models, enums, dicts and nested lists."""
    seen: dict[str, Any] = {}

    @tool
    def take(
        point: Point,
        address: Address,
        color: Color,
        table: dict[str, int],
        points: list[Point] | None = None,
        size: Annotated[int, pydantic.Field(ge=1, le=3)] = 1,
    ):
        seen.update(locals())

    good = {
        "point": {"x": 1},
        "address": {"street": "s", "number": 2},
        "color": "red",
        "table": {"a": 1},
        "points": [{"x": 1, "y": 2}],
    }
    assert run("take", **good) == ""
    assert seen["point"] == Point(1, 0)
    assert seen["address"] == Address(street="s", number=2)
    assert seen["color"] is Color.RED
    assert seen["table"] == {"a": 1}
    assert seen["points"] == [Point(1, 2)]
    assert "'address.number' is required" in run("take", **{**good, "address": {"street": "s"}})
    assert "'size'" in run("take", **good, size=9)
    assert "'points.0.x'" in run("take", **{**good, "points": [{"x": "no"}]})
    text = json.dumps(schema_of("take"))
    assert '"title"' not in text
    assert run("take", **{**good, "color": "green"}).count("color")


def test_a_parameter_may_be_called_anything():
    """`title`, `schema`, `_private` and `self`-like names are parameters as all others."""

    @tool
    def odd(title: str, schema: int, model_config: str = "m", _hidden: str = "h") -> str:
        return f"{title} {schema} {model_config} {_hidden}"

    assert set(schema_of("odd")["parameters"]["properties"]) == {
        "title",
        "schema",
        "model_config",
        "_hidden",
    }
    assert run("odd", title="t", schema=1, _hidden="x") == "t 1 m x"


def test_without_types_and_docstring():
    """Anything goes, and the name describes it."""

    @tool
    def loose(rt, a, b=2):
        return f"{a} {b}"

    assert schema_of("loose")["description"] == "loose"
    assert schema_of("loose")["parameters"]["required"] == ["a"]
    assert run("loose", a=[1]) == "[1] 2"


def test_what_cannot_be_a_tool_is_named():
    """`*args`, and a tool with parameters but no name."""
    with pytest.raises(ConfigError, match=r"\*rest"):
        tool(lambda *rest: None)
    with pytest.raises(ConfigError, match="name="):
        tool(parameters=NOTHING)(lambda rt: None)
    with pytest.raises(ConfigError, match="magic"):
        tool(effect="magic")(lambda rt: None)
    with pytest.raises(ConfigError, match="wrong"):
        register_tool("wrong", "", {"type": "array"}, lambda rt: None)
    with pytest.raises(ConfigError, match="effect class"):
        register_tool("wrong", "", NOTHING, lambda rt: None, effect="magic")
    with pytest.raises(ConfigError, match="function"):
        register_tool("wrong", "", NOTHING, "no function")
    assert "wrong" not in TOOLS


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, 5], ids=repr)
def test_a_name_that_servers_refuse_is_refused(name):
    """One such name would fail every request that offers it."""
    with pytest.raises(ConfigError, match="no name for a tool"):
        register_tool(name, "", NOTHING, lambda rt: None)
    assert name not in TOOLS


def test_a_lambda_needs_a_name():
    """What it is called by itself is no name."""
    with pytest.raises(ConfigError, match="name="):
        tool(lambda: 1)
    tool(name="one")(lambda: 1)
    assert run("one") == "1"


def test_an_async_function_is_refused():
    """It would never run: tools are called without an event loop."""

    async def later(x: int) -> int:
        return x

    with pytest.raises(ConfigError, match=r"asyncio\.run"):
        tool(later)
    with pytest.raises(ConfigError, match=r"asyncio\.run"):
        register_tool("later", "", NOTHING, later)
    assert "later" not in TOOLS


def test_the_runtime_is_known_by_its_type():
    """Whatever the first parameter is called, also where only type checkers know the type."""

    @tool
    def by_type(where: Runtime, what: str) -> str:
        return f"{what} {where}"

    assert set(schema_of("by_type")["parameters"]["properties"]) == {"what"}
    assert run("by_type", what="hi").startswith("hi ")

    def quoted(rt, what):
        return what

    quoted.__annotations__ = {"rt": "Runtime", "what": "str"}
    quoted.__globals__.pop("Elsewhere", None)
    tool(quoted)
    assert set(schema_of("quoted")["parameters"]["properties"]) == {"what"}


def test_types_that_cannot_be_told_are_named():
    """One that JSON has no word for, and one that is not there."""

    def odd(x):
        return x

    odd.__annotations__ = {"x": threading.Lock().__class__}
    with pytest.raises(ConfigError, match="odd has a parameter that JSON cannot express"):
        tool(odd)
    odd.__annotations__ = {"x": "NotThere"}
    with pytest.raises(ConfigError, match="'NotThere' is not defined"):
        tool(odd)
    assert "odd" not in TOOLS


def test_a_method_and_a_callable_object():
    """Whatever can be called with names can be a tool."""

    class Counter:
        count = 0

        def up(self, by: int = 1) -> int:
            """Count up."""
            self.count += by
            return self.count

        def __call__(self, rt, what: str) -> str:
            """Say it."""
            return what

    counter = Counter()
    tool(counter.up)
    tool(name="say")(counter)
    assert run("up", by=2) == "2"
    assert run("up") == "3"
    assert run("say", what="hi") == "hi"
    assert set(schema_of("say")["parameters"]["properties"]) == {"what"}
