"""The users of a server: added, changed and removed by an owner, every change recorded in the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kiwiresearch.codec import extend
from kiwiresearch.errors import BadUsage
from kiwiresearch.workspace.setting_values import checked_limits

if TYPE_CHECKING:
    from kiwiresearch.store import NewToken, Store, TokenRow, UserRow, UserTokens


def utc_now() -> str:
    """The current time for jobs, notes and the audit; never written into runs, which must be reproducible."""
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
        raise BadUsage(
            f"{since!r} is no date.", remedy="Write it like '2026-11-16' or '2026-11-16T08:00'."
        ) from problem
    return moment.isoformat(timespec="seconds")


OWNER = "owner"
MAX_LABEL_CHARS = 100


@dataclass(frozen=True, slots=True)
class Actor:
    """Who made a change, and from where; the user is empty for the command line."""

    user: str = ""
    host: str = "command line"


class UserRegister:
    """Users and tokens of a store; `now` returns the time as text."""

    def __init__(self, store: Store, now: Callable[[], str], by: Actor) -> None:
        self._store = store
        self._people = store.users
        self._now = now
        self._by = by

    def all(self) -> list[UserRow]:
        return self._people.all()

    def get(self, name: str) -> UserRow:
        found = self._people.get(name)
        if found is None:
            raise BadUsage(f"There is no user {name[:100]!r}.", remedy="'kiwiresearch users list' names all of them.")
        return found

    def tokens(self, name: str) -> list[TokenRow]:
        return self._people.tokens(name)

    def with_tokens(self, user: UserRow) -> UserTokens:
        from kiwiresearch.store import UserTokens

        return extend(UserTokens, user, tokens=tuple(self.tokens(user.name)))

    def add(self, name: str, role: str, limits: Mapping[str, Any] | None = None) -> UserRow:
        user = self._people.add(name, role, made_at=self._now(), limits=checked_limits(limits or {}))
        self._note("added", user.name, role=role)
        return user

    def set_role(self, name: str, role: str) -> UserRow:
        """Give a user another role; the last owner must stay one, or nobody could undo it."""
        user = self._people.set_role(name, role)
        self._note("role", name, role=role)
        return user

    def set_limits(self, name: str, changes: Mapping[str, int | None]) -> UserRow:
        """Change limits of a user; None resets one to that of the role."""
        limits = self._limits(name, changes)
        user = self._people.set_limits(name, limits)
        self._note("limits", name, **limits)
        return user

    def change(self, name: str, role: str | None, limits: Mapping[str, int | None] | None) -> None:
        """Change the role and limits that are given; if one of them is invalid, nothing is changed."""
        self._limits(name, limits or {})
        if role is not None and role != self.get(name).role:
            self.set_role(name, role)
        if limits is not None:
            self.set_limits(name, limits)

    def new_token(self, name: str, label: str = "") -> NewToken:
        """Create a token; its text is shown only this once."""
        token = self._people.new_token(self.get(name).name, label=checked_label(label), made_at=self._now())
        self._note("token", name, token=token.id)
        return token

    def revoke(self, name: str, token_id: str) -> None:
        """Revoke a token, with immediate effect."""
        if token_id not in {token.id for token in self._people.tokens(name)}:
            raise BadUsage(
                f"{name[:100]!r} has no token {token_id[:40]!r}.", remedy="'kiwiresearch users list' names the tokens."
            )
        self._people.revoke(token_id, at=self._now())
        self._note("revoked", name, token=token_id)

    def remove(self, name: str) -> None:
        """Remove a user, with immediate effect; runs and notes stay."""
        self._people.remove(name)
        self._note("removed", name)

    def _limits(self, name: str, changes: Mapping[str, int | None]) -> dict[str, int]:
        changed = {**self.get(name).limits, **changes}
        return checked_limits({key: value for key, value in changed.items() if value is not None})

    def _note(self, what: str, name: str, **details: Any) -> None:
        details = {"what": what, **details}
        self._store.audit.add(self._now(), self._by.user, self._by.host, "user", name, "done", details)


def checked_label(label: str) -> str:
    if len(label) > MAX_LABEL_CHARS or not label.isprintable():
        raise BadUsage("The label cannot be used.", remedy=f"Use up to {MAX_LABEL_CHARS} letters in one line.")
    return label


def owners(people: Sequence[UserRow]) -> list[UserRow]:
    return [user for user in people if user.role == OWNER]
