"""One request and its answer, which any thread may stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import httpcore2

from ...cancel import CancelScope
from ...errors import APIError
from ..endpoint import Endpoint
from ..failures import Source
from .body import unpacked
from .pool import Connection, pool

__all__ = ["Exchange", "post"]

_MAX_ERROR_BODY = 64 * 1024
_DRAIN_SECONDS = 0.05
_PORTS = {"http": 80, "https": 443}


@contextmanager
def post(
    endpoint: Endpoint,
    body: bytes,
    *,
    accept: bytes = b"application/json",
    connect_timeout: float | None = 10.0,
    idle_timeout: float | None = 300.0,
) -> Generator[Exchange]:
    """Send a request; within the block its answer can be read.

    An answer with a status that means no is an `APIError`. When the current `CancelScope` is
    cancelled or runs out, whatever goes on here ends at once, and its error is raised.
    """
    scope = CancelScope.current()
    scope.check()
    exchange = Exchange(endpoint, connect_timeout, idle_timeout)
    try:
        with scope.stopping(exchange.stop):
            exchange.send(body, accept)
            yield exchange
    except APIError:
        scope.check()
        raise
    finally:
        exchange.close()
    scope.check()


class Exchange:
    """A request on its way, then its answer: ``status``, ``headers``, and the body in chunks."""

    def __init__(
        self, endpoint: Endpoint, connect_timeout: float | None, idle_timeout: float | None
    ) -> None:
        self.source = Source(endpoint.shown, endpoint.key)
        self.headers: dict[str, str] = {}
        self._endpoint = endpoint
        self._timeout = {
            "connect": connect_timeout,
            "read": idle_timeout,
            "write": idle_timeout,
            "pool": None,
        }
        self._lock = threading.Lock()
        self._stopped = False
        self._connection: Connection | None = None
        self._response: httpcore2.Response | None = None

    def stop(self) -> None:
        """End the exchange from any thread; whoever waits for it is woken."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.line.stop()

    def send(self, body: bytes, accept: bytes) -> None:
        """Send the request and read the head of the answer.

        A connection that the server closed while it lay idle is replaced, once.
        """
        request = self._request(body, accept)
        idle = pool().take(self._endpoint)
        response = self._attempt(idle, request) if idle is not None else None
        response = response or self._attempt(pool().open(self._endpoint), request)
        if response is None:
            raise self.source.failed(f"{self.source.shown} closed the connection unanswered")
        self._response = response
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        request_id = self.headers.get("x-request-id")
        self.source = Source(self.source.shown, self.source.key, response.status, request_id)
        if not 200 <= response.status < 300:
            raise self._refusal()

    def chunks(self) -> Iterator[bytes]:
        """Yield the body, decoded, as it comes; never more than 64 MiB of it."""
        response = self._response
        if response is None:
            return
        encoding = self.headers.get("content-encoding", "")
        try:
            yield from unpacked(response.stream, encoding, self.source)  # type: ignore[arg-type]
        except httpcore2.ReadTimeout:
            text = f"nothing came for {self._timeout['read']:g} s in the middle of the reply"
            raise self.source.unusable(text) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as exc:
            raise self.source.unusable(f"the reply was cut off: {_text(exc)}") from exc

    def body(self) -> bytes:
        """Return the whole body, decoded."""
        return b"".join(self.chunks())

    def progressed(self) -> None:
        """Count the idle time from here: from now on only this does, not any byte."""
        if self._connection is not None:
            self._connection.line.progress = time.monotonic()

    def drain(self) -> None:
        """Read what is left of a body that has said all it had to, if that takes no time."""
        self._timeout["read"] = _DRAIN_SECONDS
        self.progressed()
        try:
            for _ in self.chunks():
                pass
        except APIError:
            self.close()

    def close(self) -> None:
        """Keep the connection if the whole answer was read, close it otherwise."""
        with self._lock:
            # From here on `stop` must not reach a connection that is somebody else's.
            connection, self._connection = self._connection, None
            stopped = self._stopped
        if connection is None:
            return
        connection.line.progress = None
        if self._response is not None:
            self._response.close()
        if stopped or not connection.http.is_idle() or connection.http.is_closed():
            connection.close()
        else:
            pool().give_back(connection)

    def _request(self, body: bytes, accept: bytes) -> httpcore2.Request:
        endpoint = self._endpoint
        streamed = accept == b"text/event-stream"
        headers = [
            *endpoint.headers,
            (b"accept", accept),
            (b"accept-encoding", b"identity" if streamed else b"gzip"),
            (b"user-agent", b"pygent"),
            (b"content-length", b"%d" % len(body)),
        ]
        # Proxies are told the address as it was written, without the port that goes without saying.
        port = None if endpoint.port == _PORTS[endpoint.scheme] else endpoint.port
        url = httpcore2.URL(
            scheme=endpoint.scheme, host=endpoint.host, port=port, target=endpoint.target
        )
        return httpcore2.Request(
            b"POST", url, headers=headers, content=body, extensions={"timeout": self._timeout}
        )

    def _attempt(
        self, connection: Connection, request: httpcore2.Request
    ) -> httpcore2.Response | None:
        """Return the answer, or None if the connection turns out to be dead without a byte."""
        connection.line.received = 0
        with self._lock:
            self._connection = connection
            if self._stopped:
                connection.line.stop()
        try:
            return connection.http.handle_request(request)
        except httpcore2.TimeoutException as exc:
            self.close()
            raise self._too_slow(exc) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError) as exc:
            self.close()
            stale = isinstance(exc, httpcore2.NetworkError | httpcore2.RemoteProtocolError)
            if stale and connection.reused and not connection.line.received and not self._stopped:
                return None
            raise self._unreachable(exc) from None
        except ImportError:
            self.close()
            raise self.source.failed(
                "this proxy speaks SOCKS: install socksio, or use an http proxy"
            ) from None

    def _too_slow(self, exc: Exception) -> APIError:
        shown = self.source.shown
        if isinstance(exc, httpcore2.ConnectTimeout):
            return self.source.failed(f"no connection to {shown} in {self._timeout['connect']:g} s")
        return self.source.failed(f"no answer from {shown} for {self._timeout['read']:g} s")

    def _unreachable(self, exc: Exception) -> APIError:
        shown = self.source.shown
        if isinstance(exc, httpcore2.ConnectError):
            return self.source.failed(
                f"cannot connect to {shown}: {_text(exc)}; does the server run, and does "
                "OPENAI_BASE_URL name it?"
            )
        if isinstance(exc, httpcore2.ProxyError):
            return self.source.failed(f"the proxy refused to connect to {shown}: {_text(exc)}")
        if isinstance(exc, httpcore2.LocalProtocolError):
            # Its text may quote a header, and one of those is the key.
            return self.source.failed(f"the request to {shown} could not be written")
        return self.source.failed(f"no answer from {shown}: {_text(exc)}")

    def _refusal(self) -> APIError:
        body = b""
        try:
            for chunk in self.chunks():
                body += chunk
                if len(body) > _MAX_ERROR_BODY:
                    break
        except APIError:
            pass  # The status is the news; its explanation may be cut.
        return self.source.refused(body, self.headers.get("location"))


def _text(exc: Exception) -> str:
    return str(exc) or type(exc).__name__
