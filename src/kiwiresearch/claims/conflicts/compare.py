"""Whether one text contradicts another, where, and of what kind the disagreement is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kiwiresearch.claims.conflicts.sentences import (
    ComparedSentence,
    Disagreement,
    DisagreementKind,
    DisputedValue,
    SentenceReading,
    TextSpan,
    read_sentence,
)
from kiwiresearch.claims.conflicts.value_comparison import compare_near_identical, compare_own_list, compare_values
from kiwiresearch.claims.conflicts.word_comparison import compare_denials, compare_fillers
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.ranges import date_relation as date_relation
from kiwiresearch.text.quantity import Quantity
from kiwiresearch.text.quantity import quantity_relation as quantity_relation
from kiwiresearch.text.sentences import sentence_starts
from kiwiresearch.text.similarity import roots_of

SAME_WORDS = 0.4
"""So much of the shorter sentence's words must be in the other, …"""
ENOUGH_WORDS = 4
"""… and fewer common words than this count for less."""
AGREE = ("same", "rounding", "overlap")
YEAR_S = 31_557_600
SLACK_YEARS = 2


def compare_loosely(a: ComparedSentence, b: ComparedSentence) -> Disagreement | None:
    """The first value of a kind that both have and on which nothing they say agrees."""
    if a.text == b.text or _likeness(a, b) < SAME_WORDS:
        return None
    dates = {date_relation(one.when, other.when) for one in a.dates for other in b.dates} == {"apart"}
    numbers = _numbers_apart(a, b)
    if dates and numbers:
        return None  # at another time, another value
    if dates:
        first, second = a.dates[0], b.dates[0]
        return _found("a date", (first.start, first.end), (second.start, second.end))
    return _found("a number", *numbers) if numbers else None


def _numbers_apart(a: ComparedSentence, b: ComparedSentence) -> tuple[TextSpan, TextSpan] | None:
    """The first numbers of one kind that both have and of which none agree."""
    for unit in dict.fromkeys(one.unit for one in a.quantities):
        mine, theirs = _of(a.quantities, unit), _of(b.quantities, unit)
        if mine and theirs and not any(quantity_relation(one, other) in AGREE for one in mine for other in theirs):
            return (mine[0].start, mine[0].end), (theirs[0].start, theirs[0].end)
    return None


def compare_own_duration(saying: ComparedSentence) -> Disagreement | None:
    """A sentence that gives a time in years and its first and last year, which do not fit: '138 years, 799–684 BC'."""
    for lasted in saying.quantities:
        if lasted.unit != "s" or "year" not in lasted.written_unit or lasted.qualifier:
            continue
        for dated in saying.dates:
            near = 0 <= dated.start - lasted.end <= NEAR or 0 <= lasted.start - dated.end <= NEAR
            if not (near and dated.when.lasts and dated.when.precision == "year" and not dated.when.qualifier):
                continue
            years = dated.when.last_year - dated.when.first_year
            said = lasted.low / YEAR_S
            if abs(years - said) > max(SLACK_YEARS, SLACK_SHARE * years):
                return _found("a number", (lasted.start, lasted.end), (dated.start, dated.end))
    return None


NEAR = 6
SLACK_SHARE = 0.1


def _of(quantities: Sequence[Quantity], unit: str) -> list[Quantity]:
    return [one for one in quantities if one.unit == unit and not one.converted]


def _likeness(a: ComparedSentence, b: ComparedSentence) -> float:
    one, other = _words(a), _words(b)
    common = len(one & other)
    smaller = min(len(one), len(other))
    return common / smaller * min(1.0, common / ENOUGH_WORDS) if smaller else 0.0


def _words(saying: ComparedSentence) -> frozenset[str]:
    return frozenset(root for root in roots_of(saying.text, saying.language) if not FIGURE.search(root))


FIGURE = re.compile(r"\d")


def _found(what: DisputedValue, a: tuple[int, int], b: tuple[int, int]) -> Disagreement:
    text = "Both speak of the same thing, and no value of this kind is the same."
    why = Message(text, "differ.no_common_value")
    return Disagreement("contradiction", what, a, b, why, STRENGTH)


STRENGTH = 0.4


CELL_END = re.compile(r"\n+|\s*\|+\s*|(?<=[^\s.!?]) {2,}(?=[A-Z0-9])")
"""Where a line or a cell of a table ends that was written into a text."""


@dataclass(frozen=True, slots=True)
class TextComparison:
    """What came of comparing two texts; only a contradiction is a conflict."""

    conflict: bool
    kind: DisagreementKind | None = None
    a_quote: str = ""
    b_quote: str = ""
    why: str = ""
    disagreement: Disagreement | None = None


def compare(a: ComparedSentence, b: ComparedSentence) -> Disagreement | None:
    """How two sayings disagree, if they speak of the same thing and do not say the same."""
    if a.text == b.text:
        return None
    if (b.text, b.subject) < (a.text, a.subject):
        turned = compare(b, a)
        return turned.reversed() if turned else None
    one, other = reading_of(a), reading_of(b)
    twins = compare_near_identical(one, other)
    if twins is not None:
        return twins.disagreement
    found = [d for d in (compare_values(one, other), compare_fillers(one, other), compare_denials(one, other)) if d]
    return max(found, key=_clear, default=None)


def _clear(found: Disagreement) -> tuple[bool, float]:
    return found.kind == "contradiction", found.strength


def reading_of(saying: ComparedSentence) -> SentenceReading:
    """The reading of a saying, which is kept for the next comparison."""
    return read_sentence(saying.text, saying.subject, saying.quantities, saying.dates, saying.language)


def compare_texts(a: str, b: str, title: str = "", language: str = "eng") -> TextComparison:
    """The clearest disagreement of a sentence of the first text with one of the second.

    A text may disagree with itself: two of its sentences, or a number and the list that follows it.
    """
    ones, others = sentences_to_compare(a, title, language), sentences_to_compare(b, title, language)
    outcomes = [_outcome(one, other, found) for one in ones for other in others if (found := compare(one, other))]
    outcomes += [_outcome(s, s, found) for s in [*ones, *others] if (found := compare_own_list(reading_of(s)))]
    outcomes += [_outcome(s, s, found) for s in [*ones, *others] if (found := compare_own_duration(s))]
    if not any(outcome.conflict for outcome in outcomes):
        outcomes += [
            _outcome(one, other, found)
            for one in ones
            for other in others
            if compare(one, other) is None and (found := compare_loosely(one, other))
        ]
    return max(outcomes, key=_first, default=TextComparison(conflict=False))


def _outcome(one: ComparedSentence, other: ComparedSentence, found: Disagreement) -> TextComparison:
    return TextComparison(found.kind == "contradiction", found.kind, one.text, other.text, found.why, found)


def _first(outcome: TextComparison) -> tuple[bool, float]:
    return outcome.conflict, outcome.disagreement.strength if outcome.disagreement else 0.0


@lru_cache(maxsize=512)
def sentences_to_compare(text: str, title: str = "", language: str = "eng") -> tuple[ComparedSentence, ...]:
    """The sentences of a text; one that begins with a pronoun is about what the one before is about."""
    cells = [found.end() for found in CELL_END.finditer(text)]
    starts = sentence_starts(text, cells, language)
    about = title
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        sentence = text[start:end].strip().rstrip("|").rstrip()
        if not sentence:
            continue
        saying = ComparedSentence.of(sentence, title, language)
        if about and reading_of(saying).by_pronoun:
            saying = replace(saying, subject=about)
        found.append(saying)
        about = reading_of(saying).about or about
    return tuple(found)
