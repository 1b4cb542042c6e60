"""The users of a server: added, changed and removed by an owner, every change recorded in the audit log."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from kiwiresearch.codec import extend
from kiwiresearch.errors import BadUsage
from kiwiresearch.workspace.setting_values import checked_limits

if TYPE_CHECKING:
    from kiwiresearch.store import LinkRow, NewLink, NewToken, PasswordRow, Store, TokenRow, UserRow, UserTokens


def utc_now() -> str:
    """The current time for jobs, notes and the audit log; never written into runs, which must be reproducible."""
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251


def utc_moment(since: str) -> str:
    """A date or time that a user gave, in UTC; BadUsage if it is not one, empty if it is empty."""
    text = since.strip()
    if not text:
        return ""
    try:
        # In a URL an unescaped '+' of a time zone arrives as a space.
        found = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
        moment = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError) as problem:
        raise BadUsage(f"{since!r} is not a date.", remedy="Use the form 2026-11-16 or 2026-11-16T08:00.") from problem
    return moment.isoformat(timespec="seconds")


OWNER = "owner"
ClassRole = Literal["reader", "researcher"]
CLASS_ROLES: tuple[ClassRole, ...] = get_args(ClassRole)
"""What the users of a class can be."""
READER: ClassRole = "reader"
MAX_LABEL_CHARS = 100
MAX_CLASS = 100
"""How many users can be added at once: hashing their passwords takes some ten seconds."""


LinkTime = Literal["hour", "day", "week"]
LINK_TIMES: tuple[LinkTime, ...] = get_args(LinkTime)
"""How long a sign-in link can be valid."""
DURATIONS: dict[LinkTime, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
SESSION = timedelta(days=31)
"""Longer than a browser stays signed in: a link that was used earlier than this is forgotten."""
LINK_PATH = "/link/"
"""Where links lead; the secret follows."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who made a change, and from where; the user is empty for the command line."""

    user: str = ""
    origin: str = "command line"


@dataclass(frozen=True, slots=True)
class NewPassword:
    """A password that was generated: its text is only known now."""

    name: str
    password: str


@dataclass(frozen=True, slots=True)
class NewClass:
    """The new passwords or links of a class, and the users who were there before and are unchanged."""

    passwords: tuple[NewPassword, ...]
    links: tuple[NewLink, ...]
    unchanged: tuple[str, ...]


