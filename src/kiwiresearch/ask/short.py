"""The few words of a sentence that are the answer, where a rule can tell; they are always a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.claims.names import names_in, without_stops
from kiwiresearch.text.fold import fold
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.when import dates_in
from kiwiresearch.text.words import level, occurrences

FAR = 1_000
LONGEST_VALUE = 120


class Span(NamedTuple):
    """A part of a sentence: `text[start:end]`."""

    start: int
    end: int


def short_answer(text: str, question: Question, *, is_box: bool = False) -> Span | None:
    """Where the answer stands in a sentence or row; None where no rule is sure."""
    if is_box:
        return _value(text, question)
    if question.kind == "date":
        return _date(text, question)
    if question.kind == "number":
        return _number(text, question)
    if question.kind in ("person", "place"):
        return _name(text, question)
    return None


def _value(text: str, question: Question) -> Span | None:
    """What stands behind the label of a row of a box: its first line that is of the kind asked for."""
    tab = text.find("\t")
    start = tab + 1
    while 0 < start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        words = text[start:end]
        if words.strip() and _fits(words, question):
            first = start + len(words) - len(words.lstrip())
            last = first + len(words.strip())
            return Span(first, last) if last - first <= LONGEST_VALUE else None
        start = end + 1
    return None


def _fits(words: str, question: Question) -> bool:
    """Whether a line of a box can be the answer: a date to 'when', something else to 'where' and 'who'."""
    is_dated = bool(dates_in(words, question.language))
    if question.kind == "date":
        return is_dated
    return not is_dated if question.kind in ("place", "person") else True


def _date(text: str, question: Question) -> Span | None:
    asked = {question.text[found.start : found.end] for found in dates_in(question.text, question.language)}
    spans = [Span(found.start, found.end) for found in dates_in(text, question.language)]
    spans = [span for span in spans if text[span.start : span.end] not in asked]
    best = _nearest(text, spans, question)
    if best is None:
        return None
    words = text[best.start : best.end]
    ends = question_words(question.language).ends
    for dash in (" – ", " - ", "–", " — "):
        before, found, behind = words.partition(dash)
        if found and before.strip() and behind.strip():
            first, last = Span(best.start, best.start + len(before)), Span(best.end - len(behind), best.end)
            stems = {term.term.stem for term in question.terms}
            if stems & ends["first"]:
                return first
            if stems & ends["last"]:
                return last
    return best


def _number(text: str, question: Question) -> Span | None:
    dates = [(found.start, found.end) for found in dates_in(text, question.language)]
    found = [one for one in quantities_in(text, question.language, not_in=dates) if not one.converted]
    stem_of = stemmer(question.language)
    stems = {term.term.stem for term in question.terms}
    counted = [one for one in found if one.counted and stem_of(one.counted) in stems]
    spans = [Span(one.start, one.end) for one in counted or found]
    return _nearest(text, spans, question)


def _name(text: str, question: Question) -> Span | None:
    """A name that the question does not have: behind 'by', at the beginning, or the only one."""
    if without_stops(text) != text:
        return None  # offsets would be others
    asked = set(question.query.words)
    dates = [(found.start, found.end) for found in dates_in(text, question.language)]
    names = names_in(text, question.language, dates=dates)
    spans = [Span(name[0].start, name[-1].end) for name in names if not any(a <= name[0].start < b for a, b in dates)]
    spans = [
        span
        for span in _joined(text, spans, question_words(question.language).joiners)
        if not set(fold(text[span.start : span.end]).split()) <= asked
    ]
    known = question_words(question.language)
    before = known.agents if question.kind == "person" else known.places
    led = [span for span in spans if _word_before(text, span) in before]
    if question.kind == "person" and spans and len(led) != 1 and _does_it(text, spans[0], question):
        return spans[0]
    if len(led) == 1:
        return led[0]
    if len(spans) == 1:
        return spans[0]
    return _nearest(text, led, question) if question.kind == "place" else None


def _does_it(text: str, span: Span, question: Question) -> bool:
    """Whether a sentence begins with a name, and goes on with a word of the question: 'Dido founded Carthage'."""
    if span.start != 0:
        return False
    stem_of = stemmer(question.language)
    following = level(text[span.end :]).split()[:3]
    asked = {stem for term in question.terms for stem in (term.term.stem, *map(stem_of, term.others))}
    return any(stem_of(word.strip(",.;")) in asked for word in following)


def _word_before(text: str, span: Span) -> str:
    return (level(text[: span.start]).split() or [""])[-1]


def _joined(text: str, spans: Sequence[Span], joiners: frozenset[str]) -> list[Span]:
    """'William' and 'Orange' are one name where only 'of' stands between them."""
    found: list[Span] = []
    for span in spans:
        if found and text[found[-1].end : span.start].strip() in joiners:
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found


def _nearest(text: str, spans: Sequence[Span], question: Question) -> Span | None:
    """The one that stands nearest to the question's own words; a tie is left alone."""
    if len(spans) <= 1:
        return spans[0] if spans else None
    stem_of = stemmer(question.language)
    levelled = level(text)
    places = [
        (place, place + len(word))
        for term in question.terms
        if not term.is_asking
        for word in (term.term.word, *term.others)
        for place in occurrences(levelled, word, stem_of)
    ]
    if not places:
        return None
    far = sorted((min(_distance(span, *place) for place in places), span) for span in spans)
    return far[0][1] if all(one[0] != two[0] for one, two in pairwise(far[:2])) else None


def _distance(span: Span, start: int, end: int) -> int:
    """The characters between a word and a span; a word in it tells nothing."""
    return span.start - end if end <= span.start else start - span.end if start >= span.end else FAR
