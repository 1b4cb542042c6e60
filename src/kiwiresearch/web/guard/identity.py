"""Who asks: the visitor and their role, the server's one token, and who may see the living of a family."""

from __future__ import annotations

import hashlib
import hmac
import re
from contextvars import ContextVar
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Annotated
from urllib.parse import quote

from fastapi import Query, Request
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import BadSettings, NotAllowed
from kiwiresearch.kin.privacy.redaction import MODES, Mode
from kiwiresearch.network import is_loopback
from kiwiresearch.store.users import ROLES, Role
from kiwiresearch.web.guard.requests import is_for_people, is_from_own_page, is_page, is_same
from kiwiresearch.web.problems import Problem, Refused, refuse
from kiwiresearch.workspace.setting_values import NO_LIMITS, UserLimits
from kiwiresearch.workspace.settings import ServeSettings

WHO_MAY: dict[Role, str] = {
    "reader": "who is known here",
    "researcher": "researchers and owners",
    "owner": "owners",
}
ASK_AN_OWNER = "Ask an owner of this desk to do it, or to change your role."


@dataclass(frozen=True, slots=True)
class Visitor:
    """A user, and what that one may do; without a name it is whoever uses a desk that has no users."""

    name: str = ""
    role: Role = "owner"
    limits: UserLimits = NO_LIMITS
    reading_key: str = ""
    """Stands in addresses of pages of books, and lets read them and nothing else."""
    since: str = ""
    """When this user was made: another of the same name is somebody else."""

    def may(self, role: Role) -> bool:
        """Whether what this role may do, this user may do too."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def may_change(self, whose: str, made: str = "") -> bool:
        """Whether the work of somebody may be stopped, taken up again or removed: one's own, and all by an owner.

        What was `made` before this user was is of somebody else who had the name.
        """
        is_theirs = whose == self.name and (not made or made >= self.since)
        return self.role == "owner" or (self.may("researcher") and is_theirs)


ANONYMOUS = Visitor()
CURRENT_VISITOR: ContextVar[Visitor] = ContextVar("visitor", default=ANONYMOUS)


def current_visitor() -> Visitor:
    """Who is behind the request that is worked on here."""
    return CURRENT_VISITOR.get()


def require_role(role: Role) -> None:
    """Refuse what the visitor may not do."""
    if not current_visitor().may(role):
        raise NotAllowed(f"Only {WHO_MAY[role]} may do that.", remedy=ASK_AN_OWNER)


def require_own(whose: str, made: str = "") -> None:
    """Refuse to change the work of somebody else."""
    if not current_visitor().may_change(whose, made):
        raise NotAllowed(f"Only {whose or 'its maker'!r} and owners may do that.", remedy=ASK_AN_OWNER)


COOKIE = "kiwiresearch_token"
READING_LETTERS = 32
HEALTH = "/api/health"
LOGIN = "/login"
LANGUAGE = "/language"
STATIC_PATH = "/static/"
"""Style sheets and scripts of ours, which the page that asks for the token needs too."""

PUBLIC_PATHS = frozenset({HEALTH, LOGIN, LANGUAGE})
"""What strangers may use: that the server is up, and the page that asks for the token, in their language."""

TOKEN_NEEDED = Problem(
    401,
    "Token needed",
    "This server answers only to those who show its token.",
    "Send it as 'Authorization: Bearer TOKEN'; in a browser, open /login.",
    (("WWW-Authenticate", "Bearer"),),
)


class ServerToken:
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

    def is_authenticated(self, scope: Scope) -> bool:
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


class TokenCheck:
    """Lets in who shows the token; others see that the server is up, and the page that asks for the token."""

    def __init__(self, app: ASGIApp, *, token: ServerToken) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_key = self._take_key(scope)
        is_shown = has_key or self._token.is_authenticated(scope)
        scope.setdefault("state", {})["is_stranger"] = not is_shown
        if is_shown and not has_key and opens_book(scope):
            await RedirectResponse(with_reading_key(scope, self._token.reading), status_code=303)(scope, receive, send)
        elif is_shown or is_public(scope):
            await self._app(scope, receive, send)
        else:
            await redirect_to_login(TOKEN_NEEDED, scope, receive, send)

    def _take_key(self, scope: Scope) -> bool:
        """Whether a page's address holds the key to reading."""
        key = reading_key_in(scope)
        if not key or not hmac.compare_digest(_digest(key), _digest(self._token.reading)):
            return False
        take_reading_key(scope)
        return True


