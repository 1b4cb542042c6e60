"""Compares two texts: whether and where they contradict each other, and how they disagree.

Sentences that differ in one place only are compared there first; values, names and negations are compared otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from kiwiresearch.claims.conflicts.sentences import (
    ComparedSentence,
    Disagreement,
    DisagreementKind,
    DisputedValue,
    SentenceReading,
    TextSpan,
    are_unrelated,
    read_sentence,
)
from kiwiresearch.claims.conflicts.value_comparison import (
    ESTIMATE_TOLERANCE,
    check_count_against_list,
    compare_values,
    gap_of,
)
from kiwiresearch.claims.conflicts.word_comparison import compare_negations, compare_single_values
from kiwiresearch.claims.conflicts.words import comparison_words
from kiwiresearch.messages import Message
from kiwiresearch.text import Quantity, quantity_relation, roots_of, sentence_starts
from kiwiresearch.text.dates import DateMention, DateRange, date_relation

# '1,200.50', 'cost' and '(' are one piece each: numbers stay whole, and punctuation counts.
PIECE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\s\w]")
MAX_CHANGED_PIECES = 8
MAX_LENGTH_DIFFERENCE = 5 * MAX_CHANGED_PIECES
MIN_SAME_PIECES = 4
MIN_SAME_SHARE = 0.6
"""The share of the longer sentence that must be the same, in the same order."""


@dataclass(frozen=True, slots=True)
class NearIdentical:
    """Two sentences that differ in one place, and whether they disagree there."""

    disagreement: Disagreement | None


def compare_near_identical(a: SentenceReading, b: SentenceReading) -> NearIdentical | None:
    """None if the sentences differ in more than one value, or in something else."""
    if abs(len(a.text) - len(b.text)) > MAX_LENGTH_DIFFERENCE or not a.words or not b.words:
        return None
    # A cheap test that few pairs pass.
    may_match = a.words[0].low == b.words[0].low or a.words[-1].low == b.words[-1].low
    if not may_match or are_unrelated(a, b):
        return None
    mine, theirs = list(PIECE.finditer(a.text)), list(PIECE.finditer(b.text))
    before = _common_start(mine, theirs)
    shorter = min(len(mine), len(theirs))
    # Limited so that nothing is counted from both ends: 'a b' and 'a b b' have two pieces in common, not three.
    after = min(_common_start(mine[::-1], theirs[::-1]), shorter - before)
    same = before + after
    if same < MIN_SAME_PIECES or same < MIN_SAME_SHARE * max(len(mine), len(theirs)):
        return None
    one, other = _changed_span(mine, before, after), _changed_span(theirs, before, after)
    return None if one is None or other is None else _compare_spans(a, one, b, other)


def _common_start(mine: Sequence[re.Match[str]], theirs: Sequence[re.Match[str]]) -> int:
    pairs = zip(mine, theirs, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0][0].lower() == pair[1][0].lower(), pairs))


def _changed_span(pieces: Sequence[re.Match[str]], before: int, after: int) -> TextSpan | None:
    changed = pieces[before : len(pieces) - after]
    if not changed or len(changed) > MAX_CHANGED_PIECES:
        return None
    return changed[0].start(), changed[-1].end()


def _compare_spans(a: SentenceReading, one: TextSpan, b: SentenceReading, other: TextSpan) -> NearIdentical | None:
    x, y = _value_in_span(a, one), _value_in_span(b, other)
    if x is None or y is None or _words_outside_values(a, one) != _words_outside_values(b, other):
        return None
    if isinstance(x, DateMention) and isinstance(y, DateMention):
        return NearIdentical(None if _dates_agree(x.when, y.when) else _contradiction("a date", a, one, b, other))
    # A date against a number, or two words such as 'third' and 'fourth': in the same place of the same words.
    if not (isinstance(x, Quantity) and isinstance(y, Quantity)):
        return NearIdentical(_contradiction("a number", a, one, b, other))
    kind = _number_difference(x, y)
    if kind == "contradiction":
        return NearIdentical(_contradiction("a number", a, one, b, other))
    if kind == "different scope":
        return None
    why = Message("Rounding or estimates can explain the difference.", "differ.within_rounding")
    return NearIdentical(Disagreement(kind, "a number", one, other, why, 1.0) if kind else None)


def _contradiction(
    what: DisputedValue, a: SentenceReading, one: TextSpan, b: SentenceReading, other: TextSpan
) -> Disagreement:
    mine, theirs = a.text[slice(*one)], b.text[slice(*other)]
    text = f"Both use the same words, except for {mine!r} and {theirs!r}."
    why = Message(text, "differ.but_for", one=mine, other=theirs)
    return Disagreement("contradiction", what, one, other, why, 1.0)


def _number_difference(x: Quantity, y: Quantity) -> DisagreementKind | None:
    """How two numbers differ: here, any difference counts that rounding or estimating does not explain."""
    relation = quantity_relation(x._replace(qualifier=""), y._replace(qualifier=""))
    gap = gap_of(x, y)
    # Different units of one thing contradict each other ('12 km', '12 kg'); different things that are counted do not.
    if relation == "different kinds":
        return "contradiction" if x.unit != y.unit else "different scope"
    if relation == "same" or (relation == "rounding" and x.written_unit != y.written_unit):
        return None
    # Two ranges are stated on purpose, so no tolerance applies.
    if x.is_range and y.is_range:
        return "contradiction"
    if gap <= ESTIMATE_TOLERANCE and (x.qualifier or y.qualifier or x.is_range != y.is_range):
        return "estimate range"
    return "unit or rounding" if relation == "rounding" and x.digits != y.digits else "contradiction"


def _dates_agree(one: DateRange, other: DateRange) -> bool:
    """Whether one is the other with more or less precision, or in the other calendar."""
    # A qualifier such as 'until' is in both sentences, so it explains nothing.
    relation = date_relation(replace(one, qualifier=""), replace(other, qualifier=""))
    return relation in ("same", "calendar") or (relation == "within" and one.precision != other.precision)


def _value_in_span(reading: SentenceReading, span: TextSpan) -> DateMention | Quantity | str | None:
    """The one value that the changed words belong to: a date, a quantity, or at least digits."""
    numbers = [value.quantity for value in reading.values if value.quantity]
    found: list[DateMention | Quantity] = [*reading.dates, *numbers]
    found = [value for value in found if value.start < span[1] and span[0] < value.end]
    if found:
        return found[0] if len(found) == 1 else None
    known = comparison_words(reading.language)
    changed = reading.text[slice(*span)].lower()
    if any(c.isdigit() for c in changed) or changed in known.ordinals or changed in known.value_words:
        return changed
    return None


def _words_outside_values(reading: SentenceReading, span: TextSpan) -> list[str]:
    """The changed words that are not part of a value."""
    spans = [(value.start, value.end) for value in reading.values]
    words = [word for word in reading.words if span[0] <= word.start < span[1] and word.stem]
    return [word.low for word in words if not any(start <= word.start < end for start, end in spans)]


MIN_OVERLAP = 0.4
"""The share of the shorter sentence's words that the other must have."""
ENOUGH_WORDS = 4
"""Fewer common words than this count for less."""
AGREEING_RELATIONS = ("same", "rounding", "overlap")
YEAR_S = 31_557_600
SLACK_YEARS, SLACK_SHARE = 2, 0.1
"""How much a stated duration may differ from its years, which allows for inclusive counting and rounding."""
MAX_GAP_CHARS = 6
"""The largest gap between a duration and its years: '138 years, 799–684 BC'."""
LOOSE_STRENGTH = 0.4
FIGURE = re.compile(r"\d")


