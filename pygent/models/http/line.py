"""One TCP connection, seen by httpcore2 as its network, that any thread can cut.

Closing a client does not wake the thread that reads from it; shutting its socket down does.
"""

from __future__ import annotations

import errno
import os
import select
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any

import httpcore2

__all__ = ["Line"]

_SLICE = 0.1
_TOGETHER = 1 << 15


class Line(httpcore2.NetworkBackend):
    """The network of one connection: it connects once, and `stop` ends whatever it is at."""

    def __init__(self) -> None:
        self.received = 0
        """How many bytes came since the last request began."""
        self.progress: float | None = None
        """When something meaningful last came; None if any byte means something."""
        self.stopped = False
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._socket: socket.socket | None = None

    def stop(self) -> None:
        """Wake whoever connects, reads or writes here; nothing can be sent or read after."""
        with self._lock:
            self.stopped = True
            if self._socket is not None:
                _shut_down(self._socket)
        self._woken.set()

    def close(self) -> None:
        """Give the socket back."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def abandon(self) -> None:
        """Close a forked child's copy of the socket; the lock may be another thread's for ever."""
        if self._socket is not None:
            self._socket.close()

    def hold(self, sock: socket.socket) -> None:
        """Make ``sock`` the one that `stop` ends."""
        with self._lock:
            self._socket = sock
            if self.stopped:
                _shut_down(sock)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of ``host`` that answers, within ``timeout`` in all."""
        deadline = time.monotonic() + (60.0 if timeout is None else timeout)
        addresses = self._addresses(host, port, deadline)
        failure: Exception = httpcore2.ConnectError("no address")
        for left, (family, kind, proto, _, address) in zip(
            range(len(addresses), 0, -1), addresses, strict=True
        ):
            until = time.monotonic() + (deadline - time.monotonic()) / left
            try:
                sock = socket.socket(family, kind, proto)
            except OSError as exc:
                failure = httpcore2.ConnectError(_reason(exc))
                continue
            self.hold(sock)
            try:
                self._connect(sock, address, until)
                self.hold(sock)  # Again: what is not connected yet cannot be shut down.
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except TimeoutError as exc:
                failure = httpcore2.ConnectTimeout(str(exc))
            except OSError as exc:
                failure = httpcore2.ConnectError(_reason(exc))
            else:
                return _Stream(self, sock)
            self.close()
        raise failure

    def _addresses(self, host: str, port: int, deadline: float) -> list[Any]:
        """Look a name up; in a thread, for a lookup that hangs cannot be interrupted."""
        try:
            return socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
            )
        except OSError:
            pass
        found: list[Any] = []

        def look_up() -> None:
            try:
                found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
            except (OSError, UnicodeError) as exc:
                found.append(exc)
            self._woken.set()

        threading.Thread(target=look_up, name="pygent-lookup", daemon=True).start()
        self._woken.wait(deadline - time.monotonic())
        if self.stopped or not found:
            raise httpcore2.ConnectTimeout("looking the name up took too long")
        if isinstance(found[0], Exception):
            raise httpcore2.ConnectError(f"the name {host!r} is unknown ({_reason(found[0])})")
        return list(found[0])

    def _connect(self, sock: socket.socket, address: Any, until: float) -> None:
        sock.setblocking(False)
        code = sock.connect_ex(address)
        if code not in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
            raise OSError(code, os.strerror(code))
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_WRITE)
            # In slices: not every system wakes a socket that is connecting when it is shut down.
            while not selector.select(min(_SLICE, max(0.0, until - time.monotonic()))):
                if self.stopped or time.monotonic() >= until:
                    raise TimeoutError("no connection")
        if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(code, os.strerror(code))


class _Stream(httpcore2.NetworkStream):
    """The bytes of a `Line`."""

    def __init__(self, line: Line, sock: socket.socket) -> None:
        self._line = line
        self._socket = sock
        self._head = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        progress = self._line.progress
        if progress is not None and timeout is not None:
            timeout = max(0.001, timeout - (time.monotonic() - progress))
        self._socket.settimeout(timeout)
        try:
            data = self._socket.recv(max_bytes)
        except TimeoutError as exc:
            raise httpcore2.ReadTimeout(str(exc)) from exc
        except OSError as exc:
            raise httpcore2.ReadError(_reason(exc)) from exc
        self._line.received += len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        if buffer.startswith(b"POST ") and buffer.endswith(b"\r\n\r\n"):
            # The head goes out with the body that follows: one packet, one wake-up of the server.
            self._head = buffer
            return
        # Only the beginning is put together: copying a large body takes as long as sending it.
        first = memoryview(self._head + buffer[:_TOGETHER])
        self._head = b""
        try:
            self._socket.settimeout(timeout)
            for view in (first, memoryview(buffer)[_TOGETHER:]):
                while view:
                    view = view[self._socket.send(view) :]  # noqa: PLW2901 - what is left of it
        except TimeoutError as exc:
            raise httpcore2.WriteTimeout(str(exc)) from exc
        except OSError as exc:
            raise httpcore2.WriteError(_reason(exc)) from exc

    def close(self) -> None:
        self._line.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        if isinstance(self._socket, ssl.SSLSocket):
            self._line.close()
            raise httpcore2.ConnectError("a proxy that is itself reached by https is not supported")
        try:
            self._socket.settimeout(timeout)
            secured = ssl_context.wrap_socket(
                self._socket, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            self._line.hold(secured)
            secured.do_handshake()
        except TimeoutError as exc:
            self._line.close()
            raise httpcore2.ConnectTimeout(str(exc)) from exc
        except OSError as exc:
            self._line.close()
            raise httpcore2.ConnectError(_reason(exc)) from exc
        return _Stream(self._line, secured)

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        return _readable(self._socket) if info == "is_readable" else None


def _shut_down(sock: socket.socket) -> None:
    try:
        # The plain one: an SSLSocket's own would pull its state from under the thread that reads.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        pass  # Not connected yet, or closed by the other side.


def _readable(sock: socket.socket) -> bool:
    """Return whether an idle socket has something to say, which can only be its end."""
    if sock.fileno() < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _reason(exc: Exception) -> str:
    if isinstance(exc, ssl.SSLCertVerificationError):
        return f"its certificate was refused: {exc.verify_message}"
    if isinstance(exc, OSError) and exc.strerror:
        return exc.strerror
    return str(exc) or type(exc).__name__
