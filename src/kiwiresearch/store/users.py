"""Users, their roles, tokens and passwords; only hashes of tokens and passwords are stored."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, union_all, update

from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage, StoreDamaged
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP_REMEDY
from kiwiresearch.store.jobs import QUEUE_LOCK
from kiwiresearch.store.passwords import PasswordHash
from kiwiresearch.store.tables import JOB, LINK, PASSWORD, TOKEN, USER

Role = Literal["reader", "researcher", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)
"""The roles, least privileged first."""
OWNER: Role = "owner"
USERS_LOCK = "users"
MAX_NAME = 100
# 192 random bits, which nobody can guess; see `secret_hash`.
TOKEN_BYTES = 24
PREFIX = "kiwi_"


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user account."""

    name: str
    role: Role
    limits: Mapping[str, int]
    """What differs from the limits of the role."""
    made_at: str


@dataclass(frozen=True, slots=True)
class TokenRow(Record):
    """A token, without its text."""

    id: str
    user: str
    label: str
    made_at: str
    used_at: str
    """When it was last seen, to the hour; empty if never."""
    revoked_at: str
    """When it was revoked; empty if it is valid."""


@dataclass(frozen=True, slots=True)
class LinkRow(Record):
    """A sign-in link, without its secret. It is here because `UserTokens` has it, and `sign_in_links` needs users."""

    id: str
    """It names the link in the cookie of the browser that used it, as the id of a token does."""
    user: str
    made_at: str
    expires_at: str
    """Until when it can be used, in UTC."""
    used_at: str
    """When it was used; empty if it was not yet."""


