"""A chat-completions server on the loopback, for tests that need real HTTP."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from ..messages import Message
from .wire import Fault, Reply

__all__ = ["ChatServer", "Request"]

Scripted = str | Mapping[str, Any] | Message | Reply | Callable[["Request"], Any]


class Request(dict[str, Any]):
    """A request that came: its JSON as a dictionary, with ``path``, ``headers`` and ``raw``."""

    def __init__(self, path: str, headers: Mapping[str, str], raw: bytes) -> None:
        body = json.loads(raw or b"{}")
        super().__init__(body if isinstance(body, dict) else {})
        self.path = path
        self.headers = dict(headers)
        self.raw = raw


class ChatServer:
    """A server that answers from a script, strictly.

    ``replies`` are given out one for each request: a text, a dictionary, a `Message`, a `Reply`,
    or a function of the request that returns one of these. ``default`` answers once they are
    used up; without it a further request is answered 500, and leaving the ``with`` block is an
    `AssertionError`, as it is while replies are left over. ``url`` is what goes into
    ``OPENAI_BASE_URL``, ``requests`` what came in.
    """

    def __init__(
        self,
        replies: Iterable[Scripted] = (),
        *,
        default: Scripted | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.failures: list[str] = []
        self.connections = 0
        self._replies = deque(replies)
        self._default = default
        self._ssl = ssl_context
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return f"{'https' if self._ssl else 'http'}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        thread = threading.Thread(target=self._accept, name="chat-server", daemon=True)
        self._threads.append(thread)
        thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if kind is None:
            self.check()

    def add(self, *replies: Scripted) -> None:
        """Append to the script."""
        with self._lock:
            self._replies.extend(replies)

    def check(self) -> None:
        """Raise an `AssertionError` about requests that had no reply, and replies left over."""
        problems = list(self.failures)
        if self._replies:
            problems.append(f"{len(self._replies)} replies were never asked for")
        if problems:
            raise AssertionError("; ".join(problems))

    def hang_up(self) -> None:
        """Close all connections, as a server does with those that lie idle."""
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _quietly(connection.shutdown, socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop at once, whatever is under way."""
        self._closing.set()
        # Connecting wakes the thread that waits for connections, on every system.
        _quietly(lambda: socket.create_connection(("127.0.0.1", self.port), 1).close())
        self._threads[0].join(5)
        self._listener.close()
        self.hang_up()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while not self._closing.is_set():
            connection, _ = self._listener.accept()
            with self._lock:
                self._open.add(connection)
                self.connections += 1
            thread = threading.Thread(target=self._talk, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _talk(self, plain: socket.socket) -> None:
        connection = plain
        try:
            if self._ssl is not None:
                connection = self._ssl.wrap_socket(plain, server_side=True)
                with self._lock:
                    self._open.discard(plain)
                    self._open.add(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            rest = b""
            while not self._closing.is_set():
                head, rest = _read_head(connection, rest)
                if head is None:
                    break
                path, headers = head
                raw, rest = _read_body(connection, rest, int(headers.get("content-length", 0)))
                if not self._answer(connection, path, headers, raw):
                    break
        except OSError:
            pass  # The client went away, which it may at any time.
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _answer(
        self, connection: socket.socket, path: str, headers: dict[str, str], raw: bytes
    ) -> bool:
        """Answer one request; returns whether the connection goes on."""
        request = Request(path, headers, raw)
        if path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": "test", "object": "model"}]}
            return self._send(connection, request, Reply(body=listed))
        with self._lock:
            self.requests.append(request)
            script = self._replies.popleft() if self._replies else self._default
        try:
            reply = _reply(script, request)
        except Exception as exc:  # noqa: BLE001 - whatever the test's own code raised is reported
            reply = self._failed(f"the reply to request {len(self.requests)} raised {exc!r}")
        if reply is None:
            reply = self._failed(f"request {len(self.requests)} was not expected")
        return self._send(connection, request, reply)

    def _failed(self, text: str) -> Reply:
        with self._lock:
            self.failures.append(text)
        return Reply(status=500, body={"error": {"message": text}})

    def _send(self, connection: socket.socket, request: Request, reply: Reply) -> bool:
        if not self._steps(connection, reply.before, chunked=False):
            return False
        headers, steps = reply.steps(request)
        chunked = "content-length" not in headers
        if chunked:
            headers["transfer-encoding"] = "chunked"
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if not chunked:
            steps = list(steps)
            if steps and isinstance(steps[0], bytes):
                steps[0] = head + steps[0]
                head = b""
        connection.sendall(head)
        if not self._steps(connection, steps, chunked=chunked):
            return False
        if chunked:
            connection.sendall(b"0\r\n\r\n")
        return headers.get("connection", "").lower() != "close"

    def _steps(self, connection: socket.socket, steps: Iterable[Any], *, chunked: bool) -> bool:
        """Go through a script; returns whether it came to its end."""
        for step in steps:
            if isinstance(step, Fault):
                self._fail(connection, step)
                return False
            if isinstance(step, threading.Event | int | float):
                if not self._waited(step):
                    return False
            elif data := step.encode() if isinstance(step, str) else step:
                connection.sendall(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        return True

    def _fail(self, connection: socket.socket, fault: Fault) -> None:
        if fault is Fault.HANG:
            self._closing.wait()
        elif fault is Fault.RESET:
            # Closing with nothing to linger for sends a reset.
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    def _waited(self, step: threading.Event | float) -> bool:
        """Wait for an event, or for some seconds; returns whether that was not interrupted."""
        if not isinstance(step, threading.Event):
            return not self._closing.wait(step)
        while not step.wait(0.02):
            if self._closing.is_set():
                return False
        return True


def _reply(script: Any, request: Request) -> Reply | None:
    """Return what a script says to a request."""
    if callable(script):
        script = script(request)
    return script if script is None or isinstance(script, Reply) else Reply(script)


def _read_head(
    connection: socket.socket, data: bytes
) -> tuple[tuple[str, dict[str, str]] | None, bytes]:
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more or not (data + more)[:1].isalpha():
            return None, b""  # Gone, or no HTTP at all.
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return (first.split(" ")[1], {k.strip().lower(): v.strip() for k, _, v in pairs}), rest


def _read_body(connection: socket.socket, data: bytes, length: int) -> tuple[bytes, bytes]:
    parts = [data]
    size = len(data)
    while size < length:
        more = connection.recv(262144)
        if not more:
            raise ConnectionError("the client went away in the middle of its request")
        parts.append(more)
        size += len(more)
    whole = b"".join(parts)
    return whole[:length], whole[length:]


def _quietly(do: Callable[..., Any], *args: Any) -> None:
    try:
        do(*args)
    except OSError:
        pass  # It is gone already, which is what was wanted.
