"""The token that clients show, and what they may do without it."""

from __future__ import annotations

import hashlib
import hmac
import re
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.audience import is_for_people, is_page
from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.guard.sites import is_from_own_page, is_same
from kiwiresearch.web.problems import Problem

COOKIE = "kiwiresearch_token"
READING_LETTERS = 32
HEALTH = "/api/health"
LOGIN = "/login"
LANGUAGE = "/language"
FILES = "/static/"
"""Style sheets and scripts of ours, which the page that asks for the token needs too."""

OPEN = frozenset({HEALTH, LOGIN, LANGUAGE})
"""What strangers may use: that the server is up, and the page that asks for the token, in their language."""

UNKNOWN = Problem(
    401,
    "Token needed",
    "This server answers only to those who show its token.",
    "Send it as 'Authorization: Bearer TOKEN'; in a browser, open /login.",
    (("WWW-Authenticate", "Bearer"),),
)


class Token:
    """The right token; comparing with it takes as long for a near miss as for nonsense."""

    def __init__(self, text: str) -> None:
        self._right = _digest(text)
        self.cookie = hashlib.sha256(b"cookie " + self._right).hexdigest()
        """What a browser keeps: it opens our pages and what they ask for, and the token cannot be told from it."""
        self.reading = hashlib.sha256(b"reading " + self._right).hexdigest()[:READING_LETTERS]
        """Stands behind a book's name in addresses of its pages: it lets read the books, and nothing else.

        A page of a book is shut off from everything, also from cookies: its pictures and links could not show any.
        """

    def cookie_for(self, text: str, client: str) -> str | None:  # noqa: ARG002 (as all doors are asked)
        """What a browser is to keep that showed this text; None if it is not the token."""
        return self.cookie if self.is_right(text) else None

    def is_right(self, text: str) -> bool:
        return hmac.compare_digest(self._right, _digest(text))

    def is_shown(self, scope: Scope) -> bool:
        """Whether a request carries it: in its header, or in a cookie, for pages and for what pages of ours ask for."""
        headers = Headers(scope=scope)
        kind, _, text = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.is_right(text.strip())
        is_ours = is_for_people(scope) or is_from_own_page(headers)
        return is_ours and hmac.compare_digest(_digest(cookie_in(headers)), _digest(self.cookie))


def address_in(scope: Scope) -> str:
    """What a browser had in its address line, without the server."""
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"]) + (f"?{query}" if query else "")


def page_of_form(scope: Scope) -> str:
    """The page of ours that a form was sent from; a browser that enters the token goes back there."""
    headers = Headers(scope=scope)
    scheme, separator, rest = headers.get("referer", "").partition("://")
    host, slash, place = rest.partition("/")
    return f"/{place}" if separator and slash and is_same(f"{scheme}://{host}", headers.get("host", "")) else "/"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def cookie_in(headers: Headers) -> str:
    try:
        kept = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return kept[COOKIE].value if COOKIE in kept else ""


class TokenNeeded:
    """Lets in who shows the token; others see that the server is up, and the page that asks for the token."""

    def __init__(self, app: ASGIApp, *, token: Token) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_key = self._take_key(scope)
        is_shown = has_key or self._token.is_shown(scope)
        scope.setdefault("state", {})["is_stranger"] = not is_shown
        if is_shown and not has_key and opens_book(scope):
            await RedirectResponse(keyed(scope, self._token.reading), status_code=303)(scope, receive, send)
        elif is_shown or is_open(scope):
            await self._app(scope, receive, send)
        else:
            await send_away(UNKNOWN, scope, receive, send)

    def _take_key(self, scope: Scope) -> bool:
        """Whether a page's address holds the key to reading."""
        key = key_in(scope)
        if not key or not hmac.compare_digest(_digest(key), _digest(self._token.reading)):
            return False
        take_key(scope)
        return True


def is_open(scope: Scope) -> bool:
    """Whether strangers may use this."""
    return scope["path"] in OPEN or scope["path"].startswith(FILES)


async def send_away(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Lead a browser to the page that asks who it is, and back here; tell others the problem."""
    if is_for_people(scope) and "text/html" in Headers(scope=scope).get("accept", ""):
        wanted = quote(address_in(scope) if is_page(scope) else page_of_form(scope), safe="")
        await RedirectResponse(f"{LOGIN}?next={wanted}", status_code=303)(scope, receive, send)
    else:
        await refuse(problem, scope, receive, send)


def key_in(scope: Scope) -> str:
    """The key to reading in the address of a page; empty where there is none."""
    found = KEY.match(scope["path"]) if is_page(scope) else None
    return found["key"] if found else ""


def take_key(scope: Scope) -> None:
    """Take the key out of an address, and tell it to the reader, whose links carry it on."""
    found = KEY.match(scope["path"])
    assert found is not None
    scope["path"] = scope["path"][: found.start("key") - 1] + scope["path"][found.end("key") :]
    scope.setdefault("state", {})["reading_key"] = f"~{found['key']}"


def keyed(scope: Scope, key: str) -> str:
    """The address of a page of a book with the key to reading in it."""
    return KEYED.sub(rf"\g<0>~{key}", address_in(scope), count=1)


KEY = re.compile(r"/read/[^/~]+~(?P<key>[0-9a-f]+)(?=/|$)")
KEYED = re.compile(r"^/read/[^/~?]+")


def opens_book(scope: Scope) -> bool:
    """Whether a browser opens a page of a book, whose own files must be let in by the address alone."""
    return scope["path"].startswith("/read/") and "text/html" in Headers(scope=scope).get("accept", "")
