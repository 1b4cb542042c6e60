"""Sends one request to a checked and pinned address; the only module of sources that opens a connection."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urljoin, urlsplit

from kiwiresearch.errors import SourceRefused, SourceUnreachable
from kiwiresearch.http_client import Deadline, HttpClient, HttpFailure

PORTS = {"https": 443, "http": 80}
MAX_URL = 4_000
PUBLIC = ip_network("2000::/3")
"""The IPv6 addresses in public use; the others are private or translate to IPv4."""
TRANSLATED = ip_network("64:ff9b::/96")
"""IPv4 addresses as a network with only IPv6 writes them (NAT64)."""
Resolve = Callable[[str, int], Sequence[str]]


def system_addresses(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, as the system knows them."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(row[4][0]) for row in rows))


@dataclass(frozen=True, slots=True)
class PinnedAddress:
    """An allowed address, pinned to the IP address of its host."""

    url: str
    host: str
    """The Host header, with a port if it is not the default."""
    name: str
    """The host name, as in its certificate."""
    pinned: str
    """The address with the IP address in place of the name."""


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The hosts of a plugin, and the addresses that the user allowed as well."""

    hosts: frozenset[str]
    extra_hosts: frozenset[str] = frozenset()
    resolve: Resolve = system_addresses

    def check(self, url: str) -> str:
        """The address, if its host is allowed; raises otherwise. Nothing is resolved yet."""
        try:
            parts = urlsplit(url)
            netloc, port = parts.netloc.lower(), parts.port or PORTS.get(parts.scheme, 0)
        except ValueError as problem:
            raise _refused(url, "is not an address") from problem
        if len(url) > MAX_URL or not url.isascii() or any(char.isspace() or not char.isprintable() for char in url):
            raise _refused(url, "is not a valid web address")
        # 'https://wikidata.org@evil.example/' looks like the one host and is the other.
        if "@" in netloc or not parts.hostname:
            raise _refused(url, "has a user name or no host name")
        if f"{parts.scheme}://{netloc}" in self.extra_hosts:
            return url
        if parts.scheme != "https" or port != PORTS["https"]:
            raise _refused(url, "is not https")
        if netloc.removesuffix(":443") not in self.hosts:
            raise _refused(url, f"is not on a host of this plugin ({', '.join(sorted(self.hosts))})")
        return url

    def pin(self, url: str) -> PinnedAddress:
        """Resolve the host and pin the address to the result, so that the request goes to what was checked."""
        parts = urlsplit(self.check(url))
        host = parts.hostname or ""
        netloc = parts.netloc.lower()
        port = parts.port or PORTS[parts.scheme]
        may_be_private = f"{parts.scheme}://{netloc}" in self.extra_hosts
        try:
            found = list(self.resolve(host, port))
        except (OSError, UnicodeError) as problem:
            raise SourceUnreachable(
                f"The host {host!r} was not found.", remedy="Check your connection, then try again."
            ) from problem
        # 'fe80::1%eth0': without the zone.
        numbers = [ip_address(item.partition("%")[0]) for item in found]
        if not numbers:
            raise SourceUnreachable(f"The host {host!r} has no address.")
        # One private address among public ones is an attack.
        if not may_be_private and not all(map(_is_public, numbers)):
            raise _refused(url, "points into a private network")
        number = f"[{numbers[0]}]" if numbers[0].version == 6 else str(numbers[0])
        path = parts.path or "/"
        query = f"?{parts.query}" if parts.query else ""
        return PinnedAddress(url, netloc, host, f"{parts.scheme}://{number}:{port}{path}{query}")

    def redirect_target(self, url: str, location: str) -> str:
        """The target of a redirect, checked like the first address."""
        return self.check(urljoin(url, location).partition("#")[0])


def _is_public(number: IPv4Address | IPv6Address) -> bool:
    """Whether an IP address is public; an IPv6 address that embeds an IPv4 address, if that one is."""
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
        f"The address {display_url(url)!r} {why}.",
        rule="address",
        remedy="To allow it, add it to this plugin as 'scheme://host:port'.",
    )


def display_url(url: str) -> str:
    """The address without its query, which may have a person's name, and without a password."""
    bare = url.partition("?")[0]
    scheme, separator, rest = bare.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"[:200]


MAX_BYTES = 5 * 2**20
REQUEST_TIMEOUT_S = 20.0
ENCODINGS = "gzip, identity"


@dataclass(frozen=True, slots=True)
class Request:
    """A request: an address, and the form for a POST."""

    url: str
    method: str = "GET"
    form: Mapping[str, str] = field(default_factory=dict)
    accept: str = "text/html"
    secret_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers with a key; the answer is never cached."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer of a host."""

    status: int
    content: bytes
    kind: str = ""
    location: str = ""
    retry_after: str = ""


class Transport:
    """Sends requests with our User-Agent; does not follow redirects."""

    def __init__(self, user_agent: str, *, timeout_s: float = REQUEST_TIMEOUT_S, max_bytes: int = MAX_BYTES) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._agent = user_agent
        self._client = HttpClient(read_s=timeout_s)

    def send(self, place: PinnedAddress, request: Request) -> HttpAnswer:
        try:
            return self._send(place, request)
        except HttpFailure as failure:
            if failure.kind == "large":
                raise SourceUnreachable(
                    f"The reply from {display_url(place.url)!r} is larger than {self._max_bytes / 2**20:g} MiB.",
                    remedy="Check the address in the plugin: a page about a person is much smaller.",
                ) from failure
            why = (
                f"did not finish within {self._timeout_s:g} seconds" if failure.kind == "late" else "is not responding"
            )
            raise SourceUnreachable(
                f"The source {display_url(place.url)!r} {why} ({type(failure.__cause__).__name__}).",
                remedy="Check your connection, then try again.",
            ) from failure

    def close(self) -> None:
        self._client.close()

    def _send(self, place: PinnedAddress, request: Request) -> HttpAnswer:
        headers = {
            "Host": place.host,
            "User-Agent": self._agent,
            "Accept": request.accept,
            "Accept-Encoding": ENCODINGS,
            **request.secret_headers,
        }
        form = request.form if request.method == "POST" else None
        # The certificate is checked against the host name, though the request goes to the IP address.
        with self._client.open(
            request.method, place.pinned, Deadline(self._timeout_s), headers=headers, form=form, server_name=place.name
        ) as response:
            found = response.headers
            return HttpAnswer(
                response.status,
                response.read(self._max_bytes),
                found.get("content-type", ""),
                found.get("location", "") if response.is_redirect else "",
                found.get("retry-after", ""),
            )
