"""Two things compared by a figure that both pages give, in a fact box or a first sentence: which is bigger, older."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from kiwiresearch.ask.held import LIFE
from kiwiresearch.ask.question import Measure, Question, question_words
from kiwiresearch.ask.reading import ReadPage
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.when import dates_in
from kiwiresearch.text.words import level

WORD = re.compile(r"[^\W\d_]+")
MOST_OTHER_WORDS = 2
"""A label with more words beside those of the measure is of something else: 'Basin area of all tributaries'."""

FIRST_SENTENCES = 8
"""Figures of what a page is about stand at its beginning."""

CLOSE = 0.01
"""Two values that differ by no more than this share are as good as equal."""


class Figure(NamedTuple):
    """A row of a page, and its value in the unit of the measure."""

    unit: int
    value: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows that decide, and which of the two things it is: 0 or 1."""

    rows: tuple[int, int]
    winner: int


def outcome(pages: tuple[ReadPage, ReadPage], question: Question) -> Outcome | None:
    """The first measure that both pages give decides; None where there is none, or the values are equal."""
    known = question_words(question.language)
    words = level(question.text).replace(",", " ").replace("?", " ").split()
    word = next((word for word in words if word in known.directions), None)
    if word is None:
        return None
    direction = known.directions[word]
    stem_of = stemmer(question.language)
    is_end = direction.measure == "time" and any(stem_of(word) in known.ends["last"] for word in words)
    for measure in known.measures["end" if is_end else direction.measure]:
        a, b = (_figure(page, measure, question.language) for page in pages)
        if a is None or b is None:
            continue
        if abs(a.value - b.value) <= CLOSE * max(abs(a.value), abs(b.value)) and measure.unit != "date":
            return None
        if a.value == b.value:
            return None
        return Outcome((a.unit, b.unit), int((a.value < b.value) == direction.most))
    return None


def _figure(page: ReadPage, measure: Measure, language: str) -> Figure | None:
    """The row whose label says the measure with the fewest other words; of several such, the first."""
    rows = sorted((others, number) for others, number in _labelled(page, measure))
    for _, number in rows:
        value = _value(page.text(page.units[number]).partition("\t")[2], measure, language)
        if value is not None:
            return Figure(number, value)
    return _figure_in_text(page, measure, language)


def _figure_in_text(page: ReadPage, measure: Measure, language: str) -> Figure | None:
    """The first of the first sentences that names the measure with a value; the years of a life say two."""
    known = question_words(language)
    wanted = [{word, *known.related.get(word, ())} for word in measure.words]
    stems = set(map(stemmer(language), measure.words))
    ends = {end for end in ("first", "last") if measure.unit == "date" and known.ends[end] & stems}
    sentences = (number for number, unit in enumerate(page.units) if unit.kind == "sentence")
    for number in islice(sentences, FIRST_SENTENCES):
        text = page.text(page.units[number])
        life = LIFE.search(text) if ends else None
        if life:
            dates = dates_in(life[0], language)
            if dates:
                return Figure(number, float(dates[0 if "first" in ends else -1].when.earliest))
        words = set(WORD.findall(level(text)))
        if not any(words.isdisjoint(some) for some in wanted):
            value = _value(text, measure, language)
            if value is not None:
                return Figure(number, value)
    return None


def _labelled(page: ReadPage, measure: Measure) -> Iterator[tuple[int, int]]:
    wanted = set(measure.words)
    for number, unit in enumerate(page.units):
        label, tab, _ = page.text(unit).partition("\t")
        if unit.kind in ("box", "row") and tab:
            above = page.contexts[page.context_of[number]] if unit.kind == "box" else ""
            words = WORD.findall(level(f"{above} {label}"))
            if wanted <= set(words) and len(WORD.findall(level(label))) <= len(wanted) + MOST_OTHER_WORDS:
                yield len(set(words) - wanted), number


def _value(text: str, measure: Measure, language: str) -> float | None:
    if measure.unit == "date":
        return next((float(found.when.earliest) for found in dates_in(text, language)), None)
    found: Sequence[float] = [one.low for one in quantities_in(text, language) if one.unit == measure.unit]
    return found[0] if found else None
