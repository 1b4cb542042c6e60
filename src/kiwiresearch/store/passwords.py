"""Passwords: which are allowed, readable ones for a class, and the slow, salted hash that is stored."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import re
import secrets
import threading
import unicodedata
from dataclasses import dataclass
from typing import Literal, Self

from kiwiresearch.errors import BadUsage, StoreDamaged
from kiwiresearch.store.engine import BACKUP_REMEDY

MIN_PASSWORD = 8
MAX_PASSWORD = 200
SALT_BYTES = 16
HASH_BYTES = 32
SCHEME = "scrypt"
MAX_MEMORY = 2**30
"""A stored hash that asks for more than this is damaged."""

HASH_SLOTS = threading.BoundedSemaphore(4)
"""Each hash needs 32 MiB and a tenth of a second: many sign-ins at once must not use up the memory."""

# 60 syllables, so nearly 3,500 groups of two different ones: 11.7 bits each.
CONSONANTS, VOWELS = "bdfgkmnrstvz", "aeiou"
PASSWORD_GROUPS = 3
# Whole groups: 'muda' and 'mude' match 'mud.', 'bako' matches nothing.
UNWANTED = re.compile(
    "bite|boba|buta|dago|dike|fato|feto|fod.|fuk.|gode|gora|gore|kike|kuso|maso|mata|mofo|moro|mud.|nazi|neg.|neki|nig.|nud."
    "|rata|sado|sid.|seno|suka|tar.|teta|vag."
)
"""Groups that are rude or hurtful in a language of our users: a class gets these passwords on paper."""


PasswordFault = Literal["length", "name"]
FAULTS: dict[PasswordFault, tuple[str, str]] = {
    "length": ("This password is not allowed.", f"Use {MIN_PASSWORD} to {MAX_PASSWORD} visible characters or spaces."),
    "name": ("The password is the same as the name.", "Choose another password."),
}


def password_fault(text: str, name: str) -> PasswordFault | None:
    """Why a text cannot be the password of this user; None if it can."""
    password = normalised(text)
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD or not password.isprintable():
        return "length"
    return "name" if password.casefold() == normalised(name).casefold() else None


def check_password(text: str, name: str) -> None:
    """Refuse a password that is not allowed; the error never quotes it."""
    if fault := password_fault(text, name):
        message, remedy = FAULTS[fault]
        raise BadUsage(message, remedy=remedy)


def normalised(text: str) -> str:
    """The same text for the same password, whatever way a keyboard composes its accents."""
    return unicodedata.normalize("NFKC", text)


def readable_password() -> str:
    """A random password that a child can read and type, such as 'bako-midu-tero': 35 bits.

    Guessed at the rate that sign-in allows it would last for centuries.
    """
    return readable_secret(PASSWORD_GROUPS)


def readable_secret(groups: int) -> str:
    """A secret of this many random groups of letters that can be read out and typed, each of 11.7 bits."""
    return "-".join(_group() for _ in range(groups))


def _group() -> str:
    while True:
        first, second = (secrets.choice(CONSONANTS) + secrets.choice(VOWELS) for _ in range(2))
        if first != second and not UNWANTED.fullmatch(first + second):
            return first + second


@dataclass(frozen=True, slots=True)
class Cost:
    """How much work a hash is, in the terms of scrypt; stored with each hash, so that it can be raised."""

    n: int
    r: int
    p: int

    @property
    def memory(self) -> int:
        # As OpenSSL counts it, which refuses a hash that needs more than `maxmem`.
        return 128 * self.r * (self.n + self.p + 2)

    @property
    def is_possible(self) -> bool:
        is_power = self.n > 1 and math.log2(self.n).is_integer()
        return is_power and self.r > 0 and 0 < self.p <= 16 and self.memory <= MAX_MEMORY


COST = Cost(n=2**15, r=8, p=1)
"""What new hashes cost; older ones are renewed when their user signs in."""


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """A hash with everything needed to repeat it: 'scrypt$n$r$p$salt$hash'."""

    cost: Cost
    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, password: str) -> Self:
        salt = secrets.token_bytes(SALT_BYTES)
        return cls(COST, salt, _derived(normalised(password), COST, salt))

    @classmethod
    def parse(cls, text: str) -> Self:
        try:
            scheme, *numbers, salt, digest = text.split("$")
            cost = Cost(*map(int, numbers))
            found = cls(cost, base64.b64decode(salt, validate=True), base64.b64decode(digest, validate=True))
        except (ValueError, TypeError) as problem:
            raise _damaged() from problem
        if scheme != SCHEME or not cost.is_possible or len(found.digest) != HASH_BYTES:
            raise _damaged()
        return found

    def __str__(self) -> str:
        salt, digest = (base64.b64encode(part).decode() for part in (self.salt, self.digest))
        return f"{SCHEME}${self.cost.n}${self.cost.r}${self.cost.p}${salt}${digest}"

    def matches(self, password: str) -> bool:
        """Whether this is the password; it takes the same time however close a wrong one is."""
        return hmac.compare_digest(_derived(normalised(password), self.cost, self.salt), self.digest)


NO_PASSWORD = PasswordHash(COST, bytes(SALT_BYTES), b"")
"""Matches nothing, with the same work: the time of an answer must not reveal which names exist."""


def _derived(password: str, cost: Cost, salt: bytes) -> bytes:
    with HASH_SLOTS:
        return hashlib.scrypt(
            password.encode("utf-8", "surrogatepass"),
            salt=salt,
            n=cost.n,
            r=cost.r,
            p=cost.p,
            maxmem=cost.memory + 2**20,
            dklen=HASH_BYTES,
        )


def _damaged() -> StoreDamaged:
    return StoreDamaged("The store is damaged: the hash of a password is not valid.", remedy=BACKUP_REMEDY)
