"""Where requests go, and with which key: read anew for every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from ..config import environment
from ..errors import APIError

__all__ = ["DEFAULT_BASE_URL", "Endpoint", "assigned", "resolve", "setting"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"

assigned: dict[str, str] = {}
"""What somebody assigned to `openai_compat.OPENAI_BASE_URL` or ``OPENAI_API_KEY``."""

_DEFAULTS = {"OPENAI_BASE_URL": DEFAULT_BASE_URL, "OPENAI_API_KEY": ""}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address that takes chat completions."""

    scheme: str
    host: str
    port: int
    target: bytes
    shown: str
    """The address without anything secret, for error messages."""
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    key: str = field(repr=False)


def setting(name: str) -> str:
    """Return ``OPENAI_BASE_URL`` or ``OPENAI_API_KEY`` as it stands now."""
    default = _DEFAULTS[name]
    return assigned[name] if name in assigned else environment.text(name, default) or default


def resolve(base_url: str | None = None, api_key: str | None = None) -> Endpoint:
    """Return where to ask; what is None comes from the environment.

    Without a key there is nobody to ask at the default address: that is an `APIError` at once.
    """
    base_url = setting("OPENAI_BASE_URL") if base_url is None else base_url
    api_key = setting("OPENAI_API_KEY") if api_key is None else api_key
    return _endpoint(base_url.strip(), api_key.strip())


@lru_cache(maxsize=32)
def _endpoint(base_url: str, key: str) -> Endpoint:
    if not key and base_url.rstrip("/") == DEFAULT_BASE_URL:
        raise APIError(
            f"no API key for {DEFAULT_BASE_URL}: set OPENAI_API_KEY, or set OPENAI_BASE_URL to a "
            "server that needs none; `pygent demo` works without either"
        )
    if not (key.isascii() and key.isprintable()):
        raise APIError("the API key has characters that no key has: set OPENAI_API_KEY again")
    scheme, host, port, path, query = _parts(base_url)
    default_port = 443 if scheme == "https" else 80
    shown_host = f"[{host}]" if ":" in host else host
    authority = shown_host if port in (None, default_port) else f"{shown_host}:{port}"
    path = f"{path.rstrip('/')}/chat/completions"
    headers = [(b"host", authority.encode("ascii")), (b"content-type", b"application/json")]
    if key:
        headers.append((b"authorization", b"Bearer " + key.encode("ascii")))
    return Endpoint(
        scheme=scheme,
        host=host,
        port=port or default_port,
        target=(f"{path}?{query}" if query else path).encode("ascii"),
        shown=f"{scheme}://{authority}{path}",
        headers=tuple(headers),
        key=key,
    )


def _parts(base_url: str) -> tuple[str, str, int | None, str, str]:
    try:
        url = urlsplit(base_url)
        port = url.port
        host = (url.hostname or "").encode("idna" if url.hostname else "ascii").decode("ascii")
    except ValueError:
        raise _nonsense(base_url) from None
    if url.username or url.password:
        raise APIError(
            "OPENAI_BASE_URL carries a user name or password: take it out and set OPENAI_API_KEY"
        )
    rest = f"{url.path}{url.query}"
    sendable = rest.isascii() and base_url.isprintable() and " " not in base_url
    if url.scheme not in ("http", "https") or not host or not sendable:
        raise _nonsense(base_url)
    return url.scheme, host, port, url.path, url.query


def _nonsense(base_url: str) -> APIError:
    return APIError(
        f"OPENAI_BASE_URL={base_url!r} is not the address of a server: "
        "write it like http://localhost:11434/v1"
    )
