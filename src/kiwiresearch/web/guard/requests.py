"""Which requests are let in at all: by host, origin, address and body."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextvars import ContextVar
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.network import ip_address_of, is_loopback
from kiwiresearch.web.problems import Problem, refuse

SAFE_METHODS = frozenset({"GET", "HEAD"})
API_PATHS = ("/api/", "/v1/", "/mcp", "/owui/", "/search", "/openapi.json")
"""Where programs ask; every other path is a page, or a form of one."""


def is_for_programs(scope: Scope) -> bool:
    """Whether this is an address of programs."""
    path: str = scope["path"]
    return path == "/api" or path.startswith(API_PATHS)


def is_for_people(scope: Scope) -> bool:
    """Whether this is a page for people, or a form of one."""
    return not is_for_programs(scope)


def is_book_page(scope: Scope) -> bool:
    """Whether this asks for a page of a book as it stands, or for a file of it."""
    path: str = scope["path"]
    return path.startswith("/read/")


def is_page(scope: Scope) -> bool:
    """Whether this asks for a page to be read, which a link from anywhere may do."""
    return scope["method"] in SAFE_METHODS and is_for_people(scope)


OWN_SITES = frozenset({"same-origin", "none"})
"""What a browser says of requests that come from our own pages, or from the user's own hand."""

PORTS = {"http": ":80", "https": ":443"}


def is_same(origin: str, host: str) -> bool:
    """Whether an Origin is the server that the Host header names."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    port = PORTS.get(parts.scheme)
    if port is None or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return False
    return parts.netloc.lower().removesuffix(port) == host.lower().removesuffix(port)


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether a browser says that another site is behind a request."""
    same = all(is_same(origin, headers.get("host", "")) for origin in headers.getlist("origin"))
    return not (same and OWN_SITES.issuperset(headers.getlist("sec-fetch-site")))


def is_link(headers: Headers) -> bool:
    """Whether somebody follows a link to a page: it is opened by itself, not put into a page or read by a script."""
    is_opened = headers.getlist("sec-fetch-mode") == ["navigate"] and headers.getlist("sec-fetch-dest") == ["document"]
    return is_opened and "origin" not in headers


def is_from_own_page(headers: Headers) -> bool:
    """Whether a browser says that a page of ours made a request; one that says nothing is not taken at its word.

    Browsers tell the site to servers that they trust: those of this machine, and those with HTTPS. To others they
    send the origin along with forms, and the address of the page with what it loads.
    """
    if is_from_elsewhere(headers):
        return False
    sites = headers.getlist("sec-fetch-site")
    if sites or "origin" in headers:
        return sites == ["same-origin"] or "origin" in headers
    return _is_on(headers.get("referer", ""), headers.get("host", ""))


def is_by_hand(headers: Headers) -> bool:
    """Whether a browser says that its user typed the address, or had it from a bookmark."""
    return headers.getlist("sec-fetch-site") == ["none"]


def _is_on(address: str, host: str) -> bool:
    scheme, separator, rest = address.partition("://")
    return bool(separator) and is_same(f"{scheme}://{rest.partition('/')[0]}", host)


AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)

MISDIRECTED = Problem(
    421,
    "Misdirected",
    "This server does not go by the name in the Host header.",
    "Use its address, or add the name to 'hosts' below [serve] in its settings.",
)


def host_name(authority: str) -> str:
    """The host in 'host:port', in lower case; empty where that is none."""
    found = AUTHORITY.fullmatch(authority)
    return (found["six"] or found["name"]).lower().rstrip(".") if found else ""


