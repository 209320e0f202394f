"""Certificates are checked, always."""

from __future__ import annotations

import datetime as dt
import ssl

import pytest
import trustme

from pygent.errors import APIError
from pygent.messages import Message
from pygent.models import OpenAIModel
from pygent.testing.server import ChatServer
from tests.contracts.contract_model import asked

LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def authority():
    return trustme.CA()


@pytest.fixture
def trusted(authority, monkeypatch, tmp_path):
    """Make the authority the only one that this process trusts."""
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(path)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


def context(certificate):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(server)
    return server


@pytest.mark.usefixtures("trusted")
def test_a_good_certificate(authority):
    """A server that proves who it is gets the request, and its connection is kept."""
    with ChatServer(["a", "b c"], ssl_context=context(authority.issue_cert("127.0.0.1"))) as server:
        model = OpenAIModel(server.url, "k")
        assert model.chat(asked(), "m", None).content == "a"
        assert list(model.stream(asked(), "m", None))[-1] == Message("assistant", "b c")
        assert server.connections == 1


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda a: a.issue_cert("127.0.0.1", not_after=LONG_AGO), "expired"),
        (lambda a: a.issue_cert("other.example"), "mismatch|not valid for"),
        (lambda _: trustme.CA().issue_cert("127.0.0.1"), "issuer|self.signed"),
    ],
    ids=["expired", "wrong host", "unknown issuer"],
)
def test_a_bad_certificate(authority, make, why):
    """Nothing is sent to a server that cannot prove who it is, and there is no way around that."""
    with ChatServer(ssl_context=context(make(authority))) as server:
        with pytest.raises(APIError, match=f"certificate was refused: .*({why})"):
            OpenAIModel(server.url, "k").chat(asked(), "m", None)
        assert server.requests == []


def test_the_system_decides_whom_to_trust(authority):
    """Without a word from the environment, an authority of one's own is a stranger."""
    with (
        ChatServer(ssl_context=context(authority.issue_cert("127.0.0.1"))) as server,
        pytest.raises(APIError, match="certificate was refused"),
    ):
        OpenAIModel(server.url, "k").chat(asked(), "m", None)


def test_a_file_of_authorities_that_is_missing(monkeypatch):
    """It is named; the check is not left out."""
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/at/all.pem")
    with pytest.raises(APIError, match=r"SSL_CERT_FILE='/nowhere/at/all\.pem'"):
        OpenAIModel("https://127.0.0.1:1/v1", "k").chat(asked(), "m", None)


def test_plain_http_where_tls_was_meant():
    """A server that speaks no TLS is an error about the connection."""
    with ChatServer() as server, pytest.raises(APIError, match="cannot connect"):
        OpenAIModel(server.url.replace("http:", "https:"), "k").chat(asked(), "m", None)
