"""Which proxy a request goes through: the conventional environment variables, no others."""

from __future__ import annotations

import ipaddress

from ...config import environment

__all__ = ["proxy_for"]


def proxy_for(scheme: str, host: str) -> str | None:
    """Return the address of the proxy for ``host``; never one for this machine's own loopback."""
    proxy = _either(f"{scheme}_proxy") or _either("all_proxy")
    if proxy is None or _is_loopback(host) or _is_excepted(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _either(name: str) -> str | None:
    """Return a variable in small or in capital letters, the small one first.

    In a CGI script ``HTTP_PROXY`` is a header that the visitor chose, so it does not count there.
    """
    small = environment.text(name)
    if small is not None:
        return small
    if name == "http_proxy" and environment.text("REQUEST_METHOD"):
        return None
    return environment.text(name.upper())


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _is_excepted(host: str) -> bool:
    """Return whether ``no_proxy`` names the host, a domain around it, or a network around it."""
    host = host.lower()
    address = _address(host)
    for entry in (_either("no_proxy") or "").lower().split(","):
        name = entry.strip().removeprefix("*").lstrip(".")
        if entry.strip() == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
        if address is not None and "/" in name:
            try:
                if address in ipaddress.ip_network(name, strict=False):
                    return True
            except ValueError:
                continue
    return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