def compare_loosely(a: ComparedSentence, b: ComparedSentence) -> Disagreement | None:
    """The first kind of value that both sentences have but disagree on in every pair."""
    if a.text == b.text or _overlap(a, b) < MIN_OVERLAP:
        return None
    # All pairs must be apart, and there must be one: the set is empty if a sentence has no date.
    dates_apart = {date_relation(mention.when, other.when) for mention in a.dates for other in b.dates} == {"apart"}
    numbers = _numbers_apart(a, b)
    if dates_apart and numbers:
        return None  # a different date explains a different number
    if dates_apart:
        first, second = a.dates[0], b.dates[0]
        return _weak_contradiction("a date", (first.start, first.end), (second.start, second.end))
    return _weak_contradiction("a number", *numbers) if numbers else None


def _numbers_apart(a: ComparedSentence, b: ComparedSentence) -> tuple[TextSpan, TextSpan] | None:
    """The first numbers with a shared unit, if no two numbers of that unit agree."""
    for unit in dict.fromkeys(quantity.unit for quantity in a.quantities):
        mine, theirs = _with_unit(a.quantities, unit), _with_unit(b.quantities, unit)
        if (
            mine
            and theirs
            and not any(
                quantity_relation(quantity, other) in AGREEING_RELATIONS for quantity in mine for other in theirs
            )
        ):
            return (mine[0].start, mine[0].end), (theirs[0].start, theirs[0].end)
    return None


def check_duration_against_years(sentence: ComparedSentence) -> Disagreement | None:
    """The contradiction between a duration and the years beside it, if they do not fit: '138 years, 799–684 BC'."""
    for lasted in sentence.quantities:
        if lasted.unit != "s" or "year" not in lasted.written_unit or lasted.qualifier:
            continue
        for dated in sentence.dates:
            gaps = dated.start - lasted.end, lasted.start - dated.end
            is_near = any(0 <= gap <= MAX_GAP_CHARS for gap in gaps)
            if not (is_near and dated.when.lasts and dated.when.precision == "year" and not dated.when.qualifier):
                continue
            years = dated.when.last_year - dated.when.first_year
            if abs(years - lasted.low / YEAR_S) > max(SLACK_YEARS, SLACK_SHARE * years):
                return _weak_contradiction("a number", (lasted.start, lasted.end), (dated.start, dated.end))
    return None


