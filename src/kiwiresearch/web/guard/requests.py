"""Which requests are accepted: checks of host, origin, path and body."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextvars import ContextVar
from threading import Event
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.network import ip_address_of, is_loopback
from kiwiresearch.system import ABANDONED
from kiwiresearch.web.problems import Problem, refuse

SAFE_METHODS = frozenset({"GET", "HEAD"})
MCP_PATH = "/mcp"
API_PATHS = ("/api/", "/v1/", MCP_PATH, "/owui/", "/search", "/openapi.json")
"""Paths for programs; every other path is a page, or a form on one."""


def is_browser_path(scope: Scope) -> bool:
    """Whether this is the path of a page, or of a form on one, and not of programs."""
    path: str = scope["path"]
    return path != "/api" and not path.startswith(API_PATHS)


def is_book_page(scope: Scope) -> bool:
    """Whether this is a page or file of a book."""
    path: str = scope["path"]
    return path.startswith("/read/")


def is_page_read(scope: Scope) -> bool:
    """Whether this only reads a page, which a link from any site may do."""
    return scope["method"] in SAFE_METHODS and is_browser_path(scope)


OWN_SITES = frozenset({"same-origin", "none"})
"""What a browser sends as Sec-Fetch-Site for our own pages, and for addresses the user typed."""

# Browsers leave out the default port in an Origin, but some clients write it in the Host header.
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
    """Whether a browser says that another site caused a request."""
    same = all(is_same(origin, headers.get("host", "")) for origin in headers.getlist("origin"))
    return not (same and OWN_SITES.issuperset(headers.getlist("sec-fetch-site")))


def is_followed_link(headers: Headers) -> bool:
    """Whether a link to a page is followed: it is opened, not embedded in a page or read by a script."""
    is_named = len(headers.getlist("sec-fetch-mode")) == len(headers.getlist("sec-fetch-dest")) == 1
    return (
        is_named
        and headers["sec-fetch-mode"] == "navigate"
        and is_top_level_navigation(headers)
        and "origin" not in headers
    )


def is_top_level_navigation(headers: Headers) -> bool:
    """Whether a page is opened in a window, as far as the headers say.

    If our service worker sends the request for the browser, the mode stays and the destination is "empty". No script
    of another site can send such a request.
    """
    destination = headers.get("sec-fetch-dest", "document")
    return destination == "document" or (destination == "empty" and headers.get("sec-fetch-mode") == "navigate")


FRAMES = frozenset({"iframe", "frame"})
"""What a browser sends as Sec-Fetch-Dest for a page within a page."""


def is_from_own_page(headers: Headers) -> bool:
    """Whether a browser says that a page of ours made a request; saying nothing is not enough.

    Browsers send Sec-Fetch-Site only to servers on this machine and those with HTTPS. To others they send the origin
    with forms, and the address of the page with what it loads.
    """
    if is_from_elsewhere(headers):
        return False
    sites = headers.getlist("sec-fetch-site")
    if sites or "origin" in headers:
        return sites == ["same-origin"] or "origin" in headers
    return _is_on(headers.get("referer", ""), headers.get("host", ""))


def is_typed_or_bookmarked(headers: Headers) -> bool:
    """Whether a browser says that its user typed the address or opened a bookmark."""
    return headers.getlist("sec-fetch-site") == ["none"]


def _is_on(address: str, host: str) -> bool:
    scheme, separator, rest = address.partition("://")
    return bool(separator) and is_same(f"{scheme}://{rest.partition('/')[0]}", host)


class HttpLayer:
    """A layer around an app that handles HTTP requests; other messages, such as those of the lifespan, pass through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.handle if scope["type"] == "http" else self._app)(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


# An IPv6 address in brackets, or a name or IPv4 address; then perhaps a port. Anything else is refused.
AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)

MISDIRECTED = Problem(
    421,
    "Misdirected",
    "The name in the Host header is not one of this server's names.",
    "Use the server's address, or add the name to 'hosts' under [serve] in the settings.",
)


def host_name(authority: str) -> str:
    """The host in 'host:port', in lower case; empty if it is not valid."""
    found = AUTHORITY.fullmatch(authority)
    return (found["six"] or found["name"]).lower().rstrip(".") if found else ""


