"""Sentences of other pages that confirm a sentence of the brief by their meaning, or give another value."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kiwiresearch.brief.brief import Brief, Dispute, DisputeView, Statement, ValueDifference
from kiwiresearch.brief.importance import ClaimWeights, capitalized_words, compared_sentence, folded_name
from kiwiresearch.brief.relevance import add_features, feature_weights
from kiwiresearch.brief.support import MAX_CLAIMS, NEGATION, MergedClaim, is_same_source, statement_of, support_level
from kiwiresearch.claims import Claim, ClaimId
from kiwiresearch.claims.conflicts import Disagreement, compare_sentences
from kiwiresearch.embed import similarity, static_embedder
from kiwiresearch.search import Score
from kiwiresearch.text import roots_of
from kiwiresearch.zim import EntryRef

MIN_CONFIRMING = 1.4
"""The log-odds from which a sentence confirms another: about nine of ten readers agree."""
MIN_SAME_FACT = -0.4
"""From these log-odds on it is about the same fact, so that another date or number in it is a disagreement."""
MIN_STRENGTH = {"a date": 0.6, "a number": 0.75}
"""How certain the comparison of two values must be to report such a disagreement."""
MAX_COMPARED = 5
"""Each sentence of the brief is compared with this many sentences of other pages, those that share the most words."""
MIN_WORDS = 4
MIN_OVERLAP = 0.25
"""The share of its words that such a sentence must have; rare words count more."""
MAX_RARE_WORDS, LONG_WORDS, MAX_NAMES = 4.0, 20, 3
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


class SecondSource(NamedTuple):
    """A sentence of another page about the same fact: how certain that is, and how it differs, if it does."""

    claim: Claim
    score: Score
    difference: Disagreement | None = None


class SecondSources:
    """Searches the sentences of a run for those about the same fact as a claim."""

    def __init__(self, claims: Sequence[Claim], language: Callable[[EntryRef], str]) -> None:
        self._language = language
        # Several claims may come from one sentence; reversed, so that the first one remains.
        by_place = {(claim.ref, claim.quotes[0].start): claim for claim in reversed(claims) if not claim.is_row}
        self._claims = list(by_place.values())
        self._stems = [roots_of(claim.text, language(claim.ref)) for claim in self._claims]
        counts = Counter(stem for stems in self._stems for stem in stems)
        # Inverse document frequency, with sentences as documents.
        self._worth = {stem: math.log(len(self._claims) / count) for stem, count in counts.items()}
        self._by_stem: Mapping[str, list[int]] = defaultdict(list)
        for index, stems in enumerate(self._stems):
            if len(stems) >= MIN_WORDS:
                for stem in sorted(stems):
                    self._by_stem[stem].append(index)

    def find(self, wanted: Sequence[Claim]) -> list[list[SecondSource]]:
        """For each claim, the sentences of other pages that confirm it or differ, the most certain first."""
        near = [self._nearest(claim) for claim in wanted]
        compared = sorted({index for numbers in near for index in numbers})
        if not compared:
            return [[] for _ in wanted]
        vectors = static_embedder().embed(
            [*(claim.text for claim in wanted), *(self._claims[index].text for index in compared)]
        )
        row_of = {index: len(wanted) + row for row, index in enumerate(compared)}
        found = []
        for row, (claim, numbers) in enumerate(zip(wanted, near, strict=True)):
            alike = similarity(vectors[row], vectors[[row_of[index] for index in numbers]]) if numbers else ()
            judged = [
                self.judge(claim, self._claims[index], float(like)) for index, like in zip(numbers, alike, strict=True)
            ]
            kept = [second for second in judged if second is not None]
            found.append(
                sorted(
                    kept,
                    key=lambda second_source: (
                        -second_source.score.total,
                        second_source.claim.ref,
                        second_source.claim.quotes[0].start,
                    ),
                )
            )
        return found

    def judge(self, claim: Claim, other: Claim, alike: float) -> SecondSource | None:
        """Whether another claim confirms a claim, or gives another date or number for the same fact."""
        worth = feature_weights()["second source"]
        score = Score().plus("before anything is known", worth["before anything is known"])
        score = add_features(score, self.features(claim, other, alike), worth)
        if score.total < MIN_SAME_FACT:
            return None
        one, two = (compared_sentence(each, self._language(each.ref)) for each in (claim, other))
        difference = compare_sentences(one, two)
        if difference is not None and difference.kind == "contradiction":
            is_clear = difference.strength > MIN_STRENGTH.get(difference.what, 1.0)
            return SecondSource(other, score, difference) if is_clear else None
        return SecondSource(other, score) if score.total >= MIN_CONFIRMING else None

    def features(self, claim: Claim, other: Claim, alike: float) -> dict[str, float]:
        """The features that show whether another claim confirms a claim."""
        mine, theirs = self._words(claim), self._words(other)
        title = roots_of(other.page_title, self._language(other.ref))
        common = self._sum(mine & theirs)
        found_again = self._sum(mine & (theirs | title)) / (self._sum(mine) or 1.0)
        in_both = min(common / (self._sum(mine) or 1.0), common / (self._sum(theirs) or 1.0))
        numbers, other_numbers = (set(NUMBER.findall(item.text)) for item in (claim, other))
        names, other_names = capitalized_words(claim.text), capitalized_words(other.text)
        denies = bool(NEGATION.search(claim.text)) != bool(NEGATION.search(other.text))
        return {
            "alike in meaning": alike,
            "words found again": found_again,
            "words in common": in_both,
            "alike in both": alike * found_again,
            "telling words": min(common / 10, MAX_RARE_WORDS),
            "numbers in common": float(bool(numbers & other_numbers)),
            "other numbers": float(bool(numbers) and bool(other_numbers - numbers)),
            "names in common": float(min(len(names & other_names), MAX_NAMES)),
            "other names": float(min(len(other_names - names), MAX_NAMES)),
            "one denies": float(denies),
            "long": min(len(claim.text.split()) / LONG_WORDS, 2.0),
            "other long": min(len(other.text.split()) / LONG_WORDS, 2.0),
        }

    def _nearest(self, claim: Claim) -> list[int]:
        """The sentences of other pages that share the most words with a claim, by rarity."""
        if claim.is_row:
            return []
        mine = self._words(claim)
        total = self._sum(mine) or 1.0
        shared: dict[int, float] = defaultdict(float)
        # Sorted, because the sum of floats depends on the order.
        for stem in sorted(mine):
            for number in self._by_stem.get(stem, ()):
                shared[number] += self._worth[stem]
        title = folded_name(claim.page_title)
        points = {
            number: common / total + common / (self._sum(self._stems[number]) or 1.0)
            for number, common in shared.items()
            if common >= MIN_OVERLAP * total and folded_name(self._claims[number].page_title) != title
        }
        return sorted(points, key=lambda index: (-points[index], index))[:MAX_COMPARED]

    def _words(self, claim: Claim) -> frozenset[str]:
        return roots_of(claim.text, self._language(claim.ref))

    def _sum(self, stems: frozenset[str]) -> float:
        # Exact, so that the order of a set does not matter.
        return math.fsum(self._worth.get(stem, 0.0) for stem in stems)


def with_second_sources(brief: Brief, claims: Sequence[Claim], weights: ClaimWeights) -> Brief:
    """The brief with the pages that confirm its sentences, and disputes with those that give another value."""
    wanted = [brief.claims[item.claims[0]] for item in running_text(brief)]
    found = dict(zip((claim.id for claim in wanted), SecondSources(claims, weights.language).find(wanted), strict=True))
    differing = [
        _difference(claim, second, weights) for claim in wanted for second in found[claim.id][:1] if second.difference
    ]
    brief = replace(brief, disputes=(*_new_disputes(differing, brief.disputes), *brief.disputes))
    opposed = opposed_in(brief)

    def checked(statement: Statement) -> Statement:
        more = [second.claim for second in found[statement.claims[0]] if second.difference is None]
        return marked(_with_more(statement, more, brief, weights))

    def marked(statement: Statement) -> Statement:
        return replace(statement, sureness="disputed") if statement.claims[0] in opposed else statement

    return replace(
        brief,
        summary=tuple(map(checked, brief.summary)),
        body=tuple(replace(group, statements=tuple(map(checked, group.statements))) for group in brief.body),
        timeline=tuple(replace(moment, statement=checked(moment.statement)) for moment in brief.timeline),
        disputes=tuple(
            replace(dispute, views=tuple(replace(view, statement=marked(view.statement)) for view in dispute.views))
            for dispute in brief.disputes
        ),
    )


def running_text(brief: Brief) -> list[Statement]:
    """The statements that need second sources: summary, body and timeline."""
    body = [statement for group in brief.body for statement in group.statements]
    return [*brief.summary, *body, *(moment.statement for moment in brief.timeline)]


def opposed_in(brief: Brief) -> frozenset[ClaimId]:
    """The claims that another claim contradicts or opposes, as far as the brief shows it."""
    return frozenset(
        view.statement.claims[0]
        for dispute in brief.disputes
        if len(dispute.views) > 1 and (dispute.difference is None or dispute.difference.kind == "contradiction")
        for view in dispute.views
    )


def _difference(one: Claim, second: SecondSource, weights: ClaimWeights) -> Dispute:
    """Two pages that give different values for one fact."""
    assert second.difference is not None
    views = tuple(
        DisputeView("", statement_of(MergedClaim((weights.weigh_one(claim),), 1))) for claim in (one, second.claim)
    )
    return Dispute(one.subject, views, ValueDifference(second.difference.kind, second.difference.why))


def _with_more(statement: Statement, more: Sequence[Claim], brief: Brief, weights: ClaimWeights) -> Statement:
    """The statement with further claims, each from a page that does not support it yet."""
    counted = [weights.weigh_one(brief.claims[claim]) for claim in statement.claims]
    pages, ids = statement.pages, list(statement.claims)
    for weighed in map(weights.weigh_one, more):
        if len(ids) >= MAX_CLAIMS or any(weighed.claim.ref == claim.claim.ref for claim in counted):
            continue
        # A copied sentence is cited too, but does not count as another source.
        pages += not any(is_same_source(weighed, claim) for claim in counted)
        counted.append(weighed)
        ids.append(weighed.claim.id)
    return replace(statement, claims=tuple(ids), pages=pages, sureness=support_level(counted[0].claim, pages))


def _new_disputes(differing: Sequence[Dispute], known: Sequence[Dispute]) -> list[Dispute]:
    """The disputes that are not known yet; a pair of claims counts once, in either order."""
    seen = {_sides(dispute) for dispute in known}
    new = []
    for dispute in differing:
        if _sides(dispute) not in seen:
            seen.add(_sides(dispute))
            new.append(dispute)
    return new


def _sides(dispute: Dispute) -> frozenset[str]:
    return frozenset(view.statement.claims[0] for view in dispute.views)
