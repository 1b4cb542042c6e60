"""Whether a text holds the kind of answer a question asks for, and which of its words are the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from kiwiresearch.ask.question import Question, kind_patterns, question_words
from kiwiresearch.claims.mentions import names_in, without_initial_stops
from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.when import dates_in
from kiwiresearch.text.words import fold, occurrences, plain_lower

NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w'’.-]+(?:\s+(?:(?:of|de|von|van|the|la|le|du|al|bin|ibn)\s+)?[A-Z][\w'’.-]+)*"
)
"""Capitals that do not begin the text or a sentence."""

NEUTRAL = 0.5


@cache
def pattern_of(language: str, name: str) -> re.Pattern[str]:
    """A pattern of a language's table; one that matches nothing where the table lacks it."""
    return re.compile(kind_patterns(language).get(name, r"(?!)"))


def kind_match(text: str, question: Question) -> float:
    """1 if the text has what this kind of question wants, 0 if it does not, 0.5 where nothing special is wanted."""
    kind, language = question.kind, question.language
    if kind == "date":
        return (
            1.0
            if pattern_of(language, "year").search(text)
            else 0.7
            if pattern_of(language, "month").search(text)
            else 0.0
        )
    if kind == "number":
        return 1.0 if pattern_of(language, "number").search(text) else 0.0
    if kind == "person":
        return 1.0 if has_new_name(text, question) else 0.0
    if kind == "place":
        return 1.0 if pattern_of(language, "place").search(text) else 0.4 if has_new_name(text, question) else 0.0
    if kind == "reason":
        return 1.0 if pattern_of(language, "reason").search(text) else 0.0
    return NEUTRAL


def is_not_the_most(text: str, question: Question) -> bool:
    """Whether a text is only about the second largest, or one of the largest, when the question asks for the largest.

    A question that asks for an example or for several of the largest accepts such a text.
    """
    patterns = _superlative_in(question.text, question.language)
    if patterns is None:
        return False
    told = plain_lower(text)
    ranked = patterns[0].findall(told)
    return bool(ranked) and len(ranked) == len(patterns[1].findall(told))