class HostCheck(HttpLayer):
    """Accepts requests to loopback, to the address we listen on, or to a name in the settings.

    If we listen on all addresses, any numeric address will do: an attacker can make a name of theirs resolve to us
    (DNS rebinding), but not an address.
    """

    def __init__(self, app: ASGIApp, *, bound: str, named: Sequence[str]) -> None:
        super().__init__(app)
        self._names = {host_name(name) or name.lower() for name in (bound, *named)}
        address = ip_address_of(bound)
        self._any_address = address is not None and address.is_unspecified

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._knows(Headers(scope=scope).getlist("host")):
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
    "Pages on other sites cannot use this server.",
    "Send the request from a program or from a page on this server.",
)
NOT_FROM_A_PAGE = Problem(
    403,
    "Not from this server",
    "This server accepts forms only from its own pages, and the request does not show where this form came from.",
    "Open the page again and submit its form. Programs must send JSON to /api.",
)


class OriginCheck(HttpLayer):
    """Refuses requests that a browser sends for another site; programs send no site, and may use their own paths."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = _origin_problem(scope)
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await refuse(problem, scope, receive, send)


def _origin_problem(scope: Scope) -> Problem | None:
    headers = Headers(scope=scope)
    if "reading_key" in scope.get("state", {}):
        return None  # a page that runs scripts has no origin: its own pictures and links seem to be from another site
    if is_from_elsewhere(headers):
        is_linked = scope["method"] in SAFE_METHODS and is_browser_path(scope) and is_followed_link(headers)
        return None if is_linked else CROSS_SITE
    if scope["method"] in SAFE_METHODS or not is_browser_path(scope) or is_from_own_page(headers):
        return None
    return NOT_FROM_A_PAGE


CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
BOOK_PATHS = ("/read/", "/page/", "/picture/")
"""Followed by paths within books, which may have any character."""

CONTROL_CHARACTER_IN_PATH = Problem(
    404,
    "Not found",
    "The address contains control characters.",
    "Check the end of the address: a line break may have been copied with it.",
)


class PathCheck(HttpLayer):
    """Refuses paths with control characters: a route would match one with a line end as if it had none."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if CONTROLS.search(scope["path"]) and not scope["path"].startswith(BOOK_PATHS):
            await refuse(CONTROL_CHARACTER_IN_PATH, scope, receive, send)
        else:
            await self._app(scope, receive, send)


REQUEST_ADDRESS: ContextVar[str] = ContextVar("address", default="")


