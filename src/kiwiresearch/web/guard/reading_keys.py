"""Keys in the addresses of books whose pages run scripts: each opens one book, for one browser, for some hours.

Such a page has no origin, so a browser sends no cookie for its pictures and links. Its scripts can read the key in
their own address, so a key is of no use to anybody else.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.identity import address_in, current_visitor
from kiwiresearch.web.guard.limits import client_of
from kiwiresearch.web.guard.requests import HttpLayer, is_page_read, is_top_level_navigation
from kiwiresearch.web.guard.signed_stamp import ID_HEX_DIGITS, Sign, SignedStamp, read_stamp, second_of
from kiwiresearch.web.problems import Problem, refuse

PERIOD_S = 12 * 3_600
"""A key is valid until the end of the next period, and the same within one, so that browsers can cache files."""
NO_CREDENTIAL = "0" * ID_HEX_DIGITS
# "/read/BOOK~" with at least 32 hex digits, then "/" or the end; not "/read/book~2/A/Moon", which is a name.
READING_KEY = re.compile(r"(?P<book>/read/[^/~]+)~(?P<key>[0-9a-f]{32,})(?=/|$)")
BROWSER_HEADERS = ("user-agent", "accept-language")
"""What a browser sends alike with a page and with everything that the page loads."""

WRONG_KEY = Problem(
    403,
    "Key not valid",
    "The key in this address is for another browser or another book, or it is too old.",
    "Open the page of the book again.",
)


class ReadingKeys:
    """Makes and checks the keys; one is the id of a credential, the time at which it ends, and a signature."""

    def __init__(self, secret: bytes, now: Callable[[], str]) -> None:
        self._secret = secret
        self._now = now

    def key_for(self, book: str, request: Request) -> str:
        """The key with which the browser of this request may read a book as its present user."""
        ends_s = (second_of(self._now()) // PERIOD_S + 2) * PERIOD_S
        stamp = SignedStamp(current_visitor().credential or NO_CREDENTIAL, ends_s)
        return stamp.text(self._signer(book, request.scope))

    def credential_of(self, book: str, key: str, scope: Scope) -> str | None:
        """The credential of a key, if it is valid for this book and the browser that sends it."""
        stamp = read_stamp(key, self._signer(book, scope))
        return stamp.credential if stamp is not None and stamp.time_s > second_of(self._now()) else None

    def _signer(self, book: str, scope: Scope) -> Sign:
        headers = Headers(scope=scope)
        browser = (client_of(scope), *(headers.get(name, "") for name in BROWSER_HEADERS))

        def sign(stamp: str) -> str:
            words = "\n".join((stamp, book, *browser)).encode("utf-8", "replace")
            return hmac.new(self._secret, words, sha256).hexdigest()

        return sign


class ReadingKeyCheck(HttpLayer):
    """Takes the key out of the address of a page or file of a book, and refuses one that is not valid.

    A page that is opened by itself, and not in our frame, has no use for a key: without the frame, its scripts could
    lead the window anywhere. So the browser is sent to the address without it.
    """

    def __init__(self, app: ASGIApp, *, keys: ReadingKeys) -> None:
        super().__init__(app)
        self._keys = keys

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = READING_KEY.match(scope["path"]) if is_page_read(scope) else None
        if found is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        book = found["book"].removeprefix("/read/")
        credential = self._keys.credential_of(book, found["key"], scope)
        if is_top_level_navigation(headers) and "text/html" in headers.get("accept", ""):
            address = quote(found["book"]) + address_in(scope)[len(quote(found[0])) :]
            await RedirectResponse(address, status_code=303)(scope, receive, send)
        elif credential is None or headers.get("sec-fetch-dest", "empty") in ("document", "empty"):
            await refuse(WRONG_KEY, scope, receive, send)
        else:
            scope["path"] = found["book"] + scope["path"][found.end() :]
            state = scope.setdefault("state", {})
            state["reading_key"], state["reading_credential"] = f"~{found['key']}", credential
            await self._app(scope, receive, send)
