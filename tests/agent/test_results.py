"""What tools return, and what the model is told of it."""

from __future__ import annotations

from pygent.messages import Message
from pygent.tools import register_tool
from tests.agent.models import Scripted, answers, call, calls, make

NOTHING = {"type": "object", "properties": {}}


def test_an_image_follows_the_answers(tmp_path):
    """A tool's answer is text; an image comes after all answers, as a message of its own."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 20)
    reply = calls(call("read_image", path="a.png"), call("glob", pattern="*"))
    agent = make(Scripted(reply, "nice"), tmp_path)
    agent.run("look")
    assert [m["role"] for m in agent.history][3:] == ["tool", "tool", "user", "assistant"]
    assert agent.history[5]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")


def test_a_tool_may_return_more_than_text(tmp_path):
    """A result that is no text reaches the model as JSON, nothing as an empty text."""
    register_tool("data", "", NOTHING, lambda rt: {"a": [1, 2]})
    register_tool("none", "", NOTHING, lambda rt: None)
    agent = make(Scripted(calls(call("data"), call("none")), "ok"), tmp_path)
    agent.run("go")
    assert answers(agent) == ['{"a": [1, 2]}', ""]


def test_a_huge_result_is_cut(tmp_path):
    """The model gets the beginning and the end, and how much is missing."""
    register_tool("huge", "", NOTHING, lambda rt: "a" * 3_000_000 + "END")
    agent = make(Scripted(calls(call("huge")), "ok"), tmp_path)
    agent.run("go")
    told = answers(agent)[0]
    assert len(told) < 101_000
    assert told.endswith("END")
    assert "left out" in told


def test_a_duck_typed_runtime_works(tmp_path):
    """A runtime of one's own needs `bash` and `write_file`, nothing more."""

    class Duck:
        def bash(self, cmd):
            return f"$ {cmd}\nquack"

        def write_file(self, path, content):
            return f"Wrote {path}"

    reply = calls(call("bash", cmd="ls"), call("write_file", path="a", content="b"))
    agent = make(Scripted(reply, "ok"), tmp_path, runtime=Duck())
    agent.run("go")
    assert answers(agent) == ["$ ls\nquack", "Wrote a"]


def test_the_official_clients_reply_is_read(tmp_path):
    """A model may return a dictionary with calls, or any object that looks like a message."""

    class Theirs:
        def model_dump(self):
            return {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "1",
                        "type": "function",
                        "function": {"name": "glob", "arguments": '{"pattern":"*"}'},
                    }
                ],
            }

    agent = make(Scripted(lambda _: Theirs(), {"content": "ok"}), tmp_path)
    assert isinstance(agent.run("go"), Message)
    assert answers(agent) == ["no file matches '*'"]