def _with_unit(quantities: Sequence[Quantity], unit: str) -> list[Quantity]:
    return [quantity for quantity in quantities if quantity.unit == unit and not quantity.converted]


def _overlap(a: ComparedSentence, b: ComparedSentence) -> float:
    one, other = _words(a), _words(b)
    common = len(one & other)
    smaller = min(len(one), len(other))
    # The overlap coefficient, reduced for sentences with so few words that sharing them means little.
    return common / smaller * min(1.0, common / ENOUGH_WORDS) if smaller else 0.0


def _words(sentence: ComparedSentence) -> frozenset[str]:
    return frozenset(root for root in roots_of(sentence.text, sentence.language) if not FIGURE.search(root))


def _weak_contradiction(what: DisputedValue, a: tuple[int, int], b: tuple[int, int]) -> Disagreement:
    text = "Both are about the same thing, but their values differ."
    why = Message(text, "differ.no_common_value")
    return Disagreement("contradiction", what, a, b, why, LOOSE_STRENGTH)


# Also two or more spaces before a capital or a figure, unless a sentence ends there: 'Rome  Area 12'.
CELL_END = re.compile(r"\n+|\s*\|+\s*|(?<=[^\s.!?]) {2,}(?=[A-Z0-9])")
"""Where a line ends, or a cell of a table that was written as text."""


@dataclass(frozen=True, slots=True)
class TextComparison:
    """The result of comparing two texts; only a contradiction is a conflict."""

    conflict: bool
    kind: DisagreementKind | None = None
    a_quote: str = ""
    b_quote: str = ""
    why: str = ""
    disagreement: Disagreement | None = None


def compare_sentences(a: ComparedSentence, b: ComparedSentence) -> Disagreement | None:
    """How two sentences disagree, if they are about the same thing and do not say the same."""
    if a.text == b.text:
        return None
    if (b.text, b.subject) < (a.text, a.subject):
        # Always compared in the same order, so that (a, b) and (b, a) agree.
        swapped = compare_sentences(b, a)
        return swapped.reversed() if swapped else None
    one, other = reading_of(a), reading_of(b)
    near_identical = compare_near_identical(one, other)
    if near_identical is not None:
        return near_identical.disagreement
    found = [
        d for d in (compare_values(one, other), compare_single_values(one, other), compare_negations(one, other)) if d
    ]
    # A contradiction is reported rather than a difference that has an explanation, however strong that is.
    return max(
        found, key=lambda disagreement: (disagreement.kind == "contradiction", disagreement.strength), default=None
    )


def reading_of(sentence: ComparedSentence) -> SentenceReading:
    """The reading of a sentence, cached for the next comparison."""
    return read_sentence(sentence.text, sentence.subject, sentence.quantities, sentence.dates, sentence.language)


def compare_texts(a: str, b: str, title: str = "", language: str = "eng") -> TextComparison:
    """The clearest disagreement between a sentence of the first text and one of the second.

    A text may disagree with itself: two of its sentences, or a number and the list that follows it.
    """
    ones, others = sentences_to_compare(a, title, language), sentences_to_compare(b, title, language)
    outcomes = [
        _outcome(sentence, other, found)
        for sentence in ones
        for other in others
        if (found := compare_sentences(sentence, other))
    ]
    outcomes += [_outcome(s, s, found) for s in [*ones, *others] if (found := check_count_against_list(reading_of(s)))]
    outcomes += [_outcome(s, s, found) for s in [*ones, *others] if (found := check_duration_against_years(s))]
    # Only if the strict comparison found nothing: this one is for texts that somebody chose to compare.
    if not any(outcome.conflict for outcome in outcomes):
        outcomes += [
            _outcome(sentence, other, found)
            for sentence in ones
            for other in others
            if compare_sentences(sentence, other) is None and (found := compare_loosely(sentence, other))
        ]
    return max(outcomes, key=_clarity, default=TextComparison(conflict=False))


def _outcome(one: ComparedSentence, other: ComparedSentence, found: Disagreement) -> TextComparison:
    return TextComparison(found.kind == "contradiction", found.kind, one.text, other.text, found.why, found)


def _clarity(outcome: TextComparison) -> tuple[bool, float]:
    return outcome.conflict, outcome.disagreement.strength if outcome.disagreement else 0.0


@lru_cache(maxsize=512)
def sentences_to_compare(text: str, title: str = "", language: str = "eng") -> tuple[ComparedSentence, ...]:
    """The sentences of a text; one that starts with a pronoun has the subject of the one before."""
    cells = [found.end() for found in CELL_END.finditer(text)]
    starts = sentence_starts(text, cells, language)
    about = title
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        sentence = text[start:end].strip().rstrip("|").rstrip()
        if not sentence:
            continue
        compared = ComparedSentence.of(sentence, title, language)
        if about and reading_of(compared).leading_pronoun:
            compared = replace(compared, subject=about)
        found.append(compared)
        about = reading_of(compared).about or about
    return tuple(found)
