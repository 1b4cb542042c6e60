"""The hosts that share a store: which are up, with which books, and the secret they share."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from typing import Any, Literal

from sqlalchemy import Row, delete, select

from kiwiresearch.errors import StoreDamaged
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP
from kiwiresearch.store.tables import HOST, STORE, is_storable

SECRET = "secret"  # noqa: S105 — the name of it
KeyUse = Literal["peers", "door"]
"""The purpose of a key: one authenticates hosts to each other, the other signs the cookies of users."""


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host as it last announced itself."""

    name: str
    url: str
    books: tuple[Mapping[str, Any], ...]
    seen_at: float
    """By the clock of the store; compare it with `Store.now()`."""


class Hosts:
    """The hosts of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def announce(self, name: str, url: str, books: Sequence[Mapping[str, Any]]) -> None:
        """Record that a host is up now, with these books."""
        with self._db.writing() as connection:
            values = {"url": url, "books": [dict(book) for book in books], "seen_at": self._db.now(connection)}
            connection.execute(self._db.upsert(HOST, {"name": name, **values}))

    def all(self) -> list[HostRow]:
        """All hosts that have not left, by name."""
        with self._db.reading() as connection:
            rows = connection.execute(select(HOST).order_by(HOST.c.name)).all()
        return [_host(row) for row in rows if is_storable(row.name)]

    def leave(self, name: str) -> None:
        with self._db.writing() as connection:
            connection.execute(delete(HOST).where(HOST.c.name == name))

    def key(self, use: KeyUse) -> str:
        """The key of this store for one use; neither the secret nor another key can be derived from it."""
        return hmac.new(self.secret().encode(), use.encode(), sha256).hexdigest()

    def secret(self) -> str:
        """The secret of this store, made on first use; only keys derived from it leave the store."""
        wanted = select(STORE.c.value).where(STORE.c.name == SECRET)
        with self._db.reading() as connection:
            found = connection.execute(wanted).scalar()
        if found is not None:
            return _checked_secret(found)
        with self._db.writing() as connection:
            new = self._db.insert(STORE).values(name=SECRET, value=secrets.token_urlsafe(32))
            connection.execute(new.on_conflict_do_nothing())
            return _checked_secret(connection.execute(wanted).scalar_one())


def _checked_secret(secret: str) -> str:
    if not is_storable(secret):
        raise StoreDamaged("The store is damaged: its secret is not what was written.", remedy=BACKUP)
    return secret


def _host(row: Row[Any]) -> HostRow:
    """The host of a row; a damaged row is ignored until the host announces itself again."""
    is_intact = (
        is_storable(row.url) and row.books is not None and isinstance(row.seen_at, float) and isfinite(row.seen_at)
    )
    return HostRow(row.name, row.url, tuple(row.books), row.seen_at) if is_intact else HostRow(row.name, "", (), 0.0)
