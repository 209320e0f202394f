"""Connections: kept, replaced when they died, shared by threads, never by processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pygent.errors import APIError
from pygent.models import OpenAIModel
from pygent.models.http import pool as pools
from pygent.models.http.line import Line
from pygent.models.http.proxy import proxy_for
from pygent.testing.server import ChatServer
from pygent.testing.wire import Fault, Reply
from tests.contracts.contract_model import asked


def test_a_connection_is_kept():
    """Calls in a row use one connection, streamed or not, refused or not."""
    script: list[Any] = ["a", "b two", Reply(status=500, body="no"), "d"]
    with ChatServer(script) as server:
        model = OpenAIModel(server.url, "k")
        model.chat(asked(), "m", None)
        list(model.stream(asked(), "m", None))
        with pytest.raises(APIError):
            model.chat(asked(), "m", None)
        model.chat(asked(), "m", None)
        assert server.connections == 1


def test_a_connection_that_was_closed_meanwhile_is_replaced():
    """A server that hangs up on an idle connection costs nothing but a new one."""
    with ChatServer(["a", "b"]) as server:
        model = OpenAIModel(server.url, "k")
        model.chat(asked(), "m", None)
        server.hang_up()
        assert model.chat(asked(), "m", None).content == "b"
        assert len(server.requests) == 2


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.RESET])
def test_a_kept_connection_that_dies_is_tried_once_more(fault):
    """Closed while the request was on its way and unanswered: one new attempt, and only one."""
    with ChatServer(
        ["a", Reply(before=[fault]), "b", Reply(before=[fault]), Reply(before=[fault])]
    ) as server:
        model = OpenAIModel(server.url, "k")
        model.chat(asked(), "m", None)
        assert model.chat(asked(), "m", None).content == "b"
        with pytest.raises(APIError, match="no answer"):
            model.chat(asked(), "m", None)
        assert len(server.requests) == 5


def test_nothing_that_was_answered_is_asked_again():
    """Once a byte of the answer came, the request is not repeated."""
    with ChatServer(["a", Reply(before=[b"HTTP/1.1 200 OK\r\n", Fault.CUT])]) as server:
        model = OpenAIModel(server.url, "k")
        model.chat(asked(), "m", None)
        with pytest.raises(APIError):
            model.chat(asked(), "m", None)


def test_a_hundred_threads_at_once():
    """A hundred agents wait at the same time, none for another."""
    everybody = threading.Barrier(100)

    def answer(request):
        everybody.wait(30)
        return request["messages"][0]["content"]

    with ChatServer([answer] * 100) as server, ThreadPoolExecutor(100) as threads:
        model = OpenAIModel(server.url, "k")
        asking = [
            threads.submit(model.chat, [{"role": "user", "content": f"{i}"}], "m", None)
            for i in range(100)
        ]
        assert [future.result(60).content for future in asking] == [f"{i}" for i in range(100)]


FORKING = """
import os, sys
from pygent.models import OpenAIModel

def ask(word):
    return OpenAIModel(sys.argv[1], "k").chat([{"role": "user", "content": word}], "m", None).content

