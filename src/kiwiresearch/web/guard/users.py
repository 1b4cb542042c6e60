"""Users, recognised by a password, a token, a sign-in link, a cookie or the key in an address, and counted by name."""

from __future__ import annotations

import contextlib
import hmac
import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import KiwiError
from kiwiresearch.store import PREFIX, ROLES, Store, UserRow
from kiwiresearch.web.guard.audit import AuditLog, record_wrong_token
from kiwiresearch.web.guard.identity import (
    CURRENT_VISITOR,
    TOKEN_NEEDED,
    Visitor,
    cookie_in,
    is_public,
    is_sign_in_link,
    redirect_to_sign_in,
)
from kiwiresearch.web.guard.limits import Buckets, client_of, too_many_requests
from kiwiresearch.web.guard.passwords import PasswordCheck
from kiwiresearch.web.guard.requests import HttpLayer, is_browser_path, is_from_own_page
from kiwiresearch.web.guard.server_token import (
    MAX_WRONG_TOKENS_PER_MINUTE,
    count_token_try,
    sent_token,
)
from kiwiresearch.web.guard.signed_stamp import SignedStamp, read_stamp, second_of
from kiwiresearch.web.problems import problem_of, refuse
from kiwiresearch.workspace import LimitSettings, user_limits

USE_RECORD_INTERVAL_S = 3_600.0
"""How often the store records that a token is in use."""
MAX_RECENT_USES = 10_000
"""Of how many tokens the last recorded use is remembered."""

COOKIE_S = 30 * 86_400
"""How long a browser stays signed in."""
TOKEN_SHAPE = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{16,100}}")
"""What tokens look like; the database is not asked about anything else."""


