"""From what was said to a statement: its words, its claims, and how sure it is."""

from __future__ import annotations

from kiwiresearch.brief.brief import Statement, Sureness
from kiwiresearch.brief.support import Said
from kiwiresearch.claims.claim import Claim

MANY_PAGES = 3
MOST_CLAIMS = 8


def stated(said: Said) -> Statement:
    """A statement in the words of the best claim."""
    return Statement(
        said.best.text,
        tuple(one.claim.id for one in said.claims[:MOST_CLAIMS]),
        sureness_of(said.best, said.pages),
        said.pages,
    )


def sureness_of(claim: Claim, pages: int) -> Sureness:
    """How sure a reader may be of a claim that so many pages make, in a word."""
    if claim.type == "disputed" or claim.signals.disputed:
        return "disputed"
    if pages >= MANY_PAGES or (pages > 1 and claim.signals.references):
        return "well supported"
    if pages > 1:
        return "supported"
    return "hedged" if is_hedged(claim) or claim.signals.citation_needed else "one source"


def is_hedged(claim: Claim) -> bool:
    """Whether a claim is held back: 'several' and 'often' alone do not make it doubtful."""
    return any(hedge.kind != "some" for hedge in claim.hedges)
