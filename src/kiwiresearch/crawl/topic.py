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
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import occurrences, words_in

SAID_ONCE = 0.7
OFTEN = 3
"""A page that names the topic once may do so in passing: it has this much of what one has that does so often."""

ALMOST_ALL = 0.999


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
    name: tuple[Term, ...]
    """The words that name the thing: without 'causes of', which says what of it is asked."""

    @classmethod
    def of(cls, book: OpenBook, query: Query) -> Topic:
        return cls(
            query,
            {term.stem: book.rarity(term.word) for term in query.terms},
            {term.stem: book.rarity(term.word) for term in query.focus},
            name_in(query),
        )

    @cached_property
    def total(self) -> float:
        return sum(self.rarity.values())

    @cached_property
    def _neighbours(self) -> float:
        """What all neighbours of the topic weigh, as a share of the whole."""
        ordered = sorted(self.name, key=lambda term: term.place)
        pairs = pairwise([self.rarity[term.stem] for term in ordered])
        whole = sum(self.rarity[term.stem] for term in self.name)
        return sum(min(pair) for pair in pairs) / whole if whole else 0.0

    def spoken(self, levelled: str, lead: int = 0) -> Spoken:
        """How much a levelled text speaks of the topic."""
        found = match(levelled, self.query.terms, self.rarity, self.query.language, lead=lead)
        naming = found
        if len(self.name) < len(self.query.terms):
            naming = match(levelled, self.name, self.rarity, self.query.language, lead=lead)
        named = naming.together / self._neighbours if self._neighbours else float(naming.page > 0)
        is_named = named > ALMOST_ALL
        named = min(1.0, named) * self._again(levelled) if named else 0.0
        focus = 0.0
        if self.query.focus:
            of_focus = match(levelled, self.query.focus, self.focus_rarity, self.query.language, lead=lead)
            focus = min(1.0, (of_focus.page + of_focus.lead) / 2)
        return Spoken(round(named, 4), round(found.page, 4), round(focus, 4), is_named)

    def _again(self, levelled: str) -> float:
        """What is left of a name that is said only once or twice."""
        rarest = max(self.name, key=lambda term: (self.rarity[term.stem], term.stem))
        times = len(occurrences(levelled, rarest.word, stemmer(self.query.language)))
        return SAID_ONCE + (1 - SAID_ONCE) * min(1.0, max(0, times - 1) / (OFTEN - 1))

    def places(self, levelled: str) -> Places:
        """Where the topic's and the focus's words are in a text."""
        stem_of = stemmer(self.query.language)
        weights = {**self.focus_rarity, **self.rarity}
        terms: Sequence[Term] = (*self.query.terms, *self.query.focus)
        found = {term.stem: occurrences(levelled, term.word, stem_of) for term in terms}
        absent = tuple(term.word for term in terms if not found[term.stem])
        return Places(self.total, tuple((weights[stem], at) for stem, at in sorted(found.items()) if at), absent)

    def covered_by(self, title: str) -> float:
        """How much of the topic's name a title is, if it says nothing else."""
        stem_of = stemmer(self.query.language)
        silent = words_of(self.query.language).stop_words
        stems = {stem_of(word) for word in fold(QUALIFIER.sub("", title)).split() if word not in silent}
        weights = {term.stem: self.rarity[term.stem] for term in self.name}
        if not stems or not stems <= weights.keys():
            return 0.0
        return round(sum(weights[stem] for stem in stems) / sum(weights.values()), 4)


def name_in(query: Query) -> tuple[Term, ...]:
    """The words of a topic that name its thing.

    'causes of the Bronze Age collapse' names the collapse. A title such as 'The
    Origin of Species' is a name as a whole, which its capitals tell.
    """
    aspects = words_of(query.language).aspects
    ordered = sorted(query.terms, key=lambda term: term.place)
    first = ordered[0] if ordered else None
    if first is None or len(ordered) == 1 or first.word not in aspects:
        return tuple(ordered)
    written = words_in(query.core)
    is_name = first.place < len(written) and written[first.place][:1].isupper()
    return tuple(ordered) if is_name and first.place > 0 else tuple(ordered[1:])


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