class UserRegister:
    """Users, tokens and passwords of a store; changes are added to the audit log. `now` returns the time as text."""

    def __init__(self, store: Store, now: Callable[[], str], by: Actor) -> None:
        self._store = store
        self._users = store.users
        self._now = now
        self._actor = by

    def all(self) -> list[UserRow]:
        return self._users.all()

    def get(self, name: str) -> UserRow:
        found = self._users.get(name)
        if found is None:
            raise BadUsage(
                f"No user is named {name[:100]!r}.", remedy="To list the users, run 'kiwiresearch users list'."
            )
        return found

    def tokens(self, name: str) -> list[TokenRow]:
        return self._users.tokens(name)

    def with_tokens(self, user: UserRow) -> UserTokens:
        from kiwiresearch.store import UserTokens

        return extend(
            UserTokens,
            user,
            tokens=tuple(self.tokens(user.name)),
            password_at=self._users.password_times(user.name).get(user.name, ""),
            links=tuple(self.links(user.name)),
        )

    def password_times(self, name: str | None = None) -> dict[str, str]:
        """When the password of a user, or of each user who has one, was set."""
        return self._users.password_times(name)

    def add(self, name: str, role: str, limits: Mapping[str, Any] | None = None) -> UserRow:
        # Two ways to write the same letters would make two users who look alike.
        user = self._users.add(
            unicodedata.normalize("NFC", name), role, made_at=self._now(), limits=checked_limits(limits or {})
        )
        self._note("added", user.name, role=role)
        return user

    def set_role(self, name: str, role: str) -> UserRow:
        """Give a user another role; the last owner must stay one, or nobody could undo it."""
        user = self._users.set_role(name, role)
        self._note("role", name, role=role)
        return user

    def set_limits(self, name: str, changes: Mapping[str, int | None]) -> UserRow:
        """Change limits of a user; None resets one to that of the role."""
        limits = self._limits(name, changes)
        user = self._users.set_limits(name, limits)
        self._note("limits", name, **limits)
        return user

    def change(self, name: str, role: str | None, limits: Mapping[str, int | None] | None) -> None:
        """Change the role and limits that are given; if one of them is invalid, nothing is changed."""
        # Checked before anything is changed; the result is computed again by `set_limits`.
        self._limits(name, limits or {})
        if role is not None and role != self.get(name).role:
            self.set_role(name, role)
        if limits is not None:
            self.set_limits(name, limits)

    def new_token(self, name: str, label: str = "") -> NewToken:
        """Create a token; its text is shown only this once."""
        token = self._users.new_token(self.get(name).name, label=checked_label(label), made_at=self._now())
        self._note("token", name, token=token.id)
        return token

    def revoke(self, name: str, token_id: str) -> None:
        """Revoke a token, with immediate effect."""
        if token_id not in {token.id for token in self._users.tokens(name)}:
            raise BadUsage(
                f"{name[:100]!r} has no token {token_id[:40]!r}.",
                remedy="To list the tokens, run 'kiwiresearch users list'.",
            )
        self._users.revoke(token_id, at=self._now())
        self._note("revoked", name, token=token_id)

    def set_password(self, name: str, text: str) -> PasswordRow:
        """Set the password of a user; everyone who signed in with the one before is signed out."""
        from kiwiresearch.store import PasswordHash, check_password

        user = self.get(name)
        check_password(text, user.name)
        row = self._users.set_password(user.name, PasswordHash.of(text), made_at=self._now())
        self._note("password", user.name)
        return row

    def generate_password(self, name: str) -> NewPassword:
        """Set a random, readable password; its text is shown only this once."""
        from kiwiresearch.store import readable_password

        made = NewPassword(name, readable_password())
        self.set_password(name, made.password)
        return made

    def links(self, name: str) -> list[LinkRow]:
        """The sign-in links of a user that can be used or were used."""
        return self._store.links.of(name, at=self._now())

    def new_link(self, name: str, valid: LinkTime = "day") -> NewLink:
        """Create a link that signs a user in once; its secret is shown only now, and earlier unused links end."""
        now = datetime.fromisoformat(self._now())
        made_at, expires_at, forget_before = (
            moment.isoformat(timespec="seconds") for moment in (now, now + DURATIONS[valid], now - SESSION)
        )
        link = self._store.links.new(
            self.get(name).name, made_at=made_at, expires_at=expires_at, forget_before=forget_before
        )
        self._note("link", name, link=link.id, valid=valid)
        return link

    def revoke_link(self, name: str, link_id: str) -> None:
        """End a link, and the sessions that it began."""
        self._store.links.revoke(name, link_id)
        self._note("link_revoked", name, link=link_id)

    def add_class(
        self, lines: str, *, renew: bool = False, role: ClassRole = READER, link_valid: LinkTime | None = None
    ) -> NewClass:
        """Add a user for each line, with a generated password or, if `link_valid` is given, a sign-in link.

        If a name is not allowed, nobody is added. With `renew`, users of this role who were there before get a new
        password or link, too: for a sheet that was lost.
        """
        from kiwiresearch.store import check_name

        found = (" ".join(line.split()) for line in unicodedata.normalize("NFC", lines).splitlines())
        names = tuple(dict.fromkeys(filter(None, found)))
        if not 0 < len(names) <= MAX_CLASS:
            raise BadUsage(f"The list has {len(names)} names.", remedy=f"Enter 1 to {MAX_CLASS} names, one per line.")
        for name in names:
            check_name(name)
        roles = {user.name: user.role for user in self.all()}
        unchanged = tuple(name for name in names if name in roles and not (renew and roles[name] == role))
        for name in names:
            if name not in roles:
                self.add(name, role)
        new = [name for name in names if name not in unchanged]
        if link_valid:
            return NewClass((), tuple(self.new_link(name, link_valid) for name in new), unchanged)
        with ThreadPoolExecutor() as hashing:  # each hash takes a while, and leaves the other processors free
            return NewClass(tuple(hashing.map(self.generate_password, new)), (), unchanged)

    def remove_password(self, name: str) -> None:
        """Remove the password of a user, who can then sign in only with a token or a link."""
        if not self._users.remove_password(name):
            raise BadUsage(f"{name[:100]!r} has no password.", remedy="Nothing needs to be removed.")
        self._note("password_removed", name)

    def remove(self, name: str) -> None:
        """Remove a user, with immediate effect; runs and notes stay."""
        self._users.remove(name)
        self._note("removed", name)

    def _limits(self, name: str, changes: Mapping[str, int | None]) -> dict[str, int]:
        changed = {**self.get(name).limits, **changes}
        return checked_limits({key: value for key, value in changed.items() if value is not None})

    def _note(self, what: str, name: str, **details: Any) -> None:
        details = {"what": what, **details}
        self._store.audit.add(self._now(), self._actor.user, self._actor.origin, "user", name, "done", details)


def checked_link_time(valid: str) -> LinkTime:
    """How long a link is valid; BadUsage if it is not one of the times."""
    for known in LINK_TIMES:
        if valid == known:
            return known
    raise BadUsage(f"A link cannot be valid for {valid[:40]!r}.", remedy=f"Choose one of: {', '.join(LINK_TIMES)}.")


def checked_label(label: str) -> str:
    if len(label) > MAX_LABEL_CHARS or not label.isprintable():
        raise BadUsage("This label is not allowed.", remedy=f"Use one line of up to {MAX_LABEL_CHARS} characters.")
    return label


def owners(people: Sequence[UserRow]) -> list[UserRow]:
    return [user for user in people if user.role == OWNER]