@dataclass(frozen=True, slots=True)
class UserTokens(UserRow, Record):
    """A user, and what they sign in with."""

    tokens: tuple[TokenRow, ...]
    password_at: str
    """When their password was set; empty if they have none."""
    links: tuple[LinkRow, ...]
    """Sign-in links that were not used yet, and those that were."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made: its text is only known now."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class PasswordRow:
    """The stored hash of a password, without the password itself."""

    id: str
    """New with each password; it names the password in cookies, as the id of a token does."""
    user: str
    hash: PasswordHash
    made_at: str


class Users:
    """The users of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, name: str, role: str, *, made_at: str, limits: Mapping[str, Any] | None = None) -> UserRow:
        """Add a user; BadUsage if the name is taken."""
        user = UserRow(check_name(name), _checked_role(role), dict(limits or {}), made_at)
        values = {"name": user.name, "role": user.role, "limits": dict(user.limits), "made_at": made_at}
        with self._db.writing() as connection:
            new = self._db.insert(USER).values(values).on_conflict_do_nothing().returning(USER.c.name)
            if connection.execute(new).one_or_none() is None:
                raise BadUsage(f"A user named {name!r} already exists.", remedy="Choose another name.")
        return user

    def get(self, name: str) -> UserRow | None:
        with self._db.reading() as connection:
            return _user(connection, USER.c.name == name)

    def all(self) -> list[UserRow]:
        with self._db.reading() as connection:
            return [_user_from_row(row) for row in connection.execute(select(USER).order_by(USER.c.name))]

    def set_role(self, name: str, role: str) -> UserRow:
        """Change the role of a user; the last owner stays one, or nobody could give the role back."""
        with self._db.writing(USERS_LOCK) as connection:
            require_user(connection, name)
            if _checked_role(role) != OWNER:
                _keep_an_owner(connection, name)
            return _changed(connection, name, {"role": role})

    def set_limits(self, name: str, limits: Mapping[str, Any]) -> UserRow:
        """Replace the limits of a user."""
        with self._db.writing() as connection:
            require_user(connection, name)
            return _changed(connection, name, {"limits": dict(limits)})

    def remove(self, name: str) -> None:
        """Delete a user with their tokens, password and links; the last owner stays.

        Their jobs lose their user, since a later user of that name may be another person.
        """
        # The queue too, so that no job of this user is leased or added between the two states.
        with self._db.writing(QUEUE_LOCK, USERS_LOCK) as connection:
            require_user(connection, name)
            _keep_an_owner(connection, name)
            connection.execute(update(JOB).where(JOB.c.user == name).values(user=""))
            connection.execute(delete(TOKEN).where(TOKEN.c.user == name))
            connection.execute(delete(PASSWORD).where(PASSWORD.c.user == name))
            _end_links(connection, name)
            connection.execute(delete(USER).where(USER.c.name == name))

    def new_token(self, name: str, *, label: str = "", made_at: str) -> NewToken:
        """A new token of a user; its text is shown only this once."""
        token = NewToken(secrets.token_hex(8), PREFIX + secrets.token_urlsafe(TOKEN_BYTES))
        row = {"id": token.id, "user": name, "label": label, "sha256": secret_hash(token.text), "made_at": made_at}
        with self._db.writing() as connection:
            require_user(connection, name)
            connection.execute(insert(TOKEN).values(**row, used_at="", revoked_at=""))
        return token

    def tokens(self, name: str | None = None) -> list[TokenRow]:
        """The tokens of a user, or of all, oldest first."""
        wanted = select(TOKEN).order_by(TOKEN.c.made_at, TOKEN.c.id)
        if name is not None:
            wanted = wanted.where(TOKEN.c.user == name)
        with self._db.reading() as connection:
            return [_token_from_row(row) for row in connection.execute(wanted)]

    def revoke(self, token_id: str, *, at: str) -> None:
        """Revoke a token; the time of the first revocation stays."""
        with self._db.writing() as connection:
            if connection.execute(select(TOKEN.c.id).where(TOKEN.c.id == token_id)).one_or_none() is None:
                raise BadUsage(
                    f"No token has the ID {token_id!r}.", remedy="To list the tokens, run 'kiwiresearch users list'."
                )
            of_token = (TOKEN.c.id == token_id, TOKEN.c.revoked_at == "")
            connection.execute(update(TOKEN).where(*of_token).values(revoked_at=at))

    def set_password(self, name: str, hashed: PasswordHash, *, made_at: str) -> PasswordRow:
        """Replace the password of a user, which ends the sessions of the one before, and all sign-in links."""
        row = PasswordRow(secrets.token_hex(8), name, hashed, made_at)
        values = {"user": name, "id": row.id, "hash": str(hashed), "made_at": made_at}
        with self._db.writing() as connection:
            require_user(connection, name)
            connection.execute(self._db.upsert(PASSWORD, values))
            _end_links(connection, name)
        return row

    def renew_hash(self, password_id: str, hashed: PasswordHash) -> None:
        """Store the same password with another hash; sessions stay."""
        with self._db.writing() as connection:
            connection.execute(update(PASSWORD).where(PASSWORD.c.id == password_id).values(hash=str(hashed)))

    def remove_password(self, name: str) -> bool:
        """Remove the password of a user and all sign-in links; returns whether there was a password."""
        with self._db.writing() as connection:
            require_user(connection, name)
            _end_links(connection, name)
            gone = delete(PASSWORD).where(PASSWORD.c.user == name).returning(PASSWORD.c.id)
            return connection.execute(gone).one_or_none() is not None

    def password_of(self, name: str) -> PasswordRow | None:
        with self._db.reading() as connection:
            row = connection.execute(select(PASSWORD).where(PASSWORD.c.user == name)).one_or_none()
        return PasswordRow(row.id, row.user, PasswordHash.parse(row.hash), row.made_at) if row is not None else None

    def password_times(self, name: str | None = None) -> dict[str, str]:
        """When the password of a user, or of each user who has one, was set."""
        wanted = select(PASSWORD.c.user, PASSWORD.c.made_at)
        if name is not None:
            wanted = wanted.where(PASSWORD.c.user == name)
        with self._db.reading() as connection:
            rows = connection.execute(wanted).all()
        return {row.user: row.made_at for row in rows}

    def by_credential(self, credential_id: str) -> UserRow | None:
        """The user of a token, a password or a link that was used, by its id; None if it was revoked or is unknown."""
        of_token = select(TOKEN.c.user).where(TOKEN.c.id == credential_id, TOKEN.c.revoked_at == "")
        of_password = select(PASSWORD.c.user).where(PASSWORD.c.id == credential_id)
        of_link = select(LINK.c.user).where(LINK.c.id == credential_id, LINK.c.used_at != "")
        with self._db.reading() as connection:
            return _user(connection, USER.c.name.in_(union_all(of_token, of_password, of_link)))

    def find_token(self, text: str) -> TokenRow | None:
        """The valid token of this text, if there is one."""
        with self._db.reading() as connection:
            wanted = select(TOKEN).where(TOKEN.c.sha256 == secret_hash(text), TOKEN.c.revoked_at == "")
            row = connection.execute(wanted).one_or_none()
        return _token_from_row(row) if row is not None else None

    def note_use(self, token_id: str, *, at: str) -> None:
        """Store when a token was last used; callers do so now and then, not at every request."""
        with self._db.writing() as connection:
            connection.execute(update(TOKEN).where(TOKEN.c.id == token_id).values(used_at=at))


