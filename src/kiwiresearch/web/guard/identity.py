"""Who sends a request: the visitor and role, and who may see the living of a family."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Annotated
from urllib.parse import quote

from fastapi import Query, Request
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from kiwiresearch.errors import BadSettings, NotAllowed
from kiwiresearch.kin.privacy import PRIVACY_MODES, PrivacyMode
from kiwiresearch.network import is_loopback
from kiwiresearch.store import ROLES, Role
from kiwiresearch.web.guard.requests import is_browser_path, is_page_read, is_same
from kiwiresearch.web.problems import Problem, Refused, refuse
from kiwiresearch.workspace import LINK_PATH, NO_LIMITS, ServeSettings, UserLimits

WHO_MAY: dict[Role, str] = {
    "reader": "signed-in users",
    "researcher": "researchers and owners",
    "owner": "owners",
}
ASK_AN_OWNER = "Ask an owner of this server to do it or to change your role."


@dataclass(frozen=True, slots=True)
class Visitor:
    """A user and their role; without a name, anybody who uses a server that has no users."""

    name: str = ""
    role: Role = "owner"
    limits: UserLimits = NO_LIMITS
    credential: str = ""
    """The id of the token, password or link that the user was recognised by."""
    since: str = ""
    """When this user was added: an earlier user of the same name may be another person."""

    def may(self, role: Role) -> bool:
        """Whether this user's role includes the given one."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def may_change(self, creator: str, created_at: str = "") -> bool:
        """Whether this user may change the work of `creator`: their own, and as an owner everybody's.

        What was created before this user was added belongs to an earlier user of the same name.
        """
        # Both are times in UTC in the same form, so they can be compared as text.
        is_theirs = creator == self.name and (not created_at or created_at >= self.since)
        return self.role == "owner" or (self.may("researcher") and is_theirs)


NO_ACCOUNTS_VISITOR = Visitor()
"""Anybody who uses a server that has no users; `OwnerAccess` and `FamilyAccess` decide what they may do as an owner."""

CURRENT_VISITOR: ContextVar[Visitor] = ContextVar("visitor", default=NO_ACCOUNTS_VISITOR)


def current_visitor() -> Visitor:
    """The sender of the request that is being handled."""
    return CURRENT_VISITOR.get()


def refuse_without_role(role: Role) -> None:
    """Refuse the visitor unless their role includes this one."""
    if not current_visitor().may(role):
        raise NotAllowed(f"Only {WHO_MAY[role]} can do this.", remedy=ASK_AN_OWNER)


def require_creator_or_owner(creator: str, created_at: str = "") -> None:
    """Refuse to change the work of another user, except for owners."""
    if not current_visitor().may_change(creator, created_at):
        who = repr(creator) if creator else "its creator"
        raise NotAllowed(f"Only {who} and owners can do this.", remedy=ASK_AN_OWNER)


COOKIE = "kiwiresearch_token"
HEALTH = "/api/health"
SIGN_IN_PATH = "/login"
LANGUAGE = "/language"
THEME = "/theme"
STATIC_PATH = "/static/"
"""Our style sheets and scripts, which the sign-in page needs too."""

APP_FILES = frozenset({"/manifest.webmanifest", "/service-worker.js", "/offline", "/shortcuts", "/shortcuts/sheet"})
"""What every page loads or links to, the sign-in page too; nothing in them is private."""
PUBLIC_PATHS = frozenset({HEALTH, SIGN_IN_PATH, LANGUAGE, THEME}) | APP_FILES
"""Paths for strangers: the health check, and the sign-in page in their language and colours."""

TOKEN_NEEDED = Problem(
    401,
    "Token needed",
    "Sign in to use this server, or send a token.",
    "Open /login in a browser, or send the token as 'Authorization: Bearer TOKEN'.",
    (("WWW-Authenticate", "Bearer"),),
)


def address_in(scope: Scope) -> str:
    """The address as a browser shows it, without the server."""
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"]) + (f"?{query}" if query else "")


def page_of_form(scope: Scope) -> str:
    """The page of ours that a form was sent from: the browser returns there after the sign-in."""
    headers = Headers(scope=scope)
    scheme, separator, rest = headers.get("referer", "").partition("://")
    host, slash, place = rest.partition("/")
    # Only a page of this server: the Referer of another site must not become a redirect target.
    return f"/{place}" if separator and slash and is_same(f"{scheme}://{host}", headers.get("host", "")) else "/"


