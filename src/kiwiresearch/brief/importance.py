"""Scores how much a claim matters to the topic."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kiwiresearch.brief.relevance import Relevance, salience_scores, sentences_on
from kiwiresearch.brief.sources import BriefInput
from kiwiresearch.claims import Claim
from kiwiresearch.claims.conflicts import ComparedSentence
from kiwiresearch.search import Score
from kiwiresearch.text import fold, language_words, roots_of
from kiwiresearch.zim import EntryRef

# 'Darwin' in 'said Darwin'; not 'The' at the start of the text or after a full stop.
CAPITALIZED = re.compile(r"(?<![.!?\"“(] )(?<!^)\b[^\W\d_a-z][\w'’-]+")


@lru_cache(maxsize=16_384)
def folded_name(name: str) -> str:
    """A name without case and punctuation."""
    return fold(name)


def share_name(one: str, other: str) -> bool:
    """Whether two names are the same apart from an article."""
    return without_article(one) == without_article(other)


def without_article(name: str) -> str:
    return folded_name(name).removeprefix("the ")


def capitalized_words(text: str) -> frozenset[str]:
    """Capitalized words, except at the start of a sentence."""
    return frozenset(CAPITALIZED.findall(text))


PAGE_POINTS, TOPIC_PAGE_POINTS, LEAD_POINTS = 1.0, 2.0, 0.5
CONFIDENCE_POINTS, NEUTRAL_CONFIDENCE = 2.0, 0.75
"""A claim of neutral confidence neither gains nor loses points."""
ASPECT_POINTS, MAX_ASPECT_LOG_ODDS = 1.5, 3.0
"""Points per unit of log-odds that a sentence is about the aspect, and the cap on these log-odds."""
ASIDE_PENALTY = -2.0


@dataclass(frozen=True, slots=True)
class WeightedClaim:
    """A claim with its stems and its score."""

    claim: Claim
    stems: frozenset[str]
    score: Score
    language: str
    points: float

    @property
    def compared(self) -> ComparedSentence:
        """The claim as it is compared with others."""
        return compared_sentence(self.claim, self.language)


def without_weight(claim: Claim, language: str) -> WeightedClaim:
    """A claim with its stems only, to be compared with others."""
    return WeightedClaim(claim, roots_of(claim.text, language), Score(), language, 0.0)


def compared_sentence(claim: Claim, language: str) -> ComparedSentence:
    """A claim as it is compared with others."""
    quantities = tuple(measure.quantity for measure in claim.measures)
    return ComparedSentence(claim.text, claim.subject, quantities, claim.dates, language)


class ClaimWeights:
    """Weighs the claims of one crawl."""

    def __init__(self, brief_input: BriefInput, claims: Sequence[Claim]) -> None:
        state = brief_input.state
        self._languages: dict[str, str] = {book.id: book.language for book in brief_input.books}
        importance = {ref: state.importance(step) for ref, step in state.visited.items()}
        highest = max(importance.values(), default=1.0) or 1.0
        self._page_weights = {ref: max(value, 0.0) / highest for ref, value in importance.items()}
        self.sentences = sentences_on(claims)
        self.relevance = Relevance(state, self.sentences, self._languages)
        self._salience: dict[tuple[EntryRef, int], Score] = {}
        for ref, sentences in self.sentences.items():
            if any(map(self.relevance.is_about, sentences)):
                for claim, score in zip(sentences, salience_scores(sentences, self.language(ref)), strict=True):
                    self._salience[ref, claim.quotes[0].start] = score
        self.topic_pages = self.relevance.topic_pages
        self.topic_titles = frozenset(folded_name(state.visited[ref].title) for ref in self.topic_pages)

    def language(self, ref: EntryRef) -> str:
        return self._languages.get(ref.book, "eng")

    def weigh(self, claims: Iterable[Claim]) -> list[WeightedClaim]:
        """The claims that can matter, in their own order: those about the topic, and those in the lead of a page."""
        return [self.weigh_one(claim) for claim in claims if not claim.section or self.relevance.is_about(claim)]

    def weigh_one(self, claim: Claim) -> WeightedClaim:
        language = self.language(claim.ref)
        on_topic_page = claim.ref in self.topic_pages
        log_odds = self.relevance.aspect_score(claim).total
        log_odds = max(-MAX_ASPECT_LOG_ODDS, min(MAX_ASPECT_LOG_ODDS, log_odds))
        score = Score().plus("its page's weight", PAGE_POINTS * self.page_weight(claim.ref))
        score = score.plus("on a page about the topic", TOPIC_PAGE_POINTS * on_topic_page)
        score = score.plus("about what is asked for", ASPECT_POINTS * log_odds)
        score = score.plus("would be missed", self.salience(claim).total)
        score = score.plus("in the introduction", LEAD_POINTS * (on_topic_page and not claim.section))
        score = score.plus("beside the point", ASIDE_PENALTY * language_words(language).is_aside(claim.section))
        score = score.plus("confidence", CONFIDENCE_POINTS * (claim.confidence - NEUTRAL_CONFIDENCE))
        return WeightedClaim(claim, roots_of(claim.text, language), score, language, score.total)

    def salience(self, claim: Claim) -> Score:
        """How salient a sentence is on its page."""
        return self._salience.get((claim.ref, claim.quotes[0].start), Score())

    def is_opening(self, claim: Claim) -> bool:
        """Whether a claim is the first sentence of its page."""
        return claim.quotes[0].start <= self.sentences[claim.ref][0].quotes[0].start

    def names_topic(self, claim: Claim) -> bool:
        """Whether a claim is on a page about the topic, or names it in its own words."""
        return claim.ref in self.topic_pages or self.relevance.names(claim)

    def is_term(self, name: str) -> bool:
        """Whether the pages about the topic use a name in more than one sentence."""
        folded = without_article(name)
        named = (folded in folded_name(claim.text) for ref in self.topic_pages for claim in self.sentences.get(ref, ()))
        return sum(itertools.islice(filter(None, named), 2)) > 1

    def mentions_topic(self, ref: EntryRef) -> bool:
        """Whether any sentence of a page names the topic."""
        return any(map(self.relevance.names, self.sentences.get(ref, ())))

    def page_weight(self, ref: EntryRef) -> float:
        """How much a page matters, from 0 to 1."""
        return self._page_weights.get(ref, 0.0)

    def is_about(self, weighed: WeightedClaim) -> bool:
        """Whether a claim is about what was asked for, and names it in the page's own words."""
        claim = weighed.claim
        if claim.inserted_name_from and (claim.section or _has_inserted_owner(claim)):
            return False  # a name that a rule inserted is often wrong outside of leads, or as an owner
        return self.relevance.is_on_aspect(claim)

    def is_mainly_about(self, weighed: WeightedClaim) -> bool:
        """Whether a claim is about what was asked for, and does not only mention it."""
        return self.is_about(weighed) and self.relevance.is_mainly_about(weighed.claim)

    def is_topic(self, subject: str) -> bool:
        """Whether this names what the brief is about."""
        name = folded_name(subject)
        return name in self.topic_titles or name.removesuffix("s") in self.topic_titles


def _has_inserted_owner(claim: Claim) -> bool:
    """Whether a rule read 'the area' as the area of the page's subject."""
    is_owner = claim.text.startswith((f"{claim.subject}’s ", f"{claim.subject}’ "))
    return is_owner and claim.quotes[0].text.startswith("The ")


def best_first(weighed: Sequence[WeightedClaim]) -> list[WeightedClaim]:
    """Most points first; then by page and position, so that the order is total."""
    return sorted(weighed, key=lambda one: (-one.points, one.claim.ref, one.claim.quotes[0].start, one.claim.id))
