"""Where the words of a question occur on a page: in a sentence, next to it, in title and headings."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kiwiresearch.ask.page_units import SegmentedPage
from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.search import ROMAN, OpenBook
from kiwiresearch.text import fold, occurrences, stemmer

RELATED_WEIGHT = 0.6
"""The weight of a word that is only related to a word of the question."""

ASKING_WEIGHT = 0.4
"""The weight of a word that only says what kind of answer is wanted."""

ADJACENT_WEIGHT, AROUND_WEIGHT, HEADING_WEIGHT = 0.6, 0.45, 0.6
"""How much a word counts in the sentence before or after, elsewhere in the passage, or in a heading."""

MAX_GAP_CHARS = 24
"""Neighbouring words of the question are together if at most this many characters separate them."""

Shares = tuple[float, ...]
"""For each word of the question, its weight if it is there, else 0."""


class WeightedWord(NamedTuple):
    """A word of the question and its weight in one book; the weights add up to 1."""

    stem: str
    word: str
    others: tuple[str, ...]
    weight: float
    is_name: bool = False
    is_unknown: bool = False
    """Whether no page of the book has it."""


def word_weights(question: Question, book: OpenBook) -> tuple[WeightedWord, ...]:
    """The words of a question; the rarer a word is in the book, the higher its weight."""
    raw = [
        (asked, book.rarity(asked.term.word) * (ASKING_WEIGHT if asked.is_asking else 1.0)) for asked in question.terms
    ]
    total = sum(weight for _, weight in raw) or 1.0
    is_indexed = book.book.indexes.full_text
    return tuple(
        WeightedWord(
            asked.term.stem,
            asked.term.word,
            asked.related,
            weight / total,
            asked.is_name,
            is_indexed and not book.knows(asked.term.word),
        )
        for asked, weight in raw
    )


class NearbyWords(NamedTuple):
    """The question's words in and around a unit, from near to far; each word counts where it is nearest."""

    own: float
    title: float
    adjacent: float
    around: float
    heading: float
    missing: float
    """Names and numbers of the question that are not nearby."""
    unknown: float
    """Words of the question that are not in the book, nor any related to them."""
    asked_nearby: float
    """The share of the words outside the page's title that are in the unit, next to it, or in its heading."""

    @property
    def weighted_total(self) -> float:
        near = self.own + self.title + ADJACENT_WEIGHT * self.adjacent
        return near + AROUND_WEIGHT * self.around + HEADING_WEIGHT * self.heading


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Where the words of a question occur on a page, unit by unit."""

    segmented: SegmentedPage
    no_shares: Shares
    in_title: Shares
    by_unit: Mapping[int, Shares]
    places: tuple[Sequence[int], ...]
    weights: Sequence[WeightedWord]
    passage_of: Mapping[int, int]
    by_passage: Sequence[Shares]
    by_heading: Mapping[int, Shares]
    first: int
    """The first sentence of the article; captions may come before it."""

    @classmethod
    def find_on(cls, segmented: SegmentedPage, weights: Sequence[WeightedWord], language: str) -> WordMatches:
        stem_of = stemmer(language)
        in_title = {stem_of(word) for word in fold(segmented.page.title).split()}
        in_title |= {figure for figure, roman in ROMAN.items() if roman in in_title}  # 'world war 2'
        starts = [unit.start for unit in segmented.units]
        first = next((index for index, unit in enumerate(segmented.units) if unit.kind == "sentence"), -1)
        life = _life_of(segmented, first)
        ends = question_words(language).ends
        by_unit: dict[int, list[float]] = {}
        direct = []
        for index, word in enumerate(weights):
            places = occurrences(segmented.lowered, word.word, stem_of)
            direct.append(places)
            related = [at for other in word.others for at in occurrences(segmented.lowered, other, stem_of)]
            if life >= 0 and (word.stem in ends["first"] or word.stem in ends["last"]):
                related.append(life)  # '(1815 – 1871)' says when a person was born and died
            # A unit that has both the word and a related one counts the word.
            for places_of, worth in ((related, word.weight * RELATED_WEIGHT), (places, word.weight)):
                for at in places_of:
                    unit = bisect_right(starts, at) - 1
                    if unit >= 0 and at < segmented.units[unit].end:
                        row = by_unit.setdefault(unit, [0.0] * len(weights))
                        row[index] = max(row[index], worth)
        headings = {}
        for index, context in enumerate(segmented.contexts):
            stems = {stem_of(word) for word in fold(context).split()} if context else set()
            if stems:
                headings[index] = tuple(
                    word.weight
                    if word.stem in stems
                    else word.weight * RELATED_WEIGHT * any(stem_of(other) in stems for other in word.others)
                    for word in weights
                )
        return cls(
            segmented,
            (0.0,) * len(weights),
            tuple(word.weight if word.stem in in_title else 0.0 for word in weights),
            {unit: tuple(row) for unit, row in by_unit.items()},
            tuple(direct),
            weights,
            _passages_of(segmented),
            _by_passage(segmented, by_unit, len(weights)),
            headings,
            first,
        )

    @property
    def asked_share(self) -> float:
        """The share of the words outside the page's title that are anywhere on the page."""
        wanted = sum(word.weight for word, titled in zip(self.weights, self.in_title, strict=True) if not titled)
        rows = (*self.by_unit.values(), *self.by_heading.values())
        on_page = [max(shares) for shares in zip(*rows, strict=True)] if rows else [0.0] * len(self.weights)
        found = sum(share for share, titled in zip(on_page, self.in_title, strict=True) if not titled)
        return found / wanted if wanted else 1.0

    def candidates(self) -> list[int]:
        """Units with a word of the question, their neighbours, and the first units of the page."""
        found = {near for unit in self.by_unit for near in (unit - 1, unit, unit + 1)}
        found |= set(range(min(3, len(self.segmented.units))))
        found |= {
            index
            for index, unit in enumerate(self.segmented.units)
            if unit.kind == "box" and any(self.by_heading.get(self.segmented.context_of[index], ()))
        }
        return sorted(unit for unit in found if unit in self.passage_of)

    def words(self, index: int) -> NearbyWords:
        units = self.segmented.units
        own = self.by_unit.get(index, self.no_shares)
        unit = units[index]
        if unit.kind == "box":  # 'Population', and below it 'Total': the heading is a part of the label
            own = tuple(map(max, own, self.by_heading.get(self.segmented.context_of[index], self.no_shares)))
        near = own
        if unit.kind == "sentence":
            for other in (index - 1, index + 1):
                row = self.by_unit.get(other)
                if row and units[other].section == unit.section:
                    near = tuple(map(max, near, row))
        around = self.by_passage[self.passage_of[index]]
        headed = self.by_heading.get(self.segmented.context_of[index], self.no_shares)
        own_sum = title = heading = adjacent = wider = missing = unknown = wanted = nearby = 0.0
        # Written with comparisons instead of `max`, since it runs hundreds of times for each question.
        for best, titled, head, close, wide, word in zip(
            own, self.in_title, headed, near, around, self.weights, strict=True
        ):
            own_sum += best
            if not titled:
                wanted += word.weight
                nearby += max(head, close)
            elif titled > best:
                title += titled - best
                best = titled
            if head > best:
                heading += head - best
            if close > best:
                adjacent += close - best
                best = close
            if wide > best:
                wider += wide - best
            elif not (best or head):
                missing += word.weight * word.is_name
                unknown += word.weight * word.is_unknown
        share = nearby / wanted if wanted else 1.0
        return NearbyWords(own_sum, title, adjacent, wider, heading, missing, unknown, share)

    def says_what_is_asked(self, index: int, question: Question) -> bool:
        """Whether a unit has each word of the question, or a related one, apart from names and the page's title."""
        own = self.by_unit.get(index, self.no_shares)
        rows = zip(question.terms, own, self.in_title, strict=True)
        return all(share or titled or asked.is_name or asked.is_asking for asked, share, titled in rows)

    def adjacent_share(self, start: int, end: int) -> float:
        """The weight of neighbouring words of the question that are also close to each other in a span."""
        worth = 0.0
        for (weighted_word, first), (other, second) in pairwise(zip(self.weights, self.places, strict=True)):
            for place in first[bisect_left(first, start) :]:
                if place >= end:
                    break
                at = bisect_left(second, place + 1)
                if at < len(second) and second[at] < end and second[at] - place <= MAX_GAP_CHARS:
                    worth += min(weighted_word.weight, other.weight)
                    break
        return worth