def cookie_in(headers: Headers) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def set_sign_in_cookie(response: Response, request: Request, cookie: str) -> None:
    """Let a browser keep its user signed in until it is closed."""
    # Strict: no other site can make a browser send it. Secure only with HTTPS, or it would never be sent back.
    response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=request.url.scheme == "https")


def is_sign_in_link(scope: Scope) -> bool:
    """Whether this is the page that a sign-in link leads to, or its form; servers with users have them."""
    path: str = scope["path"]
    return path.startswith(LINK_PATH)


def is_public(scope: Scope) -> bool:
    """Whether strangers may use this path, where users or a token are needed for others."""
    return scope["path"] in PUBLIC_PATHS or scope["path"].startswith(STATIC_PATH)


async def redirect_to_sign_in(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Redirect a browser to the sign-in page, and from there back here; others get the problem."""
    if is_browser_path(scope) and "text/html" in Headers(scope=scope).get("accept", ""):
        wanted = quote(address_in(scope) if is_page_read(scope) else page_of_form(scope), safe="")
        await RedirectResponse(f"{SIGN_IN_PATH}?next={wanted}", status_code=303)(scope, receive, send)
    else:
        await refuse(problem, scope, receive, send)


OWNER_REMEDY = (
    "Set 'family_owner = true' under [serve] in settings.toml to allow this for everyone who has the token, "
    "or, without a token, on this computer."
)
Privacy = Annotated[
    PrivacyMode | None,
    Query(description="What is shown about people who may be living, up to what the server allows (the default)."),
]
ExportPrivacy = Annotated[
    PrivacyMode, Query(description="What is shown about people who may be living, up to what the server allows.")
]


def check_family_owner_setting(serve: ServeSettings) -> None:
    """Refuse to open families to this machine if others may reach the server through it."""
    if serve.family_owner and not (serve.token or serve.users) and (serve.public_url or serve.hosts):
        raise BadSettings(
            "'serve.family_owner' is set and other computers can reach this server, but no token is set.",
            remedy="Set a token with KIWIRESEARCH_SERVE_TOKEN, or remove 'family_owner'.",
        )


MANAGE_REMEDY = (
    "Open this server on the machine it runs on, without a token; where it has a token, "
    "'family_owner = true' under [serve] in settings.toml makes its holders owners."
)


class OwnerAccess:
    """Who may manage books and settings of a server."""

    def __init__(self, serve: ServeSettings) -> None:
        self._serve = serve

    def may_manage(self, request: Request) -> bool:
        """Whether a request comes from an owner.

        Users are known by their role, else by a token that is for owners, else by being on this machine.

        Behind a proxy all requests may seem to come from this machine, so there nobody is known to be the owner.
        """
        is_stranger = getattr(request.state, "is_stranger", True)
        if self._serve.users:
            return not is_stranger and current_visitor().role == "owner"
        if self._serve.token:
            return self._serve.family_owner and not is_stranger
        if self._serve.public_url or self._serve.hosts:
            return False
        return request.client is not None and is_loopback(request.client.host)

    def require_server_owner(self, request: Request) -> None:
        """Refuse to change books and settings, except for an owner: see `may_manage`."""
        if not self.may_manage(request):
            raise Refused(403, "Only an owner can change books and settings.", MANAGE_REMEDY)


class FamilyAccess:
    """The rights of a request in family research."""

    def __init__(self, serve: ServeSettings) -> None:
        self._serve = serve

    def may_see_living(self, request: Request) -> bool:
        """Whether this is an owner, who sees people who may be living, on a server that allows it."""
        if not self._serve.family_owner:
            return False
        if self._serve.users:
            return not getattr(request.state, "is_stranger", True) and current_visitor().role == "owner"
        if self._serve.token:
            return not getattr(request.state, "is_stranger", True)
        # If the settings name a public address, `check_family_owner_setting` refused to start: no proxy is in between.
        return request.client is not None and is_loopback(request.client.host)

    def privacy_mode(self, request: Request, wanted: PrivacyMode | None = None) -> PrivacyMode:
        """The privacy mode of a reply: the one requested, if it shows no more than allowed."""
        allowed: PrivacyMode = "owner" if self.may_see_living(request) else "public"
        if wanted is not None and PRIVACY_MODES.index(wanted) < PRIVACY_MODES.index(allowed):
            raise Refused(403, "Only an owner can see this.", OWNER_REMEDY)
        return wanted or allowed

    def require_family_owner(self, request: Request) -> None:
        """Refuse what only an owner who sees the living may do: it could reveal a living person, or use the network."""
        if not self.may_see_living(request):
            raise Refused(403, "Only an owner can do this.", OWNER_REMEDY)