@lru_cache(maxsize=64)
def _superlative_in(asked: str, language: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """What matches the superlative of a question with a rank before it, and without; None where there is none."""
    rank, superlative, several = (pattern_of(language, name) for name in ("rank", "superlative", "several"))
    asked = plain_lower(asked)
    found = superlative.search(asked)
    if found is None or several.search(asked) or re.search(rf"(?:{rank.pattern}){superlative.pattern}", asked):
        return None
    words = "|".join(map(re.escape, (found[0], *question_words(language).related.get(found[0], ()))))
    return re.compile(rf"(?:{rank.pattern})(?:{words})\b"), re.compile(rf"\b(?:{words})\b")


def gives_reason(text: str, language: str) -> bool:
    """Whether words of a text say that it gives a reason: 'because', 'cause of death'."""
    return pattern_of(language, "reason").search(text.lower()) is not None


def can_be_answer(words: str, question: Question) -> bool:
    """Whether a few words can be the whole answer: a date to 'when', a figure to 'how many', a name to 'who'."""
    if question.kind in ("date", "number"):
        return kind_match(words, question) > 0
    if question.kind in ("person", "place"):
        return any(char.isupper() for char in words) and not dates_in(words, question.language)
    return True


def has_new_name(text: str, question: Question) -> bool:
    """Whether there is a name in it that the question does not have."""
    asked = set(question.query.words)
    return any(not set(fold(found[0]).split()) <= asked for found in NAME.finditer(text))


FAR = 1_000
LONGEST_VALUE = 120


class AnswerSpan(NamedTuple):
    """A part of a sentence: `text[start:end]`."""

    start: int
    end: int


def short_answer(text: str, question: Question, *, is_box: bool = False) -> AnswerSpan | None:
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


def _value(text: str, question: Question) -> AnswerSpan | None:
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
            return AnswerSpan(first, last) if last - first <= LONGEST_VALUE else None
        start = end + 1
    return None


def _fits(words: str, question: Question) -> bool:
    """Whether a line of a box can be the answer: a date to 'when', something else to 'where' and 'who'."""
    is_dated = bool(dates_in(words, question.language))
    if question.kind == "date":
        return is_dated
    return not is_dated if question.kind in ("place", "person") else True


def _date(text: str, question: Question) -> AnswerSpan | None:
    asked = {question.text[found.start : found.end] for found in dates_in(question.text, question.language)}
    spans = [AnswerSpan(found.start, found.end) for found in dates_in(text, question.language)]
    spans = [span for span in spans if text[span.start : span.end] not in asked]
    best = _nearest(text, spans, question)
    if best is None:
        return None
    words = text[best.start : best.end]
    ends = question_words(question.language).ends
    for dash in (" – ", " - ", "–", " — "):
        before, found, behind = words.partition(dash)
        if found and before.strip() and behind.strip():
            first, last = AnswerSpan(best.start, best.start + len(before)), AnswerSpan(best.end - len(behind), best.end)
            stems = {term.term.stem for term in question.terms}
            if stems & ends["first"]:
                return first
            if stems & ends["last"]:
                return last
    return best


def _number(text: str, question: Question) -> AnswerSpan | None:
    dates = [(found.start, found.end) for found in dates_in(text, question.language)]
    found = [one for one in quantities_in(text, question.language, not_in=dates) if not one.converted]
    stem_of = stemmer(question.language)
    stems = {term.term.stem for term in question.terms}
    counted = [one for one in found if one.counted and stem_of(one.counted) in stems]
    spans = [AnswerSpan(one.start, one.end) for one in counted or found]
    return _nearest(text, spans, question)


def _name(text: str, question: Question) -> AnswerSpan | None:
    """A name that the question does not have: behind 'by', at the beginning, or the only one."""
    if without_initial_stops(text) != text:
        return None  # offsets would be others
    asked = set(question.query.words)
    dates = [(found.start, found.end) for found in dates_in(text, question.language)]
    names = names_in(text, question.language, dates=dates)
    spans = [
        AnswerSpan(name[0].start, name[-1].end) for name in names if not any(a <= name[0].start < b for a, b in dates)
    ]
    spans = [
        span
        for span in _joined(text, spans, question_words(question.language).joiners)
        if not set(fold(text[span.start : span.end]).split()) <= asked
    ]
    known = question_words(question.language)
    before = known.agents if question.kind == "person" else known.places
    led = [span for span in spans if _word_before(text, span) in before]
    if question.kind == "person" and spans and len(led) != 1 and _names_the_doer(text, spans[0], question):
        return spans[0]
    if len(led) == 1:
        return led[0]
    if len(spans) == 1:
        return spans[0]
    return _nearest(text, led, question) if question.kind == "place" else None


def _names_the_doer(text: str, span: AnswerSpan, question: Question) -> bool:
    """Whether a sentence begins with a name, and goes on with a word of the question: 'Dido founded Carthage'."""
    if span.start != 0:
        return False
    stem_of = stemmer(question.language)
    following = plain_lower(text[span.end :]).split()[:3]
    asked = {stem for term in question.terms for stem in (term.term.stem, *map(stem_of, term.related))}
    return any(stem_of(word.strip(",.;")) in asked for word in following)


def _word_before(text: str, span: AnswerSpan) -> str:
    return (plain_lower(text[: span.start]).split() or [""])[-1]


def _joined(text: str, spans: Sequence[AnswerSpan], joiners: frozenset[str]) -> list[AnswerSpan]:
    """'William' and 'Orange' are one name where only 'of' stands between them."""
    found: list[AnswerSpan] = []
    for span in spans:
        if found and text[found[-1].end : span.start].strip() in joiners:
            found[-1] = AnswerSpan(found[-1].start, span.end)
        else:
            found.append(span)
    return found


def _nearest(text: str, spans: Sequence[AnswerSpan], question: Question) -> AnswerSpan | None:
    """The one that stands nearest to the question's own words; a tie is left alone."""
    if len(spans) <= 1:
        return spans[0] if spans else None
    stem_of = stemmer(question.language)
    levelled = plain_lower(text)
    places = [
        (place, place + len(word))
        for term in question.terms
        if not term.is_asking
        for word in (term.term.word, *term.related)
        for place in occurrences(levelled, word, stem_of)
    ]
    if not places:
        return None
    far = sorted((min(_distance(span, *place) for place in places), span) for span in spans)
    return far[0][1] if all(one[0] != two[0] for one, two in pairwise(far[:2])) else None


def _distance(span: AnswerSpan, start: int, end: int) -> int:
    """The characters between a word and a span; a word in it tells nothing."""
    return span.start - end if end <= span.start else start - span.end if start >= span.end else FAR