class UserAuthenticator:
    """Finds the user of a request.

    Nothing is cached: a removed user, a revoked token or a replaced password is refused at once.
    """

    def __init__(
        self,
        store: Store,
        limits: LimitSettings,
        now: Callable[[], str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._users = store.users
        self._secret = store.keys.key("door").encode()  # the name that it is stored under
        self.reading_secret = self._signature("reading", "").encode()
        self._limits = limits
        self._now = now
        self._clock = clock
        self._recent_uses: OrderedDict[str, float] = OrderedDict()
        self._tries = Buckets(MAX_WRONG_TOKENS_PER_MINUTE, clock=clock)
        self._lock = threading.Lock()
        self.passwords = PasswordCheck(store, clock=clock)

    def cookie_for(self, text: str, client: str) -> str | None:
        """The cookie for a browser that sent this text; None if it is not a token.

        The token cannot be derived from it, and it opens only pages and what they load.
        """
        token = self._users.find_token(text) if TOKEN_SHAPE.fullmatch(text) else None
        if token is None:
            self._count_try(client)
            return None
        self._note_use(token.id)
        return self.cookie_of(token.id)

    def cookie_for_password(self, name: str, password: str, client: str) -> str | None:
        """The cookie for a browser that sent this name and password; None if they are wrong."""
        found = self.passwords.find(name, password, client)
        return self.cookie_of(found.id) if found is not None else None

    def user_of_link(self, secret: str, client: str) -> str | None:
        """The name of the user whom a link would sign in; it is not used up."""
        found = self.passwords.find_sign_in_link(secret, client, at=self._now(), consume=False)
        return found.user if found is not None else None

    def cookie_for_link(self, secret: str, client: str) -> str | None:
        """The cookie for a browser that uses a link; None if it does not work, or no longer."""
        found = self.passwords.find_sign_in_link(secret, client, at=self._now(), consume=True)
        return self.cookie_of(found.id) if found is not None else None

    def cookie_of(self, credential_id: str) -> str:
        """A new cookie for a token, a password or a link that was used."""
        return SignedStamp(credential_id, second_of(self._now())).text(self._cookie_signature)

    def has_passwords(self) -> bool:
        """Whether any user has a password."""
        return bool(self._users.password_times())

    def is_authenticated(self, scope: Scope) -> bool:
        return self.visitor_of(scope) is not None

    def visitor_of(self, scope: Scope) -> Visitor | None:
        """The user of a request: by its header, or by a cookie if one of our pages sent it."""
        text = sent_token(scope)
        if text is not None:
            return self._by_token(text, client_of(scope))
        headers = Headers(scope=scope)
        accepts_cookie = is_browser_path(scope) or is_from_own_page(headers)
        return self.by_cookie(cookie_in(headers)) if accepts_cookie else None

    def by_cookie(self, cookie: str) -> Visitor | None:
        """The user of a cookie, if it is not too old."""
        stamp = read_stamp(cookie, self._cookie_signature)
        if stamp is None or not 0 <= second_of(self._now()) - stamp.time_s <= COOKIE_S:
            return None
        return self.by_credential(stamp.credential)

    def _by_token(self, text: str, client: str) -> Visitor | None:
        token = self._users.find_token(text) if TOKEN_SHAPE.fullmatch(text) else None
        user = self._users.by_credential(token.id) if token is not None else None
        if token is None or user is None:
            self._count_try(client)
            return None
        self._note_use(token.id)
        return self._visitor(user, token.id)

    def by_credential(self, credential_id: str) -> Visitor | None:
        user = self._users.by_credential(credential_id)
        return self._visitor(user, credential_id) if user is not None else None

    def _visitor(self, user: UserRow, credential_id: str) -> Visitor | None:
        role = next((role for role in ROLES if role == user.role), None)
        # A role that this version does not know admits nobody.
        if role is None:
            return None
        return Visitor(user.name, role, user_limits(self._limits, role, user.limits), credential_id, user.made_at)

    def _cookie_signature(self, stamp: str) -> str:
        return self._signature("cookie", stamp)

    def _signature(self, use: str, signed: str) -> str:
        """A signature for one purpose, which only this store can make."""
        payload = f"{use} {signed}".encode("utf-8", "replace")
        return hmac.new(self._secret, payload, sha256).hexdigest()

    def _count_try(self, client: str) -> None:
        with self._lock:
            count_token_try(self._tries, client)

    def _note_use(self, token_id: str) -> None:
        """Record that a token is in use, once an hour; users are let in even if that cannot be written."""
        now = self._clock()
        with self._lock:
            if now - self._recent_uses.get(token_id, -math.inf) < USE_RECORD_INTERVAL_S:
                return
            self._recent_uses[token_id] = now
            if len(self._recent_uses) > MAX_RECENT_USES:
                self._recent_uses.popitem(last=False)
        with contextlib.suppress(KiwiError):
            self._users.note_use(token_id, at=self._now())


class UserCheck(HttpLayer):
    """Lets users in, each counted by name; others may use only the public paths, such as the sign-in page."""

    def __init__(
        self, app: ASGIApp, *, authenticator: UserAuthenticator, buckets: Buckets, audit_log: AuditLog | None
    ) -> None:
        super().__init__(app)
        self._audit_log = audit_log
        self._authenticator = authenticator
        self._buckets = buckets

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.setdefault("state", {})
        try:
            known = await run_in_threadpool(self._find_visitor, scope)
        except KiwiError as problem:
            await refuse(problem_of(problem), scope, receive, send)
            return
        state["is_stranger"] = known is None
        if wait_s := self._wait(known, scope):
            await refuse(too_many_requests(math.ceil(wait_s), "your limit under [limits]"), scope, receive, send)
        elif known is None and not (is_public(scope) or is_sign_in_link(scope)):
            await redirect_to_sign_in(TOKEN_NEEDED, scope, receive, send)
        else:
            await self._serve(known, scope, receive, send)

    def _find_visitor(self, scope: Scope) -> Visitor | None:
        credential = scope["state"].get("reading_credential")
        # With a key only its user counts, whatever else the request says.
        if credential:
            return self._authenticator.by_credential(credential)
        known = self._authenticator.visitor_of(scope)
        if known is None and self._audit_log is not None and sent_token(scope) is not None:
            record_wrong_token(self._audit_log, scope)
        return known

    def _wait(self, known: Visitor | None, scope: Scope) -> float:
        if known is None:
            return self._buckets.take(client_of(scope))
        # The scripts of a book must not use up the user's limit.
        kind = "link of" if "reading_key" in scope["state"] else "user"
        return self._buckets.take(f"{kind} {known.name}", known.limits.requests_a_minute)

    async def _serve(self, known: Visitor | None, scope: Scope, receive: Receive, send: Send) -> None:
        if known is None:
            await self._app(scope, receive, send)
            return
        scope["state"]["visitor"] = known
        token = CURRENT_VISITOR.set(known)
        try:
            await self._app(scope, receive, send)
        finally:
            CURRENT_VISITOR.reset(token)