class RequestAddress(HttpLayer):
    """Remembers scheme and host of a request while it is handled; the Host header was checked before."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host", "")
        REQUEST_ADDRESS.set(f"{scope['scheme']}://{host}" if host else "")
        await self._app(scope, receive, send)


BODY_TIMEOUT_S = 30.0
"""How long a client may take to send the body it announced."""

TOO_LARGE_STATUS = 413
MAX_DRAINED = 4 * 2**20  # bytes read of a body beyond the limit, before the connection is closed
DRAIN_TIMEOUT_S = 2.0

FORM = "application/x-www-form-urlencoded"

NOT_JSON = Problem(
    415, "Not JSON", "The body of a request must be JSON.", "Send it with 'Content-Type: application/json'."
)
NOT_A_FORM = Problem(
    415, "Not a form", "This address accepts only the form on its own page.", "Programs must send JSON to /api."
)
TWO_LENGTHS = Problem(
    400,
    "Two lengths",
    "The request says in two ways how long it is, so a proxy could see another request than this server.",
    "Send either Content-Length or Transfer-Encoding.",
    (("Connection", "close"),),
)
TOO_SLOW = Problem(408, "Too slow", "The request did not arrive in time.", "Send it again.", (("Connection", "close"),))


BOOK_UPLOAD = "/books/upload"
# "/family/import", "/api/family/CASE/people/P1/attachments" and "/books/upload"; not "/family/CASE/people/P1".
UPLOAD = re.compile(rf"(?:/api)?/family/(?:(?:[^/]+/)?import|[^/]+/people/[^/]+/attachments)|{BOOK_UPLOAD}")
MULTIPART = "multipart/form-data"
UPLOAD_KINDS = ("application/octet-stream", "application/x-gedcom", "text/vnd.familysearch.gedcom", "application/zip")
FORM_WITHOUT_FILE = Problem(415, "Not a file", "The form must include a file.", "Choose a file in the form.")
NOT_A_FILE = Problem(415, "Not a file", "The body must be a file.", f"Send it with 'Content-Type: {UPLOAD_KINDS[0]}'.")


def is_upload(scope: Scope) -> bool:
    """Whether a request uploads a file, which its route reads part by part, so that it is never all in memory."""
    return scope["method"] == "POST" and UPLOAD.fullmatch(scope["path"]) is not None


def is_book_upload(scope: Scope) -> bool:
    """Whether a request uploads a book, which may take hours; each of its parts has a time limit."""
    return is_upload(scope) and scope["path"] == BOOK_UPLOAD


def _upload_problem(kind: str, *, is_form: bool) -> Problem | None:
    if is_form:
        return None if kind == MULTIPART else FORM_WITHOUT_FILE
    return None if kind in UPLOAD_KINDS else NOT_A_FILE


class BodyCheck(HttpLayer):
    """Reads the body before the routes do, and refuses one that is too large, too slow, or neither JSON nor a form."""

    timeout_s = BODY_TIMEOUT_S

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        super().__init__(app)
        self._max_bytes = max_bytes

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._refusal(scope)
        if problem is None and is_upload(scope):
            await self._app(scope, receive, send)
            return
        if problem is None:
            body = None
            with anyio.move_on_after(self.timeout_s) as limit:
                body = await self._read(receive)
            if body is not None and len(body) <= self._max_bytes:
                await self._watched(scope, body, receive, send)
                return
            if body is None and not limit.cancelled_caught:
                return  # the client has disconnected
            problem = self._too_large() if body else TOO_SLOW
        elif problem.status == TOO_LARGE_STATUS and "expect" not in Headers(scope=scope):
            with anyio.move_on_after(DRAIN_TIMEOUT_S):
                await self._read(receive)
        await refuse(problem, scope, receive, send)

    async def _watched(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Handle the request; long work for it ends when the client has disconnected or the time is up."""
        abandoned = scope.setdefault("state", {})["abandoned"] = Event()
        ABANDONED.set(abandoned)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            abandoned.set()

        watching = asyncio.ensure_future(watch())
        try:
            await self._app(scope, _Replayed(body, receive), send)
        finally:
            watching.cancel()

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and "content-length" in headers:
            return TWO_LENGTHS
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if is_upload(scope):
            return _upload_problem(kind, is_form=is_browser_path(scope))
        length = headers.get("content-length", "0")
        # 20 digits are enough for any size, and keep int() from parsing a number of a million digits.
        if not length.isascii() or not length.isdigit() or int(length[:20]) > self._max_bytes:
            return self._too_large()
        has_body = int(length[:20]) > 0 or "transfer-encoding" in headers
        if scope["method"] in SAFE_METHODS or not (kind or has_body):
            return None
        if is_browser_path(scope):
            return None if kind == FORM else NOT_A_FORM
        return None if kind == "application/json" else NOT_JSON

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or None if the client has disconnected.

        What exceeds the limit is read for a while and dropped: a client that is still sending when we close the
        connection may never see our reply.
        """
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= self._max_bytes + MAX_DRAINED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            if size <= self._max_bytes:
                parts.append(message.get("body", b""))
            size += len(message.get("body", b""))
        return b"".join(parts)

    def _too_large(self) -> Problem:
        return Problem(
            TOO_LARGE_STATUS,
            "Too large",
            f"A request can be {self._max_bytes // 1024:,} KB at most.",
            "Send less, or raise 'max_body_kb' under [serve] in the settings.",
            (("Connection", "close"),),
        )


class _Replayed:
    """Returns the body that was already read, then whatever else arrives."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._first: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._receive = receive

    async def __call__(self) -> Message:
        first, self._first = self._first, None
        return first if first is not None else await self._receive()
