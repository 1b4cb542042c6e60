"""Addresses of servers: their parts, and which host names mean this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

WEB_SCHEMES = ("http://", "https://")
"""How addresses begin that a browser opens from outside."""


def split_server_address(address: str) -> SplitResult | None:
    """The parts of an HTTP address as a user types it, with or without 'http://'; None if it is not one."""
    written = address.strip()
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        _ = parts.port  # raises ValueError if it is not a port
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None


def is_loopback(name: str) -> bool:
    """Whether a host name can only be used from this machine."""
    address = ip_address_of(name)
    return name == "localhost" or (address is not None and address.is_loopback)


def ip_address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a host name spells out; None for other names."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