assert ask("parent") == "parent"
child = os.fork()
if not child:
    os._exit(0 if ask("child") == "child" else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert ask("parent again") == "parent again"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_its_own():
    """A child of a process asks on connections of its own, and leaves the parent's alone."""
    with ChatServer([lambda request: request["messages"][0]["content"]] * 3) as server:
        command = [sys.executable, "-W", "error", "-c", FORKING, server.url]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        assert server.connections == 2


def test_idle_connections_are_few(monkeypatch):
    """The oldest idle connection goes when there are too many of them."""
    monkeypatch.setattr(pools, "KEPT_IDLE", 2)
    both = threading.Barrier(4)

    def answer(request):
        both.wait(10)
        return "hi"

    with ChatServer([answer] * 4) as server, ThreadPoolExecutor(4) as threads:
        model = OpenAIModel(server.url, "k")
        for future in [threads.submit(model.chat, asked(), "m", None) for _ in range(4)]:
            future.result(30)
        route = next(r for r in pools.pool()._idle if r[2] == str(server.port))
        assert len(pools.pool()._idle[route]) == 2


@pytest.fixture
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "request_method"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


ROUTES = [
    ({}, "http", "host", None),
    ({"HTTP_PROXY": "proxy:1"}, "http", "host", "http://proxy:1"),
    (
        {"http_proxy": "http://small:1", "HTTP_PROXY": "http://big:1"},
        "http",
        "host",
        "http://small:1",
    ),
    ({"HTTP_PROXY": "http://p:1"}, "https", "host", None),
    ({"HTTPS_PROXY": "http://p:1"}, "https", "host", "http://p:1"),
    ({"ALL_PROXY": "socks5://p:1"}, "https", "host", "socks5://p:1"),
    ({"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, "http", "host", None),
    ({"HTTP_PROXY": "http://p:1"}, "http", "localhost", None),
    ({"HTTP_PROXY": "http://p:1"}, "http", "127.0.0.1", None),
    ({"HTTP_PROXY": "http://p:1"}, "http", "::1", None),
    ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "*"}, "http", "host", None),
    ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "a, example.com"}, "http", "api.Example.com", None),
    ({"HTTP_PROXY": "http://p:1", "NO_PROXY": ".example.com"}, "http", "example.com", None),
    (
        {"HTTP_PROXY": "http://p:1", "NO_PROXY": "example.com"},
        "http",
        "badexample.com",
        "http://p:1",
    ),
    ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http", "10.1.2.3", None),
    ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http", "11.1.2.3", "http://p:1"),
]


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(("variables", "scheme", "host", "proxy"), ROUTES)
def test_which_proxy(monkeypatch, variables, scheme, host, proxy):
    """The conventional variables say which proxy, and for whom there is none."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(scheme, host) == proxy


@pytest.mark.usefixtures("no_proxies")
def test_through_a_proxy(monkeypatch):
    """The proxy gets the request for a host that only it can find, and its own password."""
    with ChatServer(["by proxy"]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy.port}")
        model = OpenAIModel("http://models.invalid/v1", "k")
        assert model.chat(asked(), "m", None).content == "by proxy"
        assert proxy.requests[0].path == "http://models.invalid/v1/chat/completions"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.usefixtures("no_proxies")
def test_a_proxy_that_refuses_the_tunnel(monkeypatch):
    """For https the proxy is asked for a tunnel; its refusal is told, its password is not."""
    with ChatServer([Reply(status=403, body="")]) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")
        with pytest.raises(APIError, match=r"proxy refused .*403") as caught:
            OpenAIModel("https://models.invalid/v1", "k").chat(asked(), "m", None)
        assert "secret" not in str(caught.value)
        assert proxy.requests[0].path == "models.invalid:443"


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("proxy", ["ftp://p:1", "http://", "http://p:none"])
def test_a_proxy_that_is_none(monkeypatch, proxy):
    """A variable that names no proxy is an error, not a way around it."""
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(APIError, match="proxy"):
        OpenAIModel("http://models.invalid/v1", "k").chat(asked(), "m", None)


def test_a_name_that_nobody_has():
    """An unknown host is told by its name."""
    with pytest.raises(APIError, match=r"the name 'models\.invalid' is unknown"):
        OpenAIModel("http://models.invalid/v1", "k").chat(asked(), "m", None)


def test_all_addresses_of_a_name_are_tried(monkeypatch):
    """Where the first address of a name does not answer, the next one is tried."""
    with ChatServer(["hi"]) as server:
        dead = ("127.0.0.1", _closed_port())
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", a)
            for a in (dead, ("127.0.0.1", server.port))
        ]
        monkeypatch.setattr(Line, "_addresses", lambda *_: found)
        model = OpenAIModel("http://two-addresses.invalid/v1", "k")
        assert model.chat(asked(), "m", None).content == "hi"


def _closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
