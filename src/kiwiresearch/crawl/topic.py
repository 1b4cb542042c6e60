"""The topic in one book: its words, how rare they are there, and how much a text speaks of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from kiwiresearch.crawl.points import points
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.passages import match
from kiwiresearch.search.query import Query, Term
from kiwiresearch.text.fold import fold
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import occurrences


class Spoken(NamedTuple):
    """How much a text is about the topic, in shares."""

    named: float
    """The topic's words stand together, as neighbours in the topic do."""
    page: float
    """Its words, by rarity and by how often they are there."""
    focus: float
    """The same for the words of the focus."""

    def relevance(self, share: float = 0.0) -> float:
        """All of it in one number, with the page's share of the best search result."""
        worth = points()["relevance"]
        return (
            worth["search"] * share
            + worth["named"] * self.named
            + worth["page"] * self.page
            + worth["focus"] * self.focus
        )


@dataclass(frozen=True)
class Topic:
    """One topic in one book."""

    query: Query
    rarity: Mapping[str, float]
    focus_rarity: Mapping[str, float]

    @classmethod
    def of(cls, book: OpenBook, query: Query) -> Topic:
        return cls(
            query,
            {term.stem: book.rarity(term.word) for term in query.terms},
            {term.stem: book.rarity(term.word) for term in query.focus},
        )

    @cached_property
    def total(self) -> float:
        return sum(self.rarity.values())

    @cached_property
    def _neighbours(self) -> float:
        """What all neighbours of the topic weigh, as a share of the whole."""
        ordered = sorted(self.query.terms, key=lambda term: term.place)
        pairs = pairwise([self.rarity[term.stem] for term in ordered])
        return sum(min(pair) for pair in pairs) / self.total if self.total else 0.0

    def spoken(self, levelled: str, lead: int = 0) -> Spoken:
        """How much a levelled text speaks of the topic."""
        found = match(levelled, self.query.terms, self.rarity, self.query.language, lead=lead)
        named = found.together / self._neighbours if self._neighbours else float(found.page > 0)
        focus = 0.0
        if self.query.focus:
            of_focus = match(levelled, self.query.focus, self.focus_rarity, self.query.language, lead=lead)
            focus = min(1.0, (of_focus.page + of_focus.lead) / 2)
        return Spoken(round(min(1.0, named), 4), round(found.page, 4), round(focus, 4))

    def places(self, levelled: str) -> Places:
        """Where the topic's and the focus's words are in a text."""
        stem_of = stemmer(self.query.language)
        weights = {**self.focus_rarity, **self.rarity}
        terms: Sequence[Term] = (*self.query.terms, *self.query.focus)
        found = {term.stem: occurrences(levelled, term.word, stem_of) for term in terms}
        absent = tuple(term.word for term in terms if not found[term.stem])
        return Places(self.total, tuple((weights[stem], at) for stem, at in sorted(found.items()) if at), absent)

    def in_words(self, stems: frozenset[str]) -> float:
        """How much of the topic a few words hold, such as a title."""
        return sum(weight for stem, weight in self.rarity.items() if stem in stems) / self.total if self.total else 0.0

    def stems(self, words: str) -> frozenset[str]:
        stem_of = stemmer(self.query.language)
        return frozenset(stem_of(word) for word in fold(words).split())


@dataclass(frozen=True, slots=True)
class Places:
    """Where words of the topic are in one text."""

    total: float
    found: tuple[tuple[float, Sequence[int]], ...]
    absent: tuple[str, ...]
    """Words that are not in it."""

    def between(self, start: int, end: int) -> float:
        """How much of the topic is said between two offsets, as a share, at most 1."""
        if not self.total:
            return 0.0
        held = 0.0
        for weight, places in self.found:
            at = bisect_left(places, start)
            if at < len(places) and places[at] < end:
                held += weight
        return min(1.0, held / self.total)
