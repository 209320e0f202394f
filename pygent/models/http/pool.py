"""The connections of this process: each is used by one request at a time, the warmest first."""

from __future__ import annotations

import atexit
import os
import ssl
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import httpcore2

from ...config import environment
from ...errors import APIError
from ..endpoint import Endpoint
from .line import Line
from .proxy import proxy_for

__all__ = ["Connection", "Pool", "pool"]

KEPT_SECONDS = 60.0
KEPT_IDLE = 256


@dataclass(slots=True, eq=False)
class Connection:
    """A line and the HTTP spoken on it."""

    route: tuple[str, ...]
    line: Line
    http: httpcore2.ConnectionInterface
    reused: bool = False
    idle_since: float = field(default=0.0)

    def close(self) -> None:
        """Close the socket, at whatever state the HTTP on it is."""
        self.http.close()
        self.line.close()


class Pool:
    """Idle connections by where they lead. There is no limit to those in use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, ...], list[Connection]] = {}
        self._tls: dict[tuple[str, ...], ssl.SSLContext] = {}

    def take(self, endpoint: Endpoint) -> Connection | None:
        """Return an idle connection that still looks alive, if there is one."""
        route = _route(endpoint)
        while True:
            with self._lock:
                idle = self._idle.get(route)
                if not idle:
                    return None
                connection = idle.pop()
            if not connection.http.has_expired():
                connection.reused = True
                return connection
            connection.close()

    def open(self, endpoint: Endpoint) -> Connection:
        """Return a new connection, which connects with its first request."""
        route = _route(endpoint)
        scheme, host, _, proxy, *certificates = route
        line = Line()
        parts = httpcore2.ConnectionPool(
            ssl_context=self._context(certificates) if scheme == "https" else None,
            proxy=_proxy(proxy) if proxy else None,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=line,
        )
        origin = httpcore2.Origin(scheme.encode(), host.encode(), endpoint.port)
        return Connection(route, line, parts.create_connection(origin))

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose request is done for the next one."""
        now = time.monotonic()
        connection.idle_since = now
        with self._lock:
            idle = self._idle.setdefault(connection.route, [])
            idle.append(connection)
            old = idle[0]
            stale = len(idle) > KEPT_IDLE or now - old.idle_since > KEPT_SECONDS
            if stale:
                del idle[0]
        if stale:
            old.close()

    def clear(self) -> None:
        """Close every idle connection."""
        with self._lock:
            idle = [connection for some in self._idle.values() for connection in some]
            self._idle.clear()
        for connection in idle:
            connection.close()

    def _context(self, certificates: list[str]) -> ssl.SSLContext:
        """Return the checks that a server's certificate has to pass: the system's, always."""
        key = tuple(certificates)
        with self._lock:
            if key not in self._tls:
                try:
                    self._tls[key] = httpcore2.default_ssl_context()
                except OSError as exc:
                    raise APIError(
                        f"the certificates to trust cannot be read ({exc}): "
                        f"SSL_CERT_FILE={key[0]!r}, SSL_CERT_DIR={key[1]!r}"
                    ) from exc
            return self._tls[key]


def _route(endpoint: Endpoint) -> tuple[str, ...]:
    """Return what two requests must have in common to share a connection."""
    proxy = proxy_for(endpoint.scheme, endpoint.host) or ""
    base = (endpoint.scheme, endpoint.host, str(endpoint.port), proxy)
    if endpoint.scheme == "http":
        return base
    trusted = (environment.text(name) or "" for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return (*base, *trusted)


def _proxy(address: str) -> httpcore2.Proxy:
    url = urlsplit(address)
    try:
        port = url.port
    except ValueError:
        port = -1
    if url.scheme not in ("http", "https", "socks5", "socks5h") or not url.hostname or port == -1:
        raise APIError(
            f"the proxy for this request, {url.scheme}://…, is not usable: "
            "write it like http://proxy.example:3128"
        )
    plain = httpcore2.URL(scheme=url.scheme, host=url.hostname, port=port, target="/")
    if url.username is None:
        return httpcore2.Proxy(plain)
    auth = unquote(url.username).encode(), unquote(url.password or "").encode()
    return httpcore2.Proxy(plain, auth=auth)


_pool = Pool()


def pool() -> Pool:
    """Return the pool of this process."""
    return _pool


def _after_fork() -> None:
    global _pool
    old, _pool = _pool, Pool()
    for idle in old._idle.values():
        for connection in idle:
            connection.line.abandon()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: _pool.clear())  # noqa: PLW0108 - the pool of that moment