def _life_of(segmented: SegmentedPage, first: int) -> int:
    """Where the first sentence of an article has a span of years in brackets; -1 if it has none."""
    if first < 0:
        return -1
    unit = segmented.units[first]
    found = LIFE.search(segmented.page.text, unit.start, unit.end)
    return found.start() if found else -1


# '(12 February 1809 – 19 April 1882', '(1809–1882'; not '(15 March 44 BC', which has one year only.
LIFE = re.compile(r"\([^()]*?\b\d{3,4}\b[^()]{0,40}[–—-][^()]{0,40}\b\d{3,4}\b[^()]{0,20}")


def _by_passage(segmented: SegmentedPage, by_unit: Mapping[int, Sequence[float]], count: int) -> list[Shares]:
    """The shares of each passage: the highest of its units."""
    found = []
    # Sorted once, so that each passage finds its units by bisection.
    units = sorted(by_unit)
    for first, end in segmented.spans:
        rows = [by_unit[unit] for unit in units[bisect_left(units, first) : bisect_left(units, end)]]
        found.append(tuple(map(max, zip(*rows, strict=True))) if rows else (0.0,) * count)
    return found


def _passages_of(segmented: SegmentedPage) -> dict[int, int]:
    """The first passage that each unit is in."""
    found: dict[int, int] = {}
    for passage, (first, end) in enumerate(segmented.spans):
        for unit in range(first, end):
            found.setdefault(unit, passage)
    return found
