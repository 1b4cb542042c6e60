"""Compares two things by a figure that both their pages give, or by the years of two lives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.ask.answer_match import pattern_of
from kiwiresearch.ask.page_units import SegmentedPage
from kiwiresearch.ask.question import BoxMeasure, ComparedThings, ComparisonDirection, Question, question_words
from kiwiresearch.ask.word_matches import LIFE
from kiwiresearch.text import fold, language_words, plain_lower, quantities_in, stemmer
from kiwiresearch.text.dates import dates_in

WORD = re.compile(r"[^\W\d_]+")
MAX_OTHER_WORDS = 2
"""A label with more words than this, not counting the measure, names something else: 'Basin area of tributaries'."""

EQUAL_TOLERANCE = 0.01
"""Values that differ by no more than this share count as equal."""


class BoxFigure(NamedTuple):
    """The index of a row of a page, and its value in the unit of the measure."""

    row: int
    value: float


@dataclass(frozen=True, slots=True)
class ComparisonOutcome:
    """The rows that decide, and which of the two things wins: 0 or 1."""

    rows: tuple[int, int]
    winner: int


def decide(
    pages: tuple[SegmentedPage, SegmentedPage], question: Question, compared: ComparedThings
) -> ComparisonOutcome | None:
    """Decide by the first measure that both pages give; None if there is none, or the values are equal."""
    direction = question_words(question.language).directions.get(compared.word)
    if direction is None:
        return None
    for measure in _measures(question, compared, direction):
        a, b = (_figure(page, measure, question.language) for page in pages)
        if a is None or b is None:
            continue
        leeway = 0.0 if measure.unit == "date" else EQUAL_TOLERANCE * max(abs(a.value), abs(b.value))
        # A later measure must not decide instead: it is not what the question asks for.
        if abs(a.value - b.value) <= leeway:
            return None
        return ComparisonOutcome((a.row, b.row), int((a.value < b.value) == direction.most))
    return None


def _measures(question: Question, compared: ComparedThings, direction: ComparisonDirection) -> Sequence[BoxMeasure]:
    """The measures of the word that compares, or one that the question names.

    None if it asks for something else: 'Who became president first' does not ask who was born first.
    """
    known = question_words(question.language)
    things = {word for thing in compared.things for word in fold(thing).split()}
    ignored = language_words(question.language).stop_words | {compared.word, compared.noun} | things
    stem_of = stemmer(question.language)
    # What is left says what is compared: nothing in 'Which is older, A or B?', 'president' in 'Who became president
    # first?', which no infobox row of a life can decide.
    rest = set(fold(question.text).split()) - ignored
    if direction.measure == "time":
        stems = set(map(stem_of, rest))
        if stems & known.ends["last"]:
            # 'Who died younger' asks for an age.
            is_order = pattern_of(question.language, "order").search(compared.word) is not None
            return known.measures["end"] if is_order and stems <= known.ends["last"] else ()
        rest = {word for word in rest if stem_of(word) not in known.ends["first"]}
    if not rest:
        return known.measures[direction.measure]
    return [
        box_measure
        for of in known.measures.values()
        for box_measure in of
        if set(box_measure.words) == rest and box_measure.unit != "date"
    ]


def _figure(page: SegmentedPage, measure: BoxMeasure, language: str) -> BoxFigure | None:
    """The row whose label has the measure and the fewest other words; if there are several, the first."""
    # Fewest other words first: 'Area' before 'Area of water'.
    rows = sorted((others, row) for others, row in _labelled(page, measure))
    for _, row in rows:
        value = _value(page.text(page.units[row]).partition("\t")[2], measure, language)
        if value is not None:
            return BoxFigure(row, value)
    return _figure_of_life(page, measure, language)


def _figure_of_life(page: SegmentedPage, measure: BoxMeasure, language: str) -> BoxFigure | None:
    """Birth or death by the years in brackets of the first sentence."""
    ends = question_words(language).ends
    stem = stemmer(language)(measure.words[0])
    row = next((index for index, unit in enumerate(page.units) if unit.kind == "sentence"), -1)
    life = LIFE.search(page.text(page.units[row])) if row >= 0 else None
    is_of_life = measure.unit == "date" and pattern_of(language, "life").search(measure.words[0])
    # '(reigned 1509–1547)' is a span of years as well, but not a life.
    if life is None or not is_of_life or pattern_of(language, "office").search(life[0]):
        return None
    dates = dates_in(life[0], language)
    if not dates or dates[0].when.earliest > dates[-1].when.latest:
        return None  # 'c. 427 – c. 347 BC', whose first year was read as AD
    value = dates[0].when.earliest if stem in ends["first"] else dates[-1].when.latest
    return BoxFigure(row, float(value))


def _labelled(page: SegmentedPage, measure: BoxMeasure) -> Iterator[tuple[int, int]]:
    wanted = set(measure.words)
    for index, unit in enumerate(page.units):
        label, tab, _ = page.text(unit).partition("\t")
        if unit.kind in ("box", "row") and tab:
            # The heading may have the measure ('Area' above '- Total'), but its words do not make the label longer.
            above = page.contexts[page.context_of[index]] if unit.kind == "box" else ""
            words = WORD.findall(plain_lower(f"{above} {label}"))
            if wanted <= set(words) and len(WORD.findall(plain_lower(label))) <= len(wanted) + MAX_OTHER_WORDS:
                yield len(set(words) - wanted), index


def _value(text: str, measure: BoxMeasure, language: str) -> float | None:
    if measure.unit == "date":
        return next((float(found.when.earliest) for found in dates_in(text, language)), None)
    return next((quantity.low for quantity in quantities_in(text, language) if quantity.unit == measure.unit), None)
