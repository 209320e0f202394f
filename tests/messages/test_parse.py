"""Messages are read from whatever a model or a file has."""

from collections.abc import Mapping
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from pygent.messages import History, Message, ToolCall, ToolCallFunction, parse_message

CALL = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def test_a_message_is_returned_as_it_is():
    """What is a `Message` already is not copied."""
    message = Message("assistant", "hi")
    assert parse_message(message) is message


@pytest.mark.parametrize("calls", [None, [], "absent"])
def test_no_tool_calls_in_any_form(calls):
    """`tool_calls` that are null, empty or missing all mean none."""
    raw = {"role": "assistant", "content": "hi"}
    if calls != "absent":
        raw["tool_calls"] = calls
    assert parse_message(raw).tool_calls is None


def test_unknown_keys_are_kept_and_sent_back():
    """A key that Pygent does not know survives the way in and out."""
    raw = {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "hm"}
    message = parse_message(raw)
    assert message.extra == {"reasoning_content": "hm"}
    assert message.to_dict() == raw


def test_the_official_clients_objects():
    """Objects with `model_dump`, and plain ones with attributes, are read too."""
    function = SimpleNamespace(name="bash", arguments="{}")
    call = SimpleNamespace(id="1", type="function", function=function)
    plain = SimpleNamespace(role="assistant", content=None, tool_calls=[call])
    dumped = SimpleNamespace(
        model_dump=lambda: {"role": "assistant", "content": None, "tool_calls": [CALL]}
    )
    expected = Message(
        "assistant", None, [ToolCall("1", "function", ToolCallFunction("bash", "{}"))]
    )
    assert parse_message(plain) == expected
    assert parse_message(dumped) == expected


def test_decoded_arguments_become_text_again():
    """Servers that send arguments as an object, or calls without id or type, are understood."""
    raw = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
    call = parse_message(raw).tool_calls[0]
    assert (call.id, call.type, call.function.arguments) == ("", "function", '{"a": 1}')


def test_what_is_no_message_is_named():
    """Anything else is a `TypeError` that says what it was and what to return."""
    with pytest.raises(TypeError, match=r"'int'.*return"):
        parse_message(7)


def test_a_list_of_parts_stays_a_list():
    """Images and text in one message keep their form, through `asdict` too."""
    parts = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA="}}]
    message = parse_message({"role": "user", "content": parts})
    assert asdict(message)["content"] == parts


def test_a_message_reads_like_a_dictionary():
    """`m["content"]`, `m.get`, `in`, `dict(m)` work on a message."""
    message = Message("assistant", "hi")
    assert message["content"] == "hi"
    assert message.get("tool_calls", "none") == "none"
    assert "tool_calls" not in message
    assert dict(message) == {"role": "assistant", "content": "hi"}
    assert str(message) == "hi"


def test_a_message_is_a_mapping():
    """So the official client takes it, and a conversation of it, as it is."""
    message = Message("assistant", "hi")
    assert isinstance(message, Mapping)
    assert dict(message.items()) == dict(message)
    assert list(message.values()) == ["assistant", "hi"]
    assert len(message) == 2


def test_a_mapping_that_is_a_message_stays_one():
    """In a history it is a `Message`, with its fields."""
    history = History()
    history.append(Message("assistant", "hi"))
    assert history[0].content == "hi"


@pytest.mark.parametrize("form", ["mapping", "object", "dumped"])
def test_of_a_whole_completion_the_first_choice_counts(form):
    """A model may return all that the client gave it; usage and finish reason are kept."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a"}}
    raw = {"id": "1", "choices": [choice, {}], "usage": {"total_tokens": 3}}
    forms = {
        "mapping": raw,
        "object": SimpleNamespace(**{**raw, "choices": [SimpleNamespace(**choice)]}),
        "dumped": SimpleNamespace(model_dump=lambda: raw),
    }
    message = parse_message(forms[form])
    assert message == Message("assistant", "a")
    assert (message.usage, message.finish_reason) == ({"total_tokens": 3}, "stop")
