"""Who asks: the user behind a request, for as long as it is worked on."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from kiwiresearch.errors import NotAllowed
from kiwiresearch.research.limits import NO_LIMITS, Limits
from kiwiresearch.store.people import ROLES, Role

WHO_MAY: dict[Role, str] = {
    "reader": "who is known here",
    "researcher": "researchers and owners",
    "owner": "owners",
}
ASK_AN_OWNER = "Ask an owner of this desk to do it, or to change your role."


@dataclass(frozen=True, slots=True)
class Visitor:
    """A user, and what that one may do; without a name it is whoever uses a desk that has no users."""

    name: str = ""
    role: Role = "owner"
    limits: Limits = NO_LIMITS
    reading_key: str = ""
    """Stands in addresses of pages of books, and lets read them and nothing else."""
    since: str = ""
    """When this user was made: another of the same name is somebody else."""

    def may(self, role: Role) -> bool:
        """Whether what this role may do, this user may do too."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def may_change(self, whose: str, made: str = "") -> bool:
        """Whether the work of somebody may be stopped, taken up again or removed: one's own, and all by an owner.

        What was `made` before this user was is of somebody else who had the name.
        """
        is_theirs = whose == self.name and (not made or made >= self.since)
        return self.role == "owner" or (self.may("researcher") and is_theirs)


ANYBODY = Visitor()
VISITOR: ContextVar[Visitor] = ContextVar("visitor", default=ANYBODY)


def visitor() -> Visitor:
    """Who is behind the request that is worked on here."""
    return VISITOR.get()


def need(role: Role) -> None:
    """Refuse what the visitor may not do."""
    if not visitor().may(role):
        raise NotAllowed(f"Only {WHO_MAY[role]} may do that.", remedy=ASK_AN_OWNER)


def need_own(whose: str, made: str = "") -> None:
    """Refuse to change the work of somebody else."""
    if not visitor().may_change(whose, made):
        raise NotAllowed(f"Only {whose or 'its maker'!r} and owners may do that.", remedy=ASK_AN_OWNER)
