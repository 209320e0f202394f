"""Arguments that do not fit: one answer that says what to fix, and nothing runs."""

from __future__ import annotations

import json
import time

import pytest

from pygent.messages import Message
from pygent.tools import execute_tool, register_tool, tool
from tests.agent.models import Scripted, answers, calls, ends, make, raw_call

DEEP = 100_000
BAD = {
    "empty": "",
    "null": "null",
    "array": "[]",
    "text": '"x"',
    "number": "1",
    "true": "true",
    "half": "{",
    "half a text": '{"cmd": "a',
    "no value": '{"cmd":}',
    "trailing comma": '{"cmd": "a",}',
    "single quotes": "{'cmd': 'a'}",
    "python": '{"cmd": None}',
    "two values": '{"cmd": "a"} {"cmd": "b"}',
    "control character": '{"cmd": "a\x01b"}',
    "wrong type": '{"cmd":1}',
    "null value": '{"cmd":null}',
    "list value": '{"cmd":["a"]}',
    "the runtime": '{"cmd":"a","rt":"x"}',
    "unknown key": '{"cmd":"a","cwd":"/"}',
    "infinite": '{"cmd":"a","timeout":1e309}',
    "NaN": '{"cmd":"a","timeout":NaN}',
    "Infinity": '{"cmd":"a","timeout":-Infinity}',
    "duplicate key": '{"cmd":"a","cmd":"b"}',
    "deep": '{"cmd":' + "[" * DEEP + "]" * DEEP + "}",
    "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "huge": '{"cmd":"' + "a" * 50_000_000 + '"}',
    "huge number": '{"cmd":"a","timeout":' + "9" * 5000 + "}",
    "boolean for a number": '{"cmd":"a","timeout":true}',
    "NUL": '{"cmd":"a\\u0000b"}',
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_answered_and_the_loop_goes_on(tmp_path, name):
    """One error result for the call, a text that the model can use, and the next request."""
    agent = make(Scripted(calls(raw_call("bash", BAD[name])), "I see"), tmp_path)
    assert agent.run("go").content == "I see"
    (told,) = answers(agent)
    assert "[error]" in told or "NUL" in told, told
    assert len(told) < 4000
    assert ends(agent) == ["answer"]
    assert [e.outcome for e in agent.log.events() if e.type == "tool_finished"] == ["error"]
    if name != "NUL":
        assert "invalid arguments for bash" in told
        assert '"cmd"' in told


def test_a_valid_call_of_the_same_tool_runs(tmp_path):
    """The control: the table above fails for what is in it, and for nothing else."""
    agent = make(Scripted(calls(raw_call("bash", ' {"cmd": "echo a"}\n')), "ok"), tmp_path)
    agent.run("go")
    assert answers(agent) == ["$ echo a\na\n"]


@pytest.mark.parametrize("raw", ["", "  ", "{}", "null"])
def test_a_tool_without_parameters_takes_no_arguments_in_any_form(tmp_path, raw):
    """Models write nothing in many ways."""
    agent = make(Scripted(calls(raw_call("stop", raw))), tmp_path)
    agent.run("go", max_steps=1)
    assert ends(agent) == ["stop" if raw != "null" else "max_steps"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["'count' is required", "'where' is required"]),
        ({"count": "three", "where": "here"}, ["'count'", "integer", "'three'"]),
        ({"count": 1, "where": "nowhere"}, ["'where'", "'here'", "'there'", "'nowhere'"]),
        ({"count": 1, "where": "here", "more": 1}, ["'more' is not a parameter", "count"]),
        ({"count": 1, "where": "here", "tags": ["a", 2]}, ["'tags'", "1", "string"]),
        ({"count": True, "where": "here"}, ["'count'", "integer"]),
    ],
)
def test_the_answer_says_what_to_fix(arguments, words):
    """The parameter, what it must be, and what it was."""
    schema = {
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "where": {"type": "string", "enum": ["here", "there"]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["count", "where"],
    }
    register_tool("put", "", schema, lambda rt, **given: "ran")
    told = execute_tool(raw_call("put", json.dumps(arguments)), None)
    assert "ran" not in told
    for word in words:
        assert word in told


@pytest.mark.parametrize(
    ("keyword", "bad", "good"),
    [
        ({"type": "string", "pattern": "^a+$"}, "b", "aa"),
        ({"type": "integer", "minimum": 3}, 2, 3),
        ({"type": "array", "minItems": 1}, [], [1]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, None),
        ({"const": 7}, 8, 7),
        (
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {},
            {"a": 1},
        ),
        ({"$ref": "#/$defs/n"}, "x", 1),
    ],
)
def test_all_of_json_schema_holds(keyword, bad, good):
    """Keywords that most tools do not use are checked as well."""
    schema = {"type": "object", "properties": {"v": keyword}, "$defs": {"n": {"type": "integer"}}}
    register_tool("take", "", schema, lambda rt, v: f"got {v!r}")
    assert execute_tool(raw_call("take", json.dumps({"v": good})), None) == f"got {good!r}"
    told = execute_tool(raw_call("take", json.dumps({"v": bad})), None)
    assert "invalid arguments" in told
    assert "'v'" in told


def test_a_schema_never_reaches_out():
    """A reference to somewhere else is an error result, not a request."""
    schema = {"type": "object", "properties": {"v": {"$ref": "http://127.0.0.1:9/schema"}}}
    register_tool("out", "", schema, lambda rt, v: "ran")
    assert "ran" not in execute_tool(raw_call("out", '{"v": 1}'), None)


def test_a_broken_schema_is_told_and_not_raised():
    """A tool of somebody else's with nonsense for a schema does not end the loop."""
    register_tool("odd", "", {"type": "object", "properties": {"v": {"type": "nonsense"}}}, print)
    assert "[error]" in execute_tool(raw_call("odd", '{"v": 1}'), None)


def test_arguments_that_are_decoded_already():
    """Some servers send an object instead of a text; a call may lack id and type."""

    class Call:
        class function:  # noqa: N801 - a call is written like this
            name, arguments = "echo", {"text": "hi"}

    @tool
    def echo(text: str) -> str:
        return text

    assert execute_tool(Call, None) == "hi"


def test_checking_is_quick():
    """A call's arguments cost microseconds, not an import."""
    register_tool("quick", "", {"properties": {"a": {"type": "string"}}}, lambda rt, a: a)
    one = raw_call("quick", '{"a": "x"}')
    execute_tool(one, None)
    started = time.perf_counter()
    for _ in range(1000):
        execute_tool(one, None)
    assert time.perf_counter() - started < 1


def test_a_message_of_a_model_can_be_anything():
    """Arguments that are no text at all are written as JSON when the reply is read."""
    from pygent.messages import parse_message

    message = parse_message(
        {"tool_calls": [{"function": {"name": "glob", "arguments": {"pattern": "*"}}}]}
    )
    assert isinstance(message, Message)
    assert message.tool_calls[0].function.arguments == '{"pattern": "*"}'
