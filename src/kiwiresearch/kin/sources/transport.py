"""One request to one checked and pinned address; the only module of sources that opens a connection."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urljoin, urlsplit

from kiwiresearch.errors import SourceRefused, SourceUnreachable
from kiwiresearch.http_client import HttpClient, HttpFailure, Limit

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
class PinnedAddress:
    """An address that may be asked, pinned to the machine that its host was found at."""

    url: str
    host: str
    """The host as a request names it, with its port where that is not the usual one."""
    name: str
    """The host alone, as its certificate names it."""
    pinned: str
    """The same address with the machine's number in place of its name."""


@dataclass(frozen=True, slots=True)
class AllowedHosts:
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

    def pin(self, url: str) -> PinnedAddress:
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
        return PinnedAddress(url, netloc, host, f"{parts.scheme}://{number}:{port}{path}{query}")

    def redirect_target(self, url: str, location: str) -> str:
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
        f"The address {display_url(url)!r} {why}.",
        step="address",
        remedy="If you mean it, name the place for this plugin as 'scheme://host:port'.",
    )


def display_url(url: str) -> str:
    """The address without its query, which may hold a person's name, and without what may be a password."""
    bare = url.partition("?")[0]
    scheme, separator, rest = bare.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"[:200]


MAX_BYTES = 5 * 2**20
TIMEOUT_S = 20.0
ENCODINGS = "gzip, identity"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: an address, and for a POST what is sent to it."""

    url: str
    method: str = "GET"
    form: Mapping[str, str] = field(default_factory=dict)
    accept: str = "text/html"
    secret_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers with a key in them; what they brought is never kept."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a machine said: its first 5 MiB, or an error if there is more."""

    status: int
    content: bytes
    kind: str = ""
    location: str = ""
    retry_after: str = ""


class Transport:
    """Asks one thing at a time, says who is asking, and follows no redirect by itself."""

    def __init__(self, user_agent: str, *, timeout_s: float = TIMEOUT_S, max_bytes: int = MAX_BYTES) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._agent = user_agent
        self._client = HttpClient(silent_s=timeout_s)

    def send(self, place: PinnedAddress, request: Request) -> HttpAnswer:
        try:
            return self._asked(place, request)
        except HttpFailure as failure:
            if failure.kind == "large":
                raise SourceUnreachable(
                    f"The answer of {display_url(place.url)!r} is larger than {self._max_bytes / 2**20:g} MiB.",
                    remedy="A page about a person is never that large; the plugin asks for the wrong thing.",
                ) from failure
            why = f"was not done after {self._timeout_s:g} seconds" if failure.kind == "late" else "does not answer"
            raise SourceUnreachable(
                f"The source {display_url(place.url)!r} {why} ({type(failure.__cause__).__name__}).",
                remedy="Check the connection, then try again.",
            ) from failure

    def close(self) -> None:
        self._client.close()

    def _asked(self, place: PinnedAddress, request: Request) -> HttpAnswer:
        headers = {
            "Host": place.host,
            "User-Agent": self._agent,
            "Accept": request.accept,
            "Accept-Encoding": ENCODINGS,
            **request.secret_headers,
        }
        form = request.form if request.method == "POST" else None
        # The certificate is checked against the name of the host, though its number is what is called.
        with self._client.open(
            request.method, place.pinned, Limit(self._timeout_s), headers=headers, form=form, server_name=place.name
        ) as response:
            found = response.headers
            return HttpAnswer(
                response.status,
                response.read(self._max_bytes),
                found.get("content-type", ""),
                found.get("location", "") if response.is_redirect else "",
                found.get("retry-after", ""),
            )
