"""Checks passwords and sign-in links against the store, and limits wrong attempts."""

from __future__ import annotations

import math
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kiwiresearch.errors import LimitReached
from kiwiresearch.store import COST, NO_PASSWORD, LinkRow, PasswordHash, PasswordRow, Store
from kiwiresearch.web.guard.limits import Buckets

PERIOD_S = 600.0
"""The limits are for this time. Of 100 allowed attempts one is returned every 6 s; of 10, one a minute."""
MAX_ATTEMPTS_PER_ADDRESS = 100
"""A class of thirty behind one address can mistype three times each at the start of a lesson."""
MAX_ATTEMPTS_PER_NAME = 100
"""From all addresses together: 14,500 attempts a day, which find no password that is not among the most common."""
MAX_ATTEMPTS_PER_NAME_AND_ADDRESS = 10
"""Guessing at another user's password locks that name at this address only, for at most a minute."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How many wrong attempts of one kind are allowed in `PERIOD_S`."""

    key: str
    most: int


def matching_name(name: str, names: Collection[str]) -> str | None:
    """The name itself if it is one of them, or the only one that differs from it in capital letters alone."""
    if name in names:
        return name
    alike = [item for item in names if item.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def plain_letters(name: str) -> str:
    """A name without accents and capitals, as a keyboard of another language has it."""
    # "Zoë" gives "zoe". Folded again at the end, because NFKD can produce capitals: "㏃" becomes "Bq".
    parts = unicodedata.normalize("NFKD", name.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def name_meant(name: str, names: Collection[str]) -> str | None:
    """The name that matches, or the only one that differs from it in accents and capital letters alone."""
    if known := matching_name(name, names):
        return known
    alike = [item for item in names if plain_letters(item) == plain_letters(name)]
    return alike[0] if len(alike) == 1 else None


class PasswordCheck:
    """Finds the password of a name. An unknown name takes the same work and gets the same answer."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._users = store.users
        self._links = store.links
        self._tries = Buckets(MAX_ATTEMPTS_PER_NAME_AND_ADDRESS, period_s=PERIOD_S, clock=clock)
        self._lock = threading.Lock()

    def find(self, name: str, password: str, client: str) -> PasswordRow | None:
        """The password of a user if it is the right one; LimitReached after too many wrong attempts.

        An attempt is counted before it is checked, so that many at once are not a way around the limits, and
        given back if it was right.
        """
        name = unicodedata.normalize("NFC", " ".join(name.split()))
        counted = plain_letters(name)  # other capitals or accents must not be a way to try more often
        limits = (
            Limit(f"address {client}", MAX_ATTEMPTS_PER_ADDRESS),
            Limit(f"name {counted}", MAX_ATTEMPTS_PER_NAME),
            Limit(f"name at address {client} {counted}", MAX_ATTEMPTS_PER_NAME_AND_ADDRESS),
        )
        self._count(limits)
        found = self._password_of(name) if name.isprintable() else None
        is_right = (found.hash if found is not None else NO_PASSWORD).matches(password)
        if found is None or not is_right:
            return None
        self._give_back(limits)
        # Only now is the password known, which a hash of the current cost needs.
        if found.hash.cost != COST:
            self._users.renew_hash(found.id, PasswordHash.of(password))
        return found

    def _password_of(self, name: str) -> PasswordRow | None:
        known = name_meant(name, self._users.password_times())
        return self._users.password_of(known) if known is not None else None

    def find_sign_in_link(self, secret: str, client: str, *, at: str, consume: bool) -> LinkRow | None:
        """The link with this secret, None if it does not work. `consume` makes this its last use.

        Wrong ones count like wrong passwords, for the address alone: links have no names.
        """
        limits = (Limit(f"address {client}", MAX_ATTEMPTS_PER_ADDRESS),)
        self._count(limits)
        secret = secret.strip().lower()  # it may be typed from a sheet
        found = self._links.use(secret, at=at) if consume else self._links.get(secret, at=at)
        if found is not None:
            self._give_back(limits)
        return found

    def _count(self, limits: Sequence[Limit]) -> None:
        with self._lock:
            for index, limit in enumerate(limits):
                if wait_s := self._tries.take(limit.key, limit.most):
                    # A name that has to wait must not use up the attempts of the others at its address.
                    for earlier in limits[:index]:
                        self._tries.give_back(earlier.key)
                    break
            else:
                return
        raise LimitReached(
            "Too many wrong passwords or links were entered.",
            retry_after_s=wait_s,
            remedy=f"Try again in {math.ceil(wait_s)} s with the correct password or link.",
        )

    def _give_back(self, limits: Sequence[Limit]) -> None:
        with self._lock:
            for limit in limits:
                self._tries.give_back(limit.key)
