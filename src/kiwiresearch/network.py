"""Which host names mean this machine."""

from __future__ import annotations

import ipaddress


def is_loopback(name: str) -> bool:
    """Whether a host name can only be used from this machine."""
    address = ip_address_of(name)
    return name == "localhost" or (address is not None and address.is_loopback)


def ip_address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a host name spells out, if it does."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
