"""Which host names mean this machine."""

from __future__ import annotations

import ipaddress


def is_loopback(name: str) -> bool:
    """Whether only programs of this machine can mean us by this name."""
    address = ip_address_of(name)
    return name == "localhost" or (address is not None and address.is_loopback)


def ip_address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a name is, if it is one."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
