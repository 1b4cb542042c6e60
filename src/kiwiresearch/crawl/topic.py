"""The topic in one book: its words, how rare they are there, and how much a text speaks of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kiwiresearch.crawl.naming import names_in, said
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.passages import match
from kiwiresearch.search.query import Query, Term
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.text.aspect import AspectWords, stems_in
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import occurrences

ALMOST_ALL = 0.999
AROUND, MOST_SPOTS, ENOUGH_BESIDE = 160, 40, 3
"""The aspect is looked for so many characters around so many places; a page that has it in so many is about it."""

NO_ASPECT = 0.3
"""What a page is worth that names the thing, but says nothing of the side of it that is asked for."""


class Spoken(NamedTuple):
    """How much a text is about the topic, in shares."""

    named: float
    """The topic's words stand together, as neighbours in the topic do."""
    page: float
    """Its words, by rarity and by how often they are there."""
    focus: float
    """The same for the words of the focus."""
    is_named: bool = False
    """It names the topic in full, if only once."""


@dataclass(frozen=True)
class Topic:
    """One topic in one book."""

    query: Query
    rarity: Mapping[str, float]
    focus_rarity: Mapping[str, float]
    names: tuple[tuple[Term, ...], ...]
    """The things it names, without 'causes of', which says what of them is asked."""
    aspect: AspectWords | None = None
    """What of them is asked, where that is not all."""

    @classmethod
    def of(cls, book: OpenBook, query: Query, aspect: str = "") -> Topic:
        return cls(
            query,
            {term.stem: book.rarity(term.word) for term in query.terms},
            {term.stem: book.rarity(term.word) for term in query.focus},
            names_in(query, aspect),
            AspectWords.of(aspect, query.language) if aspect else None,
        )

    @cached_property
    def total(self) -> float:
        return sum(self.rarity.values())

    def spoken(self, levelled: str, lead: int = 0) -> Spoken:
        """How much a levelled text speaks of the topic."""
        found = match(levelled, self.query.terms, self.rarity, self.query.language, lead=lead)
        named, is_named = self._named(levelled) if found.page else (0.0, False)
        focus = 0.0
        if self.query.focus:
            of_focus = match(levelled, self.query.focus, self.focus_rarity, self.query.language, lead=lead)
            focus = min(1.0, (of_focus.page + of_focus.lead) / 2)
        return Spoken(round(named, 4), round(found.page, 4), round(focus, 4), is_named)

    def _named(self, levelled: str) -> tuple[float, bool]:
        """How much of what the topic names is said by its name, and whether all of it is."""
        stem_of = stemmer(self.query.language)
        silent = words_of(self.query.language).stop_words
        total = worth = 0.0
        is_named = True
        spots: list[int] = []
        for name in self.names:
            places = {term.stem: occurrences(levelled, term.word, stem_of) for term in name}
            weight = sum(self.rarity[term.stem] for term in name)
            how = said(levelled, name, places, self.rarity, silent)
            total += weight
            worth += weight * how.worth
            is_named = is_named and how.share > ALMOST_ALL
            longest: Sequence[int] = max((places[term.stem] for term in name), key=len, default=())
            spots += longest
        share = worth / total if total else 0.0
        return share * self._beside(levelled, spots), is_named

    def _beside(self, levelled: str, spots: Sequence[int]) -> float:
        """How much of what is asked for stands beside the places where the topic is named, as a share."""
        if self.aspect is None:
            return 1.0
        beside = 0
        for spot in spots[:MOST_SPOTS]:
            around = levelled[max(0, spot - AROUND) : spot + AROUND]
            beside += self.aspect.asks(stems_in(around, self.query.language)) >= 1
        return NO_ASPECT + (1 - NO_ASPECT) * min(1.0, beside / ENOUGH_BESIDE)

    def places(self, levelled: str) -> Places:
        """Where the topic's and the focus's words are in a text."""
        stem_of = stemmer(self.query.language)
        weights = {**self.focus_rarity, **self.rarity}
        terms: Sequence[Term] = (*self.query.terms, *self.query.focus)
        found = {term.stem: occurrences(levelled, term.word, stem_of) for term in terms}
        absent = tuple(term.word for term in terms if not found[term.stem])
        return Places(self.total, tuple((weights[stem], at) for stem, at in sorted(found.items()) if at), absent)

    def held(self, levelled: str) -> float:
        """How much of the topic's words a text has at all, by their rarity."""
        here = self.places(levelled)
        lost = sum(self.rarity[term.stem] for term in self.query.terms if term.word in here.absent)
        return 1 - lost / self.total if self.total else 0.0

    def has_all(self, words: str) -> bool:
        """Whether the topic or the focus has all of some words."""
        stem_of = stemmer(self.query.language)
        known = {*self.rarity, *self.focus_rarity}
        return all(stem_of(word) in known for word in fold(words).split())

    def name_stems(self, title: str) -> frozenset[str]:
        """The telling words of a title, without what stands in brackets behind it."""
        stem_of = stemmer(self.query.language)
        silent = words_of(self.query.language).stop_words
        return frozenset(stem_of(word) for word in fold(QUALIFIER.sub("", title)).split() if word not in silent)

    def covered_by(self, title: str) -> float:
        """How much of what the topic names a title is, if it says nothing else."""
        stems = self.name_stems(title)
        weights = {term.stem: self.rarity[term.stem] for name in self.names for term in name}
        if not stems or not stems <= weights.keys():
            return 0.0
        return round(sum(weights[stem] for stem in stems) / sum(weights.values()), 4)


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