class HostCheck:
    """Lets in what was sent to loopback, to the address we listen on, or to a name the user gave us.

    Where we listen on all addresses, any bare address will do: a site can make its name lead to us,
    but not an address of its own.
    """

    def __init__(self, app: ASGIApp, *, bound: str, named: Sequence[str]) -> None:
        self._app = app
        self._names = {host_name(name) or name.lower() for name in (bound, *named)}
        address = ip_address_of(bound)
        self._any_address = address is not None and address.is_unspecified

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._knows(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
        else:
            await refuse(MISDIRECTED, scope, receive, send)

    def _knows(self, hosts: Sequence[str]) -> bool:
        name = host_name(hosts[0]) if len(hosts) == 1 else ""
        if not name:
            return False
        return is_loopback(name) or name in self._names or (self._any_address and ip_address_of(name) is not None)


CROSS_SITE = Problem(
    403,
    "Cross-site request",
    "A page of another site may not use this server.",
    "Ask from a program, or from a page that this server itself has served.",
)
NOT_FROM_A_PAGE = Problem(
    403,
    "Not from a page of ours",
    "A form is taken only from a page of this server, and nothing says that this one is.",
    "Open the page again and send its form; programs send JSON to /api.",
)


class OriginCheck:
    """Refuses what a browser sends for another site; programs, which tell of no site, are let into their addresses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = _origin_problem(scope) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await refuse(problem, scope, receive, send)


def _origin_problem(scope: Scope) -> Problem | None:
    headers = Headers(scope=scope)
    if scope["method"] in SAFE_METHODS and is_book_page(scope):
        return None  # a page of a book has no origin: to a browser its own pictures and links come from elsewhere
    if is_from_elsewhere(headers):
        is_linked = scope["method"] in SAFE_METHODS and is_for_people(scope) and is_link(headers)
        return None if is_linked else CROSS_SITE
    if scope["method"] in SAFE_METHODS or not is_for_people(scope) or is_from_own_page(headers):
        return None
    return NOT_FROM_A_PAGE


CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
BOOK_PATHS = ("/read/", "/page/")
"""Below these stand paths of books, which may have any character."""

CONTROL_CHARACTER_IN_PATH = Problem(
    404,
    "Not found",
    "There is nothing at an address with control characters in it.",
    "Look at the end of the address: it may have been copied with the end of its line.",
)


class PathCheck:
    """Refuses addresses with control characters: a route takes one that ends with a line for one that does not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and CONTROLS.search(scope["path"]) and not scope["path"].startswith(BOOK_PATHS):
            await refuse(CONTROL_CHARACTER_IN_PATH, scope, receive, send)
        else:
            await self._app(scope, receive, send)


REQUEST_ADDRESS: ContextVar[str] = ContextVar("address", default="")


class RequestAddress:
    """Notes scheme and host of a request, whose Host header was checked before, for the time it is worked on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            REQUEST_ADDRESS.set(f"{scope['scheme']}://{host}" if host else "")
        await self._app(scope, receive, send)


BODY_TIMEOUT_S = 30.0
"""How long a client may take to send what it announced."""

TOO_LARGE = 413
MAX_DRAINED = 4 * 2**20
DRAIN_TIMEOUT_S = 2.0

FORM = "application/x-www-form-urlencoded"

NOT_JSON = Problem(
    415, "Not JSON", "The body of a request must be JSON.", "Send it with 'Content-Type: application/json'."
)
NOT_A_FORM = Problem(415, "Not a form", "A page takes what its own form sends.", "Programs send JSON to /api.")
TOO_SLOW = Problem(408, "Too slow", "The request did not arrive in time.", "Send it again.", (("Connection", "close"),))


UPLOAD = re.compile(r"(?:/api)?/family/(?:[^/]+/)?import")
MULTIPART = "multipart/form-data"
UPLOAD_KINDS = ("application/octet-stream", "application/x-gedcom", "text/vnd.familysearch.gedcom", "application/zip")
FORM_WITHOUT_FILE = Problem(415, "Not a file", "The form must bring a family file.", "Choose a file in the form.")
NOT_A_FILE = Problem(
    415, "Not a file", "The body must be a family file.", f"Send it with 'Content-Type: {UPLOAD_KINDS[0]}'."
)


def is_upload(scope: Scope) -> bool:
    """Whether a request brings a file, which is not held in memory: its route reads it part by part."""
    return scope["method"] == "POST" and UPLOAD.fullmatch(scope["path"]) is not None


def _upload_problem(kind: str, *, is_form: bool) -> Problem | None:
    if is_form:
        return None if kind == MULTIPART else FORM_WITHOUT_FILE
    return None if kind in UPLOAD_KINDS else NOT_A_FILE


class BodyCheck:
    """Reads the body for the routes behind: refuses what is too large, too slow or neither JSON nor a form of ours."""

    patience_s = BODY_TIMEOUT_S

    def __init__(self, app: ASGIApp, *, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        problem = self._refusal(scope)
        if problem is None and is_upload(scope):
            await self._app(scope, receive, send)
            return
        if problem is None:
            body = None
            with anyio.move_on_after(self.patience_s) as limit:
                body = await self._read(receive)
            if body is not None and len(body) <= self._most_bytes:
                await self._app(scope, _Replayed(body, receive), send)
                return
            if body is None and not limit.cancelled_caught:
                return  # the client has gone
            problem = self._too_large() if body else TOO_SLOW
        elif problem.status == TOO_LARGE and "expect" not in Headers(scope=scope):
            with anyio.move_on_after(DRAIN_TIMEOUT_S):
                await self._read(receive)
        await refuse(problem, scope, receive, send)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if is_upload(scope):
            return _upload_problem(kind, is_form=is_for_people(scope))
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > self._most_bytes:
            return self._too_large()
        has_body = int(length[:20]) > 0 or "transfer-encoding" in headers
        if scope["method"] in SAFE_METHODS or not (kind or has_body):
            return None
        if is_for_people(scope):
            return None if kind == FORM else NOT_A_FORM
        return None if kind == "application/json" else NOT_JSON

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or None if the client has gone.

        What is more than allowed is heard for a while and thrown away: a client
        that still sends when we hang up may never see our answer.
        """
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= self._most_bytes + MAX_DRAINED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            if size <= self._most_bytes:
                parts.append(message.get("body", b""))
            size += len(message.get("body", b""))
        return b"".join(parts)

    def _too_large(self) -> Problem:
        return Problem(
            TOO_LARGE,
            "Too large",
            f"A request may bring {self._most_bytes // 1024:,} KB.",
            "Send less; 'max_body_kb' below [serve] in the settings allows more.",
            (("Connection", "close"),),
        )


class _Replayed:
    """Gives the body that was read, then whatever else comes."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._first: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._receive = receive

    async def __call__(self) -> Message:
        first, self._first = self._first, None
        return first if first is not None else await self._receive()
