"""Running text in pieces: a paragraph for each section, and in it sentences that are cited together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from kiwiresearch.brief.brief import Statement
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.zim.entry import EntryRef


class Place(NamedTuple):
    """A section of a page."""

    ref: EntryRef
    heading: str
    anchor: str


class Run(NamedTuple):
    """Sentences that follow each other and rest on the same places."""

    statements: tuple[Statement, ...]

    @property
    def claims(self) -> tuple[ClaimId, ...]:
        """All that they rest on, each claim once."""
        return tuple(dict.fromkeys(claim for one in self.statements for claim in one.claims))


def paragraphs(statements: Iterable[Statement], claims: Mapping[ClaimId, Claim]) -> list[list[Run]]:
    """A paragraph for each page that the sentences are from, and for its sections, unless that would be a few words.

    Each is in runs that are cited once, at their end.
    """
    found: list[list[Statement]] = []
    for statement in statements:
        if not found or _is_break(found[-1], claims[found[-1][-1].claims[0]], claims[statement.claims[0]]):
            found.append([])
        found[-1].append(statement)
    return [
        [Run(tuple(same)) for _, same in groupby(several, key=lambda one: _places(one, claims))] for several in found
    ]


def _is_break(paragraph: Sequence[Statement], last: Claim, new: Claim) -> bool:
    return last.ref != new.ref or (last.headings != new.headings and len(paragraph) >= FEWEST_SENTENCES)


FEWEST_SENTENCES = 4


def _places(statement: Statement, claims: Mapping[ClaimId, Claim]) -> tuple[Place, ...]:
    behind = [claims[one] for one in statement.claims]
    return tuple(dict.fromkeys(Place(claim.ref, claim.section, claim.anchor) for claim in behind))
