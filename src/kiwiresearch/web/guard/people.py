"""The door of a server that has users: it knows each by a token, a cookie, or the key in an address of a page."""

from __future__ import annotations

import contextlib
import hmac
import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.types import Scope

from kiwiresearch.errors import KiwiError, LimitReached
from kiwiresearch.research.limits import LimitSettings, limits_of
from kiwiresearch.store.open import Store
from kiwiresearch.store.people import PREFIX, ROLES, UserRow
from kiwiresearch.web.guard.audience import is_for_people
from kiwiresearch.web.guard.rates import Buckets, client_of
from kiwiresearch.web.guard.sites import is_from_own_page
from kiwiresearch.web.guard.token import cookie_in
from kiwiresearch.web.guard.visitor import Visitor

TRIES_A_MINUTE = 10
"""How many wrong tokens one address may show in a minute."""
USE_NOTED_S = 3_600.0
MOST_NOTED = 10_000
ID_LETTERS = 16
TIME_LETTERS = 10
COOKIE_S = 30 * 86_400
"""How long a browser stays in."""
SHAPE = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{16,100}}")
"""What tokens look like; nobody is asked about anything else."""


class Door:
    """Tells users by what they show. Whoever was removed, or whose token was taken back, is not known any more."""

    def __init__(
        self,
        store: Store,
        limits: LimitSettings,
        now: Callable[[], str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._people = store.people
        self._secret = store.hosts.key("door").encode()
        self._limits = limits
        self._now = now
        self._clock = clock
        self._noted: OrderedDict[str, float] = OrderedDict()
        self._tries = Buckets(TRIES_A_MINUTE, clock=clock)
        self._counting = threading.Lock()

    def cookie_for(self, text: str, client: str) -> str | None:
        """What a browser is to keep that showed this text; None if it is no token.

        The token cannot be told from it, and it opens pages and what they ask for, and nothing else.
        """
        token = self._people.token_of(text) if SHAPE.fullmatch(text) else None
        if token is None:
            self._count_try(client)
            return None
        self._note(token.id)
        begun = f"{token.id}{self._second():0{TIME_LETTERS}x}"
        return begun + self._mark("cookie", begun)

    def is_shown(self, scope: Scope) -> bool:
        return self.known(scope) is not None

    def known(self, scope: Scope) -> Visitor | None:
        """The user a request shows itself to be of: by a header, or a cookie where pages of ours may send one."""
        headers = Headers(scope=scope)
        kind, _, text = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._by_token(text.strip(), client_of(scope))
        is_ours = is_for_people(scope) or is_from_own_page(headers)
        return self.by_cookie(cookie_in(headers)) if is_ours else None

    def by_cookie(self, cookie: str) -> Visitor | None:
        """The user whose browser keeps this cookie, if it is not too old."""
        begun, mark = cookie[: ID_LETTERS + TIME_LETTERS], cookie[ID_LETTERS + TIME_LETTERS :]
        if not self._is_ours("cookie", begun, mark):
            return None
        age_s = self._second() - int(begun[ID_LETTERS:], 16)
        return self._let_in(begun[:ID_LETTERS]) if 0 <= age_s <= COOKIE_S else None

    def by_key(self, key: str) -> Visitor | None:
        """The user whose key to reading stands in an address."""
        token_id, mark = key[:ID_LETTERS], key[ID_LETTERS:]
        return self._let_in(token_id) if self._is_ours("reading", token_id, mark) else None

    def _by_token(self, text: str, client: str) -> Visitor | None:
        token = self._people.token_of(text) if SHAPE.fullmatch(text) else None
        user = self._people.by_token_id(token.id) if token is not None else None
        if token is None or user is None:
            self._count_try(client)
            return None
        self._note(token.id)
        return self._visitor(user, token.id)

    def _is_ours(self, use: str, marked: str, mark: str) -> bool:
        """Whether we made a mark; how long that takes does not depend on how near it comes."""
        return hmac.compare_digest(mark.encode("utf-8", "replace"), self._mark(use, marked).encode())

    def _let_in(self, token_id: str) -> Visitor | None:
        user = self._people.by_token_id(token_id)
        return self._visitor(user, token_id) if user is not None else None

    def _visitor(self, user: UserRow, token_id: str) -> Visitor | None:
        role = next((role for role in ROLES if role == user.role), None)
        if role is None:
            return None
        key = token_id + self._mark("reading", token_id)
        return Visitor(user.name, role, limits_of(self._limits, role, user.limits), key, user.made_at)

    def _second(self) -> int:
        return int(datetime.fromisoformat(self._now()).timestamp())

    def _mark(self, use: str, marked: str) -> str:
        """What only this store can make of the id of a token, and of a time, for one use."""
        words = f"{use} {marked}".encode("utf-8", "replace")
        return hmac.new(self._secret, words, sha256).hexdigest()

    def _count_try(self, client: str) -> None:
        with self._counting:
            wait_s = self._tries.take(client)
        if wait_s:
            raise LimitReached(
                "Too many wrong tokens came from your address.",
                after_s=wait_s,
                remedy=f"Try again in {math.ceil(wait_s)} s, with the right one.",
            )

    def _note(self, token_id: str) -> None:
        """Note that a token is in use, once an hour; nobody is kept out where that cannot be written."""
        now = self._clock()
        with self._counting:
            if now - self._noted.get(token_id, -math.inf) < USE_NOTED_S:
                return
            self._noted[token_id] = now
            if len(self._noted) > MOST_NOTED:
                self._noted.popitem(last=False)
        with contextlib.suppress(KiwiError):
            self._people.note_use(token_id, at=self._now())
