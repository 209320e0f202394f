"""The floor: the same work with nothing around it.

One blocking keep-alive socket, a body that only grows, ``posix_spawn`` of ``sh -c`` with a pipe.
It checks nothing, records nothing and cannot be stopped: nobody would want it as an agent.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

HEAD_AND_TAIL = 30_000


class Floor:
    """Sends what Pygent sends: ``first`` is the body of its first request."""

    def __init__(self, url: str, first: bytes) -> None:
        self._address = urlsplit(url)
        request = json.loads(first)
        system = request["messages"][0]
        self._opening = b'{"model":"bench","tools":%b,"messages":[%b,' % (
            _json(request["tools"]),
            _json(system),
        )
        path = f"{self._address.path}/chat/completions"
        self._head = f"POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-length: ".encode()

    def session(self, prompt: str) -> int:
        """Work until the model answers; returns how many commands were run."""
        commands = 0
        body = bytearray(self._opening + _json({"role": "user", "content": prompt}))
        with self._connect() as sock:
            while True:
                self._send(sock, body)
                message = json.loads(_body(sock))["choices"][0]["message"]
                body += b"," + _json(message)
                if not message.get("tool_calls"):
                    return commands
                for call in message["tool_calls"]:
                    output = run(json.loads(call["function"]["arguments"])["cmd"])
                    answer = {"role": "tool", "tool_call_id": call["id"], "content": output}
                    body += b"," + _json(answer)
                    commands += 1

    def stream(self, prompt: str) -> int:
        """Read a streamed answer, each event decoded; returns how many pieces it had."""
        body = bytearray(self._opening + _json({"role": "user", "content": prompt}))
        with self._connect() as sock:
            self._send(sock, body)
            return sum("content" in delta for delta in _deltas(sock))

    def _connect(self) -> socket.socket:
        sock = socket.create_connection((self._address.hostname, self._address.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def _send(self, sock: socket.socket, body: bytearray) -> None:
        head = b"%b%d\r\n\r\n" % (self._head, len(body) + 2)
        sock.sendall(b"".join((head, body, b"]}")))


def run(command: str) -> str:
    """Run a command and return the head and tail of what it printed."""
    reading, writing = os.pipe()
    pid = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", command],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_DUP2, writing, 2)],
    )
    os.close(writing)
    output = bytearray()
    while data := os.read(reading, 1 << 16):
        output += data
        if len(output) > 4 * HEAD_AND_TAIL:
            del output[HEAD_AND_TAIL // 2 : -HEAD_AND_TAIL // 2]
    os.close(reading)
    os.waitpid(pid, 0)
    return output[:HEAD_AND_TAIL].decode("utf-8", "replace")


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _body(sock: socket.socket) -> bytes:
    data = sock.recv(1 << 16)
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += sock.recv(1 << 16)
    start = data.index(b"content-length: ") + 16
    length = int(data[start : data.index(b"\r\n", start)])
    while len(data) < end + 4 + length:
        data += sock.recv(1 << 16)
    return data[end + 4 :]


def _deltas(sock: socket.socket) -> Iterator[dict[str, Any]]:
    data = b""
    while True:
        data += sock.recv(1 << 16)
        *lines, data = data.split(b"\n")
        for line in lines:
            if line.startswith(b"data: [DONE]"):
                return
            if line.startswith(b"data: "):
                yield json.loads(line[6:])["choices"][0]["delta"]
