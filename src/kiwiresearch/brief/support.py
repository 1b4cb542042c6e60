"""Merges claims of several pages that say the same, and counts the independent pages among these."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

from kiwiresearch.brief.brief import Statement, SupportLevel
from kiwiresearch.brief.importance import (
    WeightedClaim,
    best_first,
    capitalized_words,
    folded_name,
    share_name,
    without_article,
)
from kiwiresearch.claims import Claim, Measure
from kiwiresearch.claims.conflicts import compare_sentences
from kiwiresearch.search import Score
from kiwiresearch.text import DOUBT_KINDS, containment, jaccard, quantity_relation
from kiwiresearch.text.dates import date_relation

MIN_OVERLAP, MIN_CONTAINMENT = 0.5, 0.72
"""Two claims say the same if they share this much of all their words, and this much of the shorter one's."""
MIN_WORDS = 4
# Sentences that share this much of their words were probably copied, so they count as one source.
MIN_COPY_OVERLAP = 0.85
RAREST_WORDS = 4
MAX_CLAIMS_PER_WORD = 24
"""A word that more claims have does not show which of them belong together."""
SUPPORT_POINTS = 1.2
MAX_SUPPORTING_PAGES = 3


@dataclass(frozen=True, slots=True)
class MergedClaim:
    """One claim or several equivalent ones; the best comes first."""

    claims: tuple[WeightedClaim, ...]
    pages: int
    """How many independent pages say it: a copied sentence, or the same article in two books, counts once."""
    points: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", self.score.total)

    @property
    def best(self) -> Claim:
        return self.claims[0].claim

    @property
    def stems(self) -> frozenset[str]:
        return self.claims[0].stems

    @property
    def score(self) -> Score:
        more = min(self.pages - 1, MAX_SUPPORTING_PAGES)
        return self.claims[0].score.plus(f"said by {self.pages} pages", SUPPORT_POINTS * more)


def merge_equivalent(weighed: Sequence[WeightedClaim]) -> list[MergedClaim]:
    """Equivalent claims merged into one each, most points first."""
    # Disjoint sets: each claim points towards the first of its group.
    leader = list(range(len(weighed)))

    def find(one: int) -> int:
        # Union-find with path halving.
        while leader[one] != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        return one

    for one, other in _candidates(weighed):
        first, second = find(one), find(other)
        if first != second and says_the_same(weighed[one], weighed[other]):
            leader[max(first, second)] = min(first, second)
    groups: dict[int, list[WeightedClaim]] = defaultdict(list)
    for index, claim in enumerate(weighed):
        groups[find(index)].append(claim)
    merged_claims = [merged_claim for group in groups.values() for merged_claim in _split_by_best(group)]
    return sorted(
        merged_claims,
        key=lambda merged_claim: (
            -merged_claim.points,
            merged_claim.best.ref,
            merged_claim.best.quotes[0].start,
            merged_claim.best.id,
        ),
    )


def _split_by_best(group: Sequence[WeightedClaim]) -> Iterator[MergedClaim]:
    """Splits a group so that each claim says the same as the best one, not only the same as some other."""
    left = best_first(group)
    while left:
        best = left[0]
        same = [best, *(claim for claim in left[1:] if says_the_same(best, claim))]
        yield MergedClaim(tuple(best_first(same)), independent_pages(same) if len(same) > 1 else 1)
        left = [claim for claim in left if claim not in same]


def _candidates(weighed: Sequence[WeightedClaim]) -> Iterator[tuple[int, int]]:
    """Pairs of claims that share rare words, since comparing all pairs would take too long."""
    counts = Counter(stem for claim in weighed for stem in claim.stems)
    by_stem: dict[str, list[int]] = defaultdict(list)
    for index, weighted_claim in enumerate(weighed):
        if len(weighted_claim.stems) < MIN_WORDS:
            continue
        rare = sorted(
            (stem for stem in weighted_claim.stems if counts[stem] > 1), key=lambda stem: (counts[stem], stem)
        )
        for stem in rare[:RAREST_WORDS]:
            by_stem[stem].append(index)
    seen: set[tuple[int, int]] = set()
    for stem in sorted(by_stem):
        numbers = by_stem[stem]
        if len(numbers) > MAX_CLAIMS_PER_WORD:
            continue
        for pair in itertools.combinations(numbers, 2):
            if pair not in seen:
                seen.add(pair)
                yield pair


def says_the_same(one: WeightedClaim, other: WeightedClaim) -> bool:
    """Whether two claims are equivalent: the same words, numbers, dates and names, or the same value."""
    a, b = one.claim, other.claim
    alike = jaccard(one.stems, other.stems)
    # Half of the overlap is enough for two sentences that give the same value, which is checked next.
    if alike < MIN_OVERLAP / 2 or not _same_numbers(a, b) or not _has_same_stance(a, b):
        return False
    if not same_value(a, b):
        if alike < MIN_OVERLAP or containment(one.stems, other.stems) < MIN_CONTAINMENT:
            return False
        if not (_same_dates(a, b) and _same_names(a, b)):
            return False
    how = compare_sentences(one.compared, other.compared)
    return how is None or how.kind != "contradiction"


