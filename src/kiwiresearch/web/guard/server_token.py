"""A server's one token: which requests carry it, and how many wrong ones may be tried."""

from __future__ import annotations

import hashlib
import hmac
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import LimitReached
from kiwiresearch.web.guard.audit import AuditLog, record_wrong_token
from kiwiresearch.web.guard.identity import TOKEN_NEEDED, cookie_in, is_public, redirect_to_sign_in
from kiwiresearch.web.guard.limits import MAX_CLIENTS, Buckets, client_of, too_many_requests
from kiwiresearch.web.guard.requests import HttpLayer, is_browser_path, is_from_own_page
from kiwiresearch.web.problems import problem_of, refuse

MAX_WRONG_TOKENS_PER_MINUTE = 10
"""How many wrong tokens one address may try in a minute."""
MAX_WRONG_TOKENS_PER_MINUTE_OVERALL = 100
"""And all addresses together: a program on this machine may name any address, as a proxy does."""
ALL_CLIENTS = "all"


def count_token_try(tries: Buckets, client: str) -> None:
    """Count a try, for the client and for all together; LimitReached if there were too many."""
    if wait_s := tries.take(client):
        raise too_many_wrong_tokens(wait_s, "from your address")
    if wait_s := tries.take(ALL_CLIENTS, MAX_WRONG_TOKENS_PER_MINUTE_OVERALL):
        raise too_many_wrong_tokens(wait_s, "to this server")


def too_many_wrong_tokens(wait_s: float, where: str) -> LimitReached:
    return LimitReached(
        f"Too many wrong tokens were sent {where}.",
        retry_after_s=wait_s,
        remedy=f"Try again in {math.ceil(wait_s)} s with the correct token.",
    )


class TokenTries:
    """Limits wrong tokens: people choose the token, so it may be one that can be guessed.

    A client that has tried too often must wait, even with the right token: otherwise the limit would not slow a
    guesser down. An address that has sent it before need not wait, so that guessing locks nobody out.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tries = Buckets(MAX_WRONG_TOKENS_PER_MINUTE, clock=clock)
        self._known: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, client: str, *, is_right: bool) -> bool:
        """Whether a token is accepted from this client; LimitReached after too many wrong ones."""
        with self._lock:
            if is_right and client in self._known:
                self._known.move_to_end(client)
                return True
            # Counted for the right token too, and given back: a client that has to wait must not learn it was right.
            count_token_try(self._tries, client)
            if is_right:
                self._tries.give_back(client)
                self._tries.give_back(ALL_CLIENTS)
                self._known[client] = None
                if len(self._known) > MAX_CLIENTS:
                    self._known.popitem(last=False)
            return is_right


class ServerToken:
    """The server's one token; comparisons take the same time however close a wrong one is."""

    def __init__(self, text: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        # Digests have the same length, so a comparison does not reveal the length of the token either.
        self._right = _digest(text)
        self._tries = TokenTries(clock=clock)
        self.cookie = hashlib.sha256(b"cookie " + self._right).hexdigest()
        """The cookie of a browser: it opens our pages and what they load, and the token cannot be derived from it."""
        self.reading_secret = hashlib.sha256(b"reading " + self._right).digest()

    def cookie_for(self, text: str, client: str) -> str | None:
        """The cookie for a browser that sent this text; None if it is not the token."""
        return self.cookie if self._tries.check(client, is_right=self.is_right(text)) else None

    def is_right(self, text: str) -> bool:
        return hmac.compare_digest(self._right, _digest(text))

    def admits(self, scope: Scope) -> bool:
        """Whether a request carries the token, counting a wrong one; LimitReached after too many."""
        text = sent_token(scope)
        if text is None:
            return self.is_authenticated(scope)
        return self._tries.check(client_of(scope), is_right=self.is_right(text))

    def is_authenticated(self, scope: Scope) -> bool:
        """Whether a request carries the token in its header, or its cookie from one of our pages; counts nothing."""
        text = sent_token(scope)
        if text is not None:
            return self.is_right(text)
        headers = Headers(scope=scope)
        accepts_cookie = is_browser_path(scope) or is_from_own_page(headers)
        return accepts_cookie and hmac.compare_digest(_digest(cookie_in(headers)), _digest(self.cookie))


def sent_token(scope: Scope) -> str | None:
    """The token in a request's header, right or wrong."""
    kind, _, text = Headers(scope=scope).get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


class TokenCheck(HttpLayer):
    """Lets in requests with the token; others may use only the public paths, such as the sign-in page.

    Clients with the token are counted separately from those without, even behind one address.
    """

    def __init__(self, app: ASGIApp, *, token: ServerToken, buckets: Buckets, audit_log: AuditLog | None) -> None:
        super().__init__(app)
        self._token = token
        self._buckets = buckets
        self._audit_log = audit_log

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.setdefault("state", {})
        try:
            has_token = self._token.admits(scope)
        except LimitReached as limit:
            await refuse(problem_of(limit), scope, receive, send)
            return
        is_admitted = has_token or "reading_key" in state
        state["is_stranger"] = not is_admitted
        if not is_admitted and self._audit_log is not None and sent_token(scope) is not None:
            await run_in_threadpool(record_wrong_token, self._audit_log, scope)
        if wait_s := self._buckets.take(f"{client_of(scope)}{' with token' if has_token else ''}"):
            await refuse(too_many_requests(math.ceil(wait_s)), scope, receive, send)
        elif is_admitted or is_public(scope):
            await self._app(scope, receive, send)
        else:
            await redirect_to_sign_in(TOKEN_NEEDED, scope, receive, send)
