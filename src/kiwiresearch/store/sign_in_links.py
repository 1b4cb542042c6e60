"""Links that sign a user in once, within a time; only their hashes are stored."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, insert, or_, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.store.database import Database
from kiwiresearch.store.passwords import readable_secret
from kiwiresearch.store.tables import LINK
from kiwiresearch.store.users import LinkRow, require_user, secret_hash

LINK_GROUPS = 6
"""Letter groups in a link's secret: 70 random bits, easy to type from paper."""
SECRET_SHAPE = re.compile(rf"[a-z]{{4}}(?:-[a-z]{{4}}){{{LINK_GROUPS - 1}}}")
"""What the secret of a link looks like; the database is not asked about anything else."""


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link that was just made: its secret is only known now."""

    id: str
    user: str
    secret: str
    expires_at: str


class SignInLinks:
    """The links of all users. All times are texts in UTC, to the second."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def new(self, name: str, *, made_at: str, expires_at: str, forget_before: str) -> NewLink:
        """A new link of a user; it replaces those that were not used.

        Links that were used before `forget_before` are deleted: no browser is signed in with them any more.
        """
        link = NewLink(secrets.token_hex(8), name, readable_secret(LINK_GROUPS), expires_at)
        row = {
            "id": link.id,
            "user": name,
            "sha256": secret_hash(link.secret),
            "made_at": made_at,
            "expires_at": expires_at,
        }
        with self._db.writing() as connection:
            require_user(connection, name)
            # Expired links of all users go too: nothing else deletes them.
            is_replaced = and_(LINK.c.used_at == "", or_(LINK.c.user == name, LINK.c.expires_at <= made_at))
            is_old = and_(LINK.c.used_at != "", LINK.c.used_at < forget_before)
            connection.execute(delete(LINK).where(or_(is_replaced, is_old)))
            connection.execute(insert(LINK).values(**row, used_at=""))
        return link

    def of(self, name: str, *, at: str) -> list[LinkRow]:
        """The links of a user that work, or that somebody signed in with; oldest first."""
        is_shown = or_(LINK.c.used_at != "", LINK.c.expires_at > at)
        wanted = select(LINK).where(LINK.c.user == name, is_shown).order_by(LINK.c.made_at, LINK.c.id)
        with self._db.reading() as connection:
            return [_link_from_row(row) for row in connection.execute(wanted)]

    def get(self, secret: str, *, at: str) -> LinkRow | None:
        """The link with this secret, if it can be used."""
        if not SECRET_SHAPE.fullmatch(secret):
            return None
        with self._db.reading() as connection:
            row = connection.execute(select(LINK).where(_works(secret, at))).one_or_none()
        return _link_from_row(row) if row is not None else None

    def use(self, secret: str, *, at: str) -> LinkRow | None:
        """Mark a link as used; of several concurrent requests only one succeeds."""
        if not SECRET_SHAPE.fullmatch(secret):
            return None
        used = update(LINK).where(_works(secret, at)).values(used_at=at).returning(LINK)
        with self._db.writing() as connection:
            row = connection.execute(used).one_or_none()
        return _link_from_row(row) if row is not None else None

    def revoke(self, name: str, link_id: str) -> None:
        """Delete a link; anyone who signed in with it is signed out."""
        with self._db.writing() as connection:
            gone = delete(LINK).where(LINK.c.id == link_id, LINK.c.user == name).returning(LINK.c.id)
            if connection.execute(gone).one_or_none() is None:
                raise BadUsage(
                    f"{name[:100]!r} has no link {link_id[:40]!r}.",
                    remedy="To list the links, run 'kiwiresearch users list'.",
                )


def _works(secret: str, at: str) -> ColumnElement[bool]:
    return and_(LINK.c.sha256 == secret_hash(secret), LINK.c.used_at == "", LINK.c.expires_at > at)


def _link_from_row(row: Row[Any]) -> LinkRow:
    return LinkRow(row.id, row.user, row.made_at, row.expires_at, row.used_at)
