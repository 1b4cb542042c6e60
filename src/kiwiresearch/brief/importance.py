"""How much a claim matters to the topic: a score that remembers its terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kiwiresearch.brief.relevance import Relevance, salience_scores, sentences_on
from kiwiresearch.brief.sources import BriefOrigin
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.sentences import ComparedSentence
from kiwiresearch.crawl.state import CrawlState
from kiwiresearch.search.query import Score
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.similarity import roots_of
from kiwiresearch.text.words import fold
from kiwiresearch.zim.archive import EntryRef

stems_of = roots_of
CAPITALISED = re.compile(r"(?<![.!?\"“(] )(?<!^)\b[^\W\d_a-z][\w'’-]+")


@lru_cache(maxsize=16_384)
def folded_name(name: str) -> str:
    """A name without case and signs."""
    return fold(name)


def same_name(one: str, other: str) -> bool:
    """Whether two names are one, with or without their article."""
    return without_article(one) == without_article(other)


def without_article(name: str) -> str:
    return folded_name(name).removeprefix("the ")


def capitalised_words(text: str) -> frozenset[str]:
    """Words with a capital inside the sentence."""
    return frozenset(CAPITALISED.findall(text))


PAGE, HEAD_PAGE, LEAD = 1.0, 2.0, 0.5
CONFIDENCE_WORTH, NEUTRAL_CONFIDENCE = 2.0, 0.75
"""What confidence is worth; a claim of this confidence gains and loses nothing by it."""
ASPECT, MAX_ASPECT = 1.5, 3.0
"""What the log-odds are worth that a sentence is about what is asked for, and how many count."""
ASIDE_PENALTY = -2.0


@dataclass(frozen=True, slots=True)
class WeightedClaim:
    """A claim with its words and its weight."""

    claim: Claim
    stems: frozenset[str]
    score: Score
    language: str
    points: float

    @property
    def saying(self) -> ComparedSentence:
        """The claim as it is compared with others."""
        return saying_of(self.claim, self.language)


def without_weight(claim: Claim, language: str) -> WeightedClaim:
    """A claim with its words, to be compared with others."""
    return WeightedClaim(claim, stems_of(claim.text, language), Score(), language, 0.0)


def saying_of(claim: Claim, language: str) -> ComparedSentence:
    """A claim as it is compared with others."""
    quantities = tuple(measure.quantity for measure in claim.measures)
    return ComparedSentence(claim.text, claim.subject, quantities, claim.dates, language)


class ClaimWeights:
    """Weighs the claims of one crawl."""

    def __init__(self, origin: BriefOrigin, claims: Sequence[Claim]) -> None:
        state = origin.state
        self._languages: dict[str, str] = {book.id: book.language for book in origin.books}
        self._pages = _page_weights(state)
        self.sentences = sentences_on(claims)
        self.relevance = Relevance(state, self.sentences, self._languages)
        self._salience: dict[tuple[EntryRef, int], Score] = {}
        for ref, sentences in self.sentences.items():
            if any(map(self.relevance.is_about, sentences)):
                for claim, score in zip(sentences, salience_scores(sentences, self.language(ref)), strict=True):
                    self._salience[ref, claim.quotes[0].start] = score
        self.topic_pages = self.relevance.heads
        self.seed_titles = frozenset(folded_name(state.visited[ref].title) for ref in self.topic_pages)

    def language(self, ref: EntryRef) -> str:
        return self._languages.get(ref.book, "eng")

    def weigh(self, claims: Iterable[Claim]) -> list[WeightedClaim]:
        """The claims that can matter, with their weights, in their own order: about the topic, or an introduction."""
        return [self.weigh_one(claim) for claim in claims if not claim.section or self.relevance.is_about(claim)]

    def weigh_one(self, claim: Claim) -> WeightedClaim:
        language = self.language(claim.ref)
        is_head = claim.ref in self.topic_pages
        score = Score().plus("its page's weight", PAGE * self.page_weight(claim.ref))
        score = score.plus("on a page about the topic", HEAD_PAGE * is_head)
        on_aspect = self.relevance.aspect_score(claim).total
        score = score.plus("about what is asked for", ASPECT * max(-MAX_ASPECT, min(MAX_ASPECT, on_aspect)))
        score = score.plus("would be missed", self.salience(claim).total)
        score = score.plus("in the introduction", LEAD * (is_head and not claim.section))
        score = score.plus("beside the point", ASIDE_PENALTY * language_words(language).is_aside(claim.section))
        score = score.plus("confidence", CONFIDENCE_WORTH * (claim.confidence - NEUTRAL_CONFIDENCE))
        return WeightedClaim(claim, stems_of(claim.text, language), score, language, score.total)

    def salience(self, claim: Claim) -> Score:
        """How much a sentence would be missed on its page."""
        return self._salience.get((claim.ref, claim.quotes[0].start), Score())

    def is_opening(self, claim: Claim) -> bool:
        """Whether a claim is the first sentence of its page."""
        return claim.quotes[0].start <= self.sentences[claim.ref][0].quotes[0].start

    def names_topic(self, claim: Claim) -> bool:
        """Whether a claim is on a page about the topic, or names it in its own words."""
        return claim.ref in self.topic_pages or self.relevance.names(claim)

    def is_on_topic_page(self, claim: Claim) -> bool:
        """Whether a claim is on a page about the topic."""
        return claim.ref in self.topic_pages

    def page_weight(self, ref: EntryRef) -> float:
        """How much a page matters, from 0 to 1."""
        return self._pages.get(ref, 0.0)

    def is_about(self, weighed: WeightedClaim) -> bool:
        """Whether a claim is about what is asked for, and in words that are surely the page's own."""
        claim = weighed.claim
        if claim.put_in and (claim.section or _has_inserted_owner(claim)):
            return False  # a name that a rule put in is often wrong outside of introductions, or as an owner
        return self.relevance.is_on_aspect(claim)

    def is_mainly_about(self, weighed: WeightedClaim) -> bool:
        """Whether a claim is about what is asked for, and does not only mention it."""
        return self.is_about(weighed) and self.relevance.is_mainly_about(weighed.claim)

    def is_topic(self, subject: str) -> bool:
        """Whether this is a name of what the brief is about."""
        name = folded_name(subject)
        return name in self.seed_titles or name.removesuffix("s") in self.seed_titles


def _has_inserted_owner(claim: Claim) -> bool:
    """Whether 'the area' was read as the area of what the page is about."""
    is_owner = claim.text.startswith((f"{claim.subject}’s ", f"{claim.subject}’ "))
    return is_owner and claim.quotes[0].text.startswith("The ")


def _page_weights(state: CrawlState) -> dict[EntryRef, float]:
    importance = {ref: state.importance(step) for ref, step in state.visited.items()}
    most = max(importance.values(), default=1.0) or 1.0
    return {ref: max(value, 0.0) / most for ref, value in importance.items()}


def best_first(weighed: Sequence[WeightedClaim]) -> list[WeightedClaim]:
    """Most weight first; equal ones by page and place, so that the order is total."""
    return sorted(weighed, key=lambda one: (-one.points, one.claim.ref, one.claim.quotes[0].start, one.claim.id))
