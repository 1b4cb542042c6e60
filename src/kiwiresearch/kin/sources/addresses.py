"""Where a request may go: over https, to a host of the plugin, at an address of the public network.

The user may name places besides, such as an endpoint on this machine, in full:
`http://127.0.0.1:7878`. Nothing else on this machine or its network is reached.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urljoin, urlsplit

from kiwiresearch.errors import SourceRefused, SourceUnreachable

PORTS = {"https": 443, "http": 80}
MAX_URL = 4_000
PUBLIC = ip_network("2000::/3")
"""All that is given out of the newer addresses; the rest are machines of one's own, or ways to older ones."""
TRANSLATED = ip_network("64:ff9b::/96")
"""Older addresses as a network that has only newer ones writes them."""
Resolve = Callable[[str, int], Sequence[str]]


def system_addresses(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, as the system knows them."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(row[4][0]) for row in rows))


@dataclass(frozen=True, slots=True)
class Place:
    """An address that may be asked, pinned to the machine that its host was found at."""

    url: str
    host: str
    """The host as a request names it, with its port where that is not the usual one."""
    name: str
    """The host alone, as its certificate names it."""
    pinned: str
    """The same address with the machine's number in place of its name."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The hosts of one plugin, and the places the user named besides."""

    hosts: frozenset[str]
    named: frozenset[str] = frozenset()
    resolve: Resolve = system_addresses

    def check(self, url: str) -> str:
        """The address, if it is one of an allowed host; nothing is looked up yet."""
        try:
            parts = urlsplit(url)
            netloc, port = parts.netloc.lower(), parts.port or PORTS.get(parts.scheme, 0)
        except ValueError as problem:
            raise _refused(url, "is no address") from problem
        if len(url) > MAX_URL or not url.isascii() or any(char.isspace() or not char.isprintable() for char in url):
            raise _refused(url, "is no address that can be asked")
        if "@" in netloc or not parts.hostname:
            raise _refused(url, "has a user name in it, or no host")
        if f"{parts.scheme}://{netloc}" in self.named:
            return url
        if parts.scheme != "https" or port != PORTS["https"]:
            raise _refused(url, "is not https")
        if netloc.removesuffix(":443") not in self.hosts:
            raise _refused(url, f"is not at a host of the plugin ({', '.join(sorted(self.hosts))})")
        return url

    def place(self, url: str) -> Place:
        """The address, pinned to a machine: what was checked is what is asked, whatever its name becomes."""
        parts = urlsplit(self.check(url))
        host = parts.hostname or ""
        netloc = parts.netloc.lower()
        port = parts.port or PORTS[parts.scheme]
        may_be_private = f"{parts.scheme}://{netloc}" in self.named
        try:
            found = list(self.resolve(host, port))
        except (OSError, UnicodeError) as problem:
            raise SourceUnreachable(
                f"The host {host!r} cannot be found.", remedy="Check the connection, then try again."
            ) from problem
        numbers = [ip_address(one.partition("%")[0]) for one in found]
        if not numbers:
            raise SourceUnreachable(f"The host {host!r} has no address.")
        # One private address among public ones is a trick, not a choice.
        if not may_be_private and not all(map(_is_public, numbers)):
            raise _refused(url, "leads into a private network")
        number = f"[{numbers[0]}]" if numbers[0].version == 6 else str(numbers[0])
        path = parts.path or "/"
        query = f"?{parts.query}" if parts.query else ""
        return Place(url, netloc, host, f"{parts.scheme}://{number}:{port}{path}{query}")

    def hop(self, url: str, location: str) -> str:
        """Where a redirect leads, checked as the first address was."""
        return self.check(urljoin(url, location).partition("#")[0])


def _is_public(number: IPv4Address | IPv6Address) -> bool:
    """Whether an address is of the public network; one that carries an older one within it, if that is."""
    if isinstance(number, IPv6Address):
        carried = IPv4Address(int(number) & 0xFFFFFFFF) if number in TRANSLATED else None
        inner = number.ipv4_mapped or number.sixtofour or carried
        if inner is not None:
            return _is_public(inner)
        if number not in PUBLIC:
            return False
    return number.is_global and not number.is_multicast


def _refused(url: str, why: str) -> SourceRefused:
    return SourceRefused(
        f"The address {shown(url)!r} {why}.",
        step="address",
        remedy="If you mean it, name the place for this plugin as 'scheme://host:port'.",
    )


def shown(url: str) -> str:
    """The address without its query, which may hold a person's name, and without what may be a password."""
    bare = url.partition("?")[0]
    scheme, separator, rest = bare.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"[:200]
