"""Requests that hang are torn down at once, wherever they hang."""

from __future__ import annotations

import socket
import threading
import time

import pytest
import trustme

from pygent.cancel import CancelScope
from pygent.errors import APIError, Cancelled, TimedOut
from pygent.models import OpenAIModel
from pygent.models.http.line import Line
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply, event
from tests.contracts.contract_model import asked

FIRST = event({"choices": [{"delta": {"content": "one "}}]})


@pytest.fixture
def full():
    """A port whose queue of connections is full, so that connecting to it hangs."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        waiting = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
            waiting.append(one)
        yield listener.getsockname()[1]
        for one in waiting:
            one.close()


@pytest.fixture
def mute():
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def took(seconds, do):
    began = time.monotonic()
    with pytest.raises(TimedOut), CancelScope(seconds).active():
        do()
    return time.monotonic() - began


def test_while_it_connects(full):
    """A deadline ends a connection that is not made."""
    model = OpenAIModel(f"http://127.0.0.1:{full}/v1", "k")
    assert took(0.3, lambda: model.chat(asked(), "m", None)) < 1.3


def test_connecting_has_a_limit_of_its_own(full):
    """Without any deadline, a server that does not take the connection is given up."""
    model = OpenAIModel(f"http://127.0.0.1:{full}/v1", "k", connect_timeout=0.3)
    with pytest.raises(APIError, match=r"no connection to http://127.0.0.1:\d+.* in 0\.3 s"):
        model.chat(asked(), "m", None)


def test_stopped_before_it_began(mute):
    """What was stopped before it connected is as dead as what was stopped after."""
    line = Line()
    line.stop()
    stream = line.connect_tcp("127.0.0.1", mute, 5)
    assert stream.read(1, 5) == b""
    stream.close()


def test_while_it_looks_a_name_up(monkeypatch):
    """A lookup that hangs is left alone at the deadline."""
    over = threading.Event()
    real = socket.getaddrinfo

    def hang(host, port, **kwargs):
        if kwargs.get("flags", 0) & socket.AI_NUMERICHOST:
            return real(host, port, **kwargs)
        over.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    model = OpenAIModel("http://somewhere.invalid/v1", "k")
    assert took(0.3, lambda: model.chat(asked(), "m", None)) < 1.3
    over.set()


def test_while_it_shakes_hands(mute):
    """A TLS handshake that is never answered ends as well."""
    model = OpenAIModel(f"https://127.0.0.1:{mute}/v1", "k")
    assert took(0.3, lambda: model.chat(asked(), "m", None)) < 1.3


def test_while_it_sends(mute):
    """So does a request that nobody reads."""
    model = OpenAIModel(f"http://127.0.0.1:{mute}/v1", "k")
    huge = [{"role": "user", "content": "x" * 20_000_000}]
    assert took(0.5, lambda: model.chat(huge, "m", None)) < 1.5


def test_within_tls():
    """An answer over TLS that hangs is torn down like any other."""
    authority = trustme.CA()
    context = _context(authority)
    with (
        authority.cert_pem.tempfile() as trusted,
        ChatServer([Reply(body=[FIRST, Fault.HANG])], ssl_context=context) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("SSL_CERT_FILE", trusted)
        pieces = OpenAIModel(server.url, "k").stream(asked(), "m", None)
        assert took(0.5, lambda: list(pieces)) < 1.5


@pytest.mark.parametrize(
    "body", [[FIRST, Fault.HANG], [FIRST, *[b" ", 0.05] * 400]], ids=["hang", "drip"]
)
def test_cancelled_in_the_middle(body):
    """From another thread, within a second; the connection is not used again."""
    scope = CancelScope()
    with ChatServer([Reply(body=body), "better"]) as server:
        model = OpenAIModel(server.url, "k")
        pieces = model.stream(asked(), "m", None)
        with scope.active():
            next(pieces)
        threading.Timer(0.1, scope.cancel).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            list(pieces)
        assert time.monotonic() - began < 1.1
        assert model.chat(asked(), "m", None).content == "better"
        assert server.connections == 2


def test_cancelled_while_nobody_reads():
    """A stream that is cancelled between two pieces ends with the next one at the latest."""
    scope = CancelScope()
    gate = threading.Event()
    with ChatServer([Reply(body=[FIRST, gate, FIRST, b"data: [DONE]\n\n"])]) as server:
        pieces = OpenAIModel(server.url, "k").stream(asked(), "m", None)
        with scope.active():
            next(pieces)
        scope.cancel()
        gate.set()
        with pytest.raises(Cancelled):
            list(pieces)


def test_cancelling_one_leaves_the_others():
    """What one request is told is not told to its neighbours, nor to the next on its connection."""
    gate = threading.Event()
    scope = CancelScope()
    with ChatServer(
        ["first", Reply(body=[b"", gate, b'{"choices":[{"message":{"content":"b"}}]}'])]
    ) as server:
        model = OpenAIModel(server.url, "k")
        with scope.active():
            model.chat(asked(), "m", None)
        threading.Timer(0.1, gate.set).start()
        scope.cancel()
        assert model.chat(asked(), "m", None).content == "b"
        assert server.connections == 1


def _context(authority):
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context