def _has_same_stance(a: Claim, b: Claim) -> bool:
    """Whether both are equally hedged, disputed and denied, and name cause and effect in the same order."""
    if {hedge.kind for hedge in a.hedges} != {hedge.kind for hedge in b.hedges}:
        return False
    if (a.type == "disputed") != (b.type == "disputed"):
        return False
    if bool(NEGATION.search(a.text)) != bool(NEGATION.search(b.text)):
        return False
    return not _is_reversed(a, b)


def _is_reversed(a: Claim, b: Claim) -> bool:
    """Whether the subject of each is what the other says something about."""
    # A passive sentence has its subject and agent the other way round anyway.
    if share_name(a.subject, b.subject) or " by " in a.text or " by " in b.text:
        return False
    return without_article(a.subject) in folded_name(b.text) and without_article(b.subject) in folded_name(a.text)


NEGATION = re.compile(r"\b(?:not|never|no|neither|nor|without|cannot|nobody|nothing)\b|n['’]t\b", re.IGNORECASE)
"""For claims that say the same; `has_negation` in `claims/firewall.py` has a longer list, for what a model wrote."""


def same_value(a: Claim, b: Claim) -> bool:
    """Whether both give the same value for the same property of the same thing."""
    return any(
        measure.what and measure.what == other.what and share_name(measure.of, other.of) and _agree(measure, other)
        for measure in a.measures
        for other in b.measures
    )


def _agree(one: Measure, other: Measure) -> bool:
    same_time = one.when is None or other.when is None or date_relation(one.when, other.when) != "apart"
    return same_time and quantity_relation(one.quantity, other.quantity) in ("same", "rounding")


def _same_numbers(a: Claim, b: Claim) -> bool:
    few, more = sorted((a.measures, b.measures), key=len)
    return bool(few) == bool(more) and all(
        any(quantity_relation(measure.quantity, other.quantity) in ("same", "rounding") for other in more)
        for measure in few
    )


def _same_dates(a: Claim, b: Claim) -> bool:
    few, more = sorted((a.dates, b.dates), key=len)
    return bool(few) == bool(more) and all(
        any(date_relation(mention.when, other.when) in ("same", "within", "calendar") for other in more)
        for mention in few
    )


def _same_names(a: Claim, b: Claim) -> bool:
    """Whether the names of one include those of the other."""
    one, other = capitalized_words(a.text), capitalized_words(b.text)
    return not (one - other and other - one)


def independent_pages(group: Sequence[WeightedClaim]) -> int:
    """How many independent sources a group of equivalent claims has."""
    counted: list[WeightedClaim] = []
    for claim in best_first(group):
        if not any(is_same_source(claim, other) for other in counted):
            counted.append(claim)
    return len(counted)


def is_same_source(one: WeightedClaim, other: WeightedClaim) -> bool:
    """Whether two claims count as one source: from one page or article, or copied."""
    if one.claim.ref == other.claim.ref or folded_name(one.claim.page_title) == folded_name(other.claim.page_title):
        return True
    return jaccard(one.stems, other.stems) >= MIN_COPY_OVERLAP


# From this many pages on, a claim is well supported even without references.
SUPPORT_LEVELS: tuple[SupportLevel, ...] = get_args(SupportLevel)
"""From the most certain to the least."""
MANY_PAGES = 3
MAX_CLAIMS = 8


def statement_of(merged: MergedClaim) -> Statement:
    """A statement in the words of the best claim."""
    best, pages = merged.best, merged.pages
    claims = tuple(claim.claim.id for claim in merged.claims[:MAX_CLAIMS])
    return Statement(best.text, claims, support_level(best, pages), pages)


def support_level(claim: Claim, pages: int) -> SupportLevel:
    """How sure a reader may be of a claim that this many pages make.

    Somebody's view, which has the type 'disputed', is not disputed in itself: 'In 1910 Wegener proposed …'.
    """
    if claim.signals.disputed or any(hedge.kind == "debated" for hedge in claim.hedges):
        return "disputed"
    if pages >= MANY_PAGES or (pages > 1 and claim.signals.references):
        return "well supported"
    if pages > 1:
        return "supported"
    return "hedged" if is_hedged(claim) or claim.signals.citation_needed else "one source"


def is_hedged(claim: Claim) -> bool:
    """Whether a claim is hedged; 'several' and 'often' alone do not make it doubtful."""
    return any(hedge.kind in DOUBT_KINDS for hedge in claim.hedges)