def _user(connection: Connection, *where: ColumnElement[bool]) -> UserRow | None:
    row = connection.execute(select(USER).where(*where)).one_or_none()
    return _user_from_row(row) if row is not None else None


def require_user(connection: Connection, name: str) -> None:
    """Refuse an unknown user; an existing one is locked until the transaction ends."""
    if connection.execute(select(USER.c.name).where(USER.c.name == name).with_for_update()).one_or_none() is None:
        raise BadUsage(f"No user is named {name!r}.", remedy="To list the users, run 'kiwiresearch users list'.")


def _end_links(connection: Connection, name: str) -> None:
    """Delete all links of a user; anyone who signed in with one is signed out."""
    connection.execute(delete(LINK).where(LINK.c.user == name))


def _keep_an_owner(connection: Connection, name: str) -> None:
    """Refuse to change the only owner; `USERS_LOCK` keeps others from changing owners meanwhile."""
    owners = connection.execute(select(USER.c.name).where(USER.c.role == OWNER)).scalars().all()
    if list(owners) == [name]:
        raise BadUsage(f"{name!r} is the only owner.", remedy="Make another user an owner first.")


def _changed(connection: Connection, name: str, values: dict[str, Any]) -> UserRow:
    changed = update(USER).where(USER.c.name == name).values(values).returning(USER)
    return _user_from_row(connection.execute(changed).one())


def _user_from_row(row: Row[Any]) -> UserRow:
    if row.limits is None:  # without limits of their own they might be allowed too much
        raise StoreDamaged(
            f"The store is damaged: the limits of the user {row.name!r} are not valid.",
            remedy=BACKUP_REMEDY,
        )
    return UserRow(row.name, row.role, row.limits, row.made_at)


def _token_from_row(row: Row[Any]) -> TokenRow:
    return TokenRow(row.id, row.user, row.label, row.made_at, row.used_at, row.revoked_at)


def secret_hash(text: str) -> str:
    """Neither salted nor slow: a token, or the secret of a link, has too many random bits to be guessed."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def check_name(name: str) -> str:
    """The name itself; BadUsage if no user can have it."""
    is_address = "/" in name or name in (".", "..")  # the API manages users at URLs that end in their names
    if not name or name != " ".join(name.split()) or not name.isprintable() or len(name) > MAX_NAME or is_address:
        raise BadUsage(
            f"{name[:120]!r} is not allowed as a user name.",
            remedy=f"Use letters, digits and single spaces, at most {MAX_NAME} characters.",
        )
    return name


def _checked_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise BadUsage(f"Unknown role {role!r}.", remedy=f"Choose one of: {', '.join(ROLES)}.")