def is_public(scope: Scope) -> bool:
    """Whether strangers may use this."""
    return scope["path"] in PUBLIC_PATHS or scope["path"].startswith(STATIC_PATH)


async def redirect_to_login(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Lead a browser to the page that asks who it is, and back here; tell others the problem."""
    if is_for_people(scope) and "text/html" in Headers(scope=scope).get("accept", ""):
        wanted = quote(address_in(scope) if is_page(scope) else page_of_form(scope), safe="")
        await RedirectResponse(f"{LOGIN}?next={wanted}", status_code=303)(scope, receive, send)
    else:
        await refuse(problem, scope, receive, send)


def reading_key_in(scope: Scope) -> str:
    """The key to reading in the address of a page; empty where there is none."""
    found = READING_KEY.match(scope["path"]) if is_page(scope) else None
    return found["key"] if found else ""


def take_reading_key(scope: Scope) -> None:
    """Take the key out of an address, and tell it to the reader, whose links carry it on."""
    found = READING_KEY.match(scope["path"])
    assert found is not None
    scope["path"] = scope["path"][: found.start("key") - 1] + scope["path"][found.end("key") :]
    scope.setdefault("state", {})["reading_key"] = f"~{found['key']}"


def with_reading_key(scope: Scope, key: str) -> str:
    """The address of a page of a book with the key to reading in it."""
    return BOOK_ADDRESS.sub(rf"\g<0>~{key}", address_in(scope), count=1)


READING_KEY = re.compile(r"/read/[^/~]+~(?P<key>[0-9a-f]+)(?=/|$)")
BOOK_ADDRESS = re.compile(r"^/read/[^/~?]+")


def opens_book(scope: Scope) -> bool:
    """Whether a browser opens a page of a book, whose own files must be let in by the address alone."""
    return scope["path"].startswith("/read/") and "text/html" in Headers(scope=scope).get("accept", "")


OWNER_REMEDY = (
    "'family_owner = true' below [serve] in settings.toml opens it to who has the token, else to this machine."
)
Privacy = Annotated[
    Mode | None,
    Query(
        description="What is told of people who may be living; no more than the server allows, which is the default."
    ),
]
ExportPrivacy = Annotated[
    Mode, Query(description="What is told of people who may be living; no more than the server allows.")
]


def check_family_owner(serve: ServeSettings) -> None:
    """Refuse to open families to this machine where others may come through it."""
    if serve.family_owner and not (serve.token or serve.users) and (serve.public_url or serve.hosts):
        raise BadSettings(
            "'serve.family_owner' is set, others reach this server by a name, and there is no token.",
            remedy="Set a token (KIWIRESEARCH_SERVE_TOKEN), or leave 'family_owner' out.",
        )


class FamilyAccess:
    """What a request may see and do; nothing that it says of itself counts but the token."""

    def __init__(self, serve: ServeSettings) -> None:
        self._serve = serve

    def is_owner(self, request: Request) -> bool:
        if not self._serve.family_owner:
            return False
        if self._serve.users:
            return not getattr(request.state, "is_stranger", True) and current_visitor().role == "owner"
        if self._serve.token:
            return not getattr(request.state, "is_stranger", True)
        return request.client is not None and is_loopback(request.client.host)

    def privacy_mode(self, request: Request, wanted: Mode | None = None) -> Mode:
        """The mode a request is answered in: the one it wants, if that shows no more than it may see."""
        most: Mode = "owner" if self.is_owner(request) else "public"
        if wanted is not None and MODES.index(wanted) < MODES.index(most):
            raise Refused(403, "Only the owner may see that.", OWNER_REMEDY)
        return wanted or most

    def require_owner(self, request: Request) -> None:
        """Refuse what only the owner may do: it could uncover somebody, or ask the network."""
        if not self.is_owner(request):
            raise Refused(403, "Only the owner may decide that.", OWNER_REMEDY)
