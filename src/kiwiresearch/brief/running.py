"""Running text in pieces: a paragraph for each page, and in it sentences that are cited together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """A paragraph for each page that the sentences are from, in runs that are cited once, at their end."""
    by_page = groupby(statements, key=lambda one: claims[one.claims[0]].ref)
    return [
        [Run(tuple(same)) for _, same in groupby(several, key=lambda one: _places(one, claims))]
        for _, several in by_page
    ]


def _places(statement: Statement, claims: Mapping[ClaimId, Claim]) -> tuple[Place, ...]:
    behind = [claims[one] for one in statement.claims]
    return tuple(dict.fromkeys(Place(claim.ref, claim.section, claim.anchor) for claim in behind))
