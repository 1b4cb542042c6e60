"""What a brief shows around its quotes, held against the pages they stand on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiwiresearch.brief.brief import Brief, Context
from kiwiresearch.brief.context import context_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.evidence.quote import Quote
from kiwiresearch.research.proof.files import BRIEF
from kiwiresearch.research.proof.ledger import Ledger
from kiwiresearch.research.proof.pages import RunPage


def prove_contexts(brief: Brief, pages: Sequence[RunPage], ledger: Ledger, *, again: bool) -> None:
    """The page says just this around each quote; if this version made the run, also that nothing was left out."""
    by_ref = {page.ref: page for page in pages}
    for one in sorted(brief.context.keys() - brief.claims.keys()):
        ledger.at(BRIEF, claim=one[:80]).fail("this claim has a context and is not there")
    for claim in brief.claims.values():
        spot = ledger.at(BRIEF, claim=claim.id)
        page = by_ref.get(claim.ref)
        if page is not None:  # if it is None, this was said of its claims
            with spot.guarding("its context cannot be proved"):
                for what in _faults(claim, brief.context.get(claim.id), page, again=again):
                    spot.fail(what)


def _faults(claim: Claim, told: Context | None, page: RunPage, *, again: bool) -> Iterator[str]:
    right = context_of(claim, page.text, page.language)
    if told == right:
        return
    if told is not None and not _stands(told, claim.quotes[0], page.text):
        yield f"the page does not say {told.before[-60:]!r} before its quote and {told.after[:60]!r} after it"
    elif again:
        yield "its context is not what a run shows around its quote"


def _stands(told: Context, quote: Quote, text: str) -> bool:
    """Whether the words stand right before and after the quote, in its paragraph."""
    start = quote.start - len(told.before)
    return (
        start >= 0
        and text.startswith(told.before + quote.text + told.after, start)
        and "\n" not in told.before + told.after
    )
