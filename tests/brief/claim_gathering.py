"""What small books written for a test say: crawled, read for claims, weighed and joined as a run does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evals.walking import walk
from tests.crawl.trails import a_shelf_book, settings, state_after

from kiwiresearch.brief.brief import Brief
from kiwiresearch.brief.composition import compose
from kiwiresearch.brief.disputes import ClaimDisagreement, comparable_claims, find_claim_disagreements, within_limits
from kiwiresearch.brief.importance import ClaimWeights, WeightedClaim
from kiwiresearch.brief.relevance import sentence_filter_for
from kiwiresearch.brief.sources import BriefInput
from kiwiresearch.brief.support import MergedClaim, merge_equivalent
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.search.open_book import OpenBook

INTRODUCTION = """
    People of the hills still tell their children about it on long evenings by the fire.
    Painters have shown it with a grey sky above empty fields and silent mills.
    Bakers, smiths and weavers of every village keep small tokens that remind guests of it.
    Songs that shepherds sing on lonely meadows praise it in a low voice.
    A wooden chapel beside the river holds candles, bells and letters that belong to it.
    Sailors name their boats for it and hang a carved board over the door of each tavern.
    Schools teach it together with maps, birds, herbs and the names of distant stars.
    Travellers who come by coach ask the keeper of the library for a book on the winter.
"""
"""So long an introduction that a summary needs nothing of the sections below it, and nothing in it is of a type."""


@dataclass(frozen=True, slots=True)
class GatheredClaims:
    """A crawl, and all that its pages say."""

    origin: BriefInput
    claims: tuple[Claim, ...]

    @property
    def weights(self) -> ClaimWeights:
        return ClaimWeights(self.origin, self.claims)

    def weighed(self) -> list[WeightedClaim]:
        return self.weights.weigh(self.claims)

    def said(self) -> list[MergedClaim]:
        return merge_equivalent(self.weighed())

    def conflicts(self) -> list[ClaimDisagreement]:
        weights = self.weights
        return find_claim_disagreements(
            within_limits(comparable_claims(merge_equivalent(weights.weigh(self.claims)), weights))
        )

    def brief(self, missing: Mapping[str, int] | None = None) -> Brief:
        return compose(self.origin, self.claims, Counter(missing or {}))

    def of_flavour(self, flavour: str) -> GatheredClaims:
        """The same from a book of another flavour."""
        return replace(
            self, origin=replace(self.origin, books=[replace(book, flavour=flavour) for book in self.origin.books])
        )


def gather_claims(*books: OpenBook | Mapping[str, str], topic: str, focus: str = "", **options: Any) -> GatheredClaims:
    """What some books say of a topic; a book may be given as titles and what their pages say."""
    shelf = [book if isinstance(book, OpenBook) else a_shelf_book(book) for book in books]
    crawl = CrawlPlan(shelf, topic, focus, settings(fast=True, **options))
    results = list(walk(crawl))
    names = {book.id: book.book.name for book in shelf}
    state = state_after(crawl, [result.step for result in results])
    claims = [
        claim
        for result in results
        if result.page is not None
        for claim in claims_of(
            result.page, names[result.page.ref.book], sentence_filter_for(state.started, result.page)
        )
    ]
    sheets = [book.book for book in shelf]
    return GatheredClaims(
        BriefInput(state, sheets, lambda ref: f"http://host/{ref.path}", "1.2.3", "sha256:f00"), tuple(claims)
    )
