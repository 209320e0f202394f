"""A chat-completions server that costs as little as Python can: the work is all in the client.

It keeps nothing but the last first request: which step comes next is read from the last call id
in the body, and what to do from the words that `prompt` puts into the user's message. It never
parses a body. It ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import sys

ID = b"bench-call-"
OPENING, CLOSING = b"[[bench ", b"]]"
EVENTS_A_WRITE = 50


def prompt(steps: int = 0, command: str = "true", deltas: int = 0, packed: int = 1) -> str:
    """Return a user's message that asks for ``steps`` calls of bash, then for an answer.

    With ``deltas`` the answer is streamed in so many pieces, ``packed`` of them to an HTTP chunk.
    """
    return f"Work. [[bench {steps} {deltas} {packed} {command.encode().hex()}]]"


class Client(asyncio.Protocol):
    """One connection, requests on it one after another."""

    first = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = bytearray()
        self.body_start = self.needed = 0

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while self.buffer:
            if not self.needed:
                end = self.buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                self.body_start = end + 4
                self.needed = self.body_start + _content_length(bytes(self.buffer[:end]).lower())
            if len(self.buffer) < self.needed:
                return
            if self.buffer.startswith(b"GET"):
                self.transport.write(_whole(Client.first))
            else:
                self.answer()
            del self.buffer[: self.needed]
            self.needed = 0

    def answer(self) -> None:
        """Answer the request that the buffer begins with."""
        body = self.buffer
        opening = body.find(OPENING) + len(OPENING)
        words = bytes(body[opening : body.find(CLOSING, opening)]).decode().split()
        steps, deltas, packed = map(int, words[:3])
        last = body.rfind(ID, 0, self.needed)
        done = int(body[last + len(ID) : last + len(ID) + 6]) if last >= 0 else 0
        if not done:
            Client.first = bytes(body[self.body_start : self.needed])
        if deltas:
            self.stream(deltas, packed)
        elif done < steps:
            self.transport.write(_whole(_call(done + 1, bytes.fromhex(words[3]).decode())))
        else:
            self.transport.write(_whole(_completion({"content": "done"}, "stop")))

    def stream(self, deltas: int, packed: int) -> None:
        """Answer with so many pieces of text, as fast as the other side takes them."""
        self.transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        event = _event({"content": "token "})
        for start in range(0, deltas, EVENTS_A_WRITE):
            here = min(EVENTS_A_WRITE, deltas - start)
            sizes = [min(packed, here - done) for done in range(0, here, packed)]
            self.transport.write(b"".join(_chunk(event * size) for size in sizes))
        end = _event({}, "stop") + b"data: [DONE]\n\n"
        self.transport.write(_chunk(end) + b"0\r\n\r\n")


def _content_length(head: bytes) -> int:
    start = head.find(b"\r\ncontent-length:")
    return int(head[start + 17 :].split(b"\r\n", 1)[0]) if start >= 0 else 0


def _whole(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


def _call(number: int, command: str) -> bytes:
    function = {"name": "bash", "arguments": json.dumps({"cmd": command})}
    call = {"id": f"{ID.decode()}{number:06d}", "type": "function", "function": function}
    return _completion({"content": None, "tool_calls": [call]}, "tool_calls")


def _completion(message: dict[str, object], reason: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    return _json({**_HEAD, "object": "chat.completion", "choices": [choice], "usage": usage})


def _event(delta: dict[str, object], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {**_HEAD, "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: %b\n\n" % _json(chunk)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


_HEAD = {"id": "chatcmpl-bench", "created": 1700000000, "model": "bench"}


async def serve() -> None:
    """Listen on a free port, say which, and go on until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Client, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(serve())
