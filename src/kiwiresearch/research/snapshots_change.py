"""What became of a page and of each of its claims between two snapshots of its book, as values and as plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import record_of as claim_record
from kiwiresearch.errors import BadUsage
from kiwiresearch.text.differing import marked

Kind = Literal["added", "withdrawn", "changed", "disputed"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def checked_kinds(wanted: str) -> tuple[Kind, ...]:
    """The kinds that somebody names with commas between them; all where none is named."""
    names = {name.strip().lower() for name in wanted.split(",") if name.strip()}
    unknown = sorted(names - set(KINDS))
    if unknown:
        raise BadUsage(f"There is no kind {unknown[0]!r} of changes.", remedy=f"The kinds are: {', '.join(KINDS)}.")
    return tuple(kind for kind in KINDS if kind in names) or KINDS


State = Literal["both", "added", "removed", "unreadable", "leads elsewhere", "told again"]
"""A page is told again for what other pages say against it."""
Moved = Literal["", "title", "redirect", "text"]
RENAMED: tuple[Moved, ...] = ("redirect", "text")
"""A page that kept its title has only another path, which is no news to a reader."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a claim is disputed now and was not before."""

    how: Literal["contradicted", "hedged", "marked"]
    why: str
    against: Claim | None = None
    """The claim of the new snapshot that contradicts it."""

    def record(self) -> dict[str, Any]:
        return {"against": claim_record(self.against) if self.against else None, "how": self.how, "why": self.why}


@dataclass(frozen=True, slots=True)
class Change:
    """A claim that only one snapshot has, that both have otherwise, or that stayed and is disputed now."""

    kind: Kind
    old: Claim | None
    new: Claim | None
    numbers: bool = False
    """Whether a number, a measure or a date is another now."""
    hedging: bool = False
    """Whether other words hold it back now, or none."""
    likeness: float = 1.0
    """How much of its words both sides share, figures aside."""
    doubts: tuple[Doubt, ...] = ()

    @property
    def claim(self) -> Claim:
        """The newer of its sides."""
        claim = self.new or self.old
        if claim is None:
            raise ValueError("a change is of a claim")
        return claim

    def is_of(self, kinds: Collection[str]) -> bool:
        """Whether it is of one of these kinds: what was added or changed may be disputed as well."""
        return self.kind in kinds or (bool(self.doubts) and "disputed" in kinds)

    def record(self) -> dict[str, Any]:
        return {
            "differs": self._differs(),
            "doubts": [doubt.record() for doubt in self.doubts],
            "hedging": self.hedging,
            "kind": self.kind,
            "likeness": self.likeness,
            "new": claim_record(self.new) if self.new else None,
            "numbers": self.numbers,
            "old": claim_record(self.old) if self.old else None,
        }

    def _differs(self) -> dict[str, list[str]] | None:
        """The words of each side that the other does not have."""
        if self.kind != "changed" or self.old is None or self.new is None:
            return None
        left, right = marked(self.old.text, self.new.text)
        return {
            "new": [run.text.strip() for run in right if run.differs],
            "old": [run.text.strip() for run in left if run.differs],
        }


@dataclass(frozen=True, slots=True)
class PageAt:
    """A page of one snapshot."""

    path: str
    title: str

    def record(self) -> dict[str, str]:
        return {"path": self.path, "title": self.title}


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page of both snapshots or of one of them, with what became of its claims."""

    state: State
    old: PageAt | None
    new: PageAt | None
    moved: Moved = ""
    """How it was known where its path is another now."""
    is_same: bool = False
    """Whether its text is the same, so that nobody had to read its claims."""
    same: int = 0
    """Claims that both have, where they were read."""
    changes: tuple[Change, ...] = ()
    leads_to: str = ""
    """Where the path of a page that was removed leads now."""
    problem: str = ""
    """Why it cannot be read, and in which snapshot."""
    digest: str = ""
    """Of the text of a page that was added: the same text may have stood under another path."""

    @property
    def page(self) -> PageAt:
        page = self.new or self.old
        if page is None:
            raise ValueError("a change is of a page")
        return page

    @property
    def is_renamed(self) -> bool:
        return self.state == "both" and self.moved in RENAMED

    def sides(self) -> dict[str, Any]:
        """Where it stands in each snapshot."""
        return {"new": self.new.record() if self.new else None, "old": self.old.record() if self.old else None}

    def records(self, kinds: Collection[str] = KINDS) -> Iterator[dict[str, Any]]:
        """First what became of the page itself, if all is wanted; then each of its claims that is of these kinds."""
        sides = self.sides()
        what = "renamed" if self.is_renamed else self.state
        if frozenset(KINDS) <= frozenset(kinds) and what in ("added", "removed", "renamed", "unreadable"):
            told = {"leads_to": self.leads_to, "moved": self.moved, "problem": self.problem}
            yield {"kind": f"page {what}", "page": sides} | told
        for change in self.changes:
            if change.is_of(kinds):
                yield change.record() | {"page": sides}
