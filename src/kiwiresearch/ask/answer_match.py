"""Whether a text has the kind of answer a question asks for, and which of its words are the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.claims import names_in, without_dots_in_initials
from kiwiresearch.text import fold, language_words, occurrences, plain_lower, quantities_in, stemmer
from kiwiresearch.text.dates import dates_in

# Matches 'Charles de Gaulle' in 'It was Charles de Gaulle', but not 'Paris' in 'near Leon. Paris is in France'. A full
# stop after one letter ends no sentence: 'J. R. Hay'.
NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w'’.-]+"
    r"(?:(?<!\w\w\.)\s+(?:(?:of|de|von|van|the|la|le|du|al|bin|ibn)\s+)?[A-Z][\w'’.-]+)*"
)
"""Capitalised words, except at the start of the text or of a sentence."""

PUNCTUATION = re.compile(r"[^\w'’ -]")
MAX_QUALIFIERS = 3
"""How many words may stand between a superlative and its noun."""
SAME_BEGINNING = 5
"""Words that begin with the same letters, this many, are taken for the same: 'Canada' and 'Canadian'."""

NEUTRAL_MATCH = 0.5


@cache
def pattern_of(language: str, name: str) -> re.Pattern[str]:
    """A pattern from a language's table; if the table lacks it, one that never matches."""
    return re.compile(question_words(language).patterns.get(name, r"(?!)"))


def kind_match(text: str, question: Question) -> float:
    """1 if the text has the kind of answer that the question asks for, 0 if not, 0.5 if any kind will do.

    A month without a year is 0.7 of a date; a new name without a preposition of place is 0.4 of a place.
    """

    def has(name: str) -> bool:
        return pattern_of(question.language, name).search(text) is not None

    match question.kind:
        case "date":
            return 1.0 if has("year") else 0.7 if has("month") else 0.0
        case "number" | "reason" as kind:
            return float(has(kind))
        case "person":
            return float(has_new_name(text, question))
        case "place":
            return 1.0 if has("place") else 0.4 if has_new_name(text, question) else 0.0
        case _:
            return NEUTRAL_MATCH


def is_not_the_most(text: str, question: Question) -> bool:
    """Whether a text is only about less than the largest lake when the question asks for the largest lake.

    That is the second largest, one of the largest, or the largest of a smaller group: 'the largest salt lake', or 'the
    largest lake in Asia' when the question asks for that in the world.
    A question that asks for an example or for several of the largest accepts such a text.
    """
    asked = _superlative_in(question.text, question.language)
    if asked is None:
        return False
    lowered = plain_lower(text)
    # Both patterns end with the superlative, so the offset of its end identifies one use of it.
    less = {found.end() for found in asked.ranked.finditer(lowered)}
    if pattern_of(question.language, "world").search(plain_lower(question.text)):
        region = pattern_of(question.language, "in_region")
        # Matched in the text itself, because a region is recognized by its capital: 'largest lake in Asia'.
        less |= {found.end() for found in asked.alone.finditer(lowered) if region.match(text, found.end())}
    uses = [
        "less" if found.end() in less else _use_of(lowered[found.end() :], asked, question)
        for found in asked.alone.finditer(lowered)
    ]
    # 'Superior is the largest; Huron is the second largest' still answers, because one use is of the most.
    return "less" in uses and "the most" not in uses


def is_beside_the_place(text: str, question: Question) -> bool:
    """Whether a text is only about the way around or past a place, when the question asks who was first at it.

    'The first to fly around the Moon' does not say who was the first on the Moon.
    """
    asked = pattern_of(question.language, "first_at").search(plain_lower(question.text))
    if asked is None:
        return False
    lowered, place = plain_lower(text), re.escape(asked["place"])
    beside = re.findall(rf"(?:{pattern_of(question.language, 'beside').pattern})(?:the )?{place}\b", lowered)
    # Every mention of the place must be one of going around or past it; a single other one may be the answer.
    return bool(beside) and len(beside) == len(re.findall(rf"\b{place}\b", lowered))


class _Superlative(NamedTuple):
    """The superlative of a question and the noun after it, if a noun follows at once."""

    ranked: re.Pattern[str]
    """The superlative after a rank: 'second largest'."""
    alone: re.Pattern[str]
    noun: str


@lru_cache(maxsize=64)
def _superlative_in(asked: str, language: str) -> _Superlative | None:
    rank, superlative, several = (pattern_of(language, name) for name in ("rank", "superlative", "several"))
    asked = plain_lower(asked)
    found = superlative.search(asked)
    # If the question itself has a rank ('the second largest'), a text with a rank is what is wanted.
    if found is None or several.search(asked) or re.search(rf"(?:{rank.pattern}){superlative.pattern}", asked):
        return None
    # 'tallest' also accepts 'highest', by the table of related words.
    words = "|".join(map(re.escape, (found[0], *question_words(language).related.get(found[0], ()))))
    noun = next(iter(asked[found.end() :].split()), "").strip("?.,")
    return _Superlative(
        re.compile(rf"(?:{rank.pattern})(?:{words})\b"),
        re.compile(rf"\b(?:{words})\b"),
        "" if noun in language_words(language).stop_words else noun,
    )


def _use_of(after: str, asked: _Superlative, question: Question) -> Literal["less", "the most", "other"]:
    """Of what a superlative is said, by the words after it: of what is asked about, less, or other things."""
    stem_of = stemmer(question.language)
    stop_words = language_words(question.language).stop_words
    unqualified = pattern_of(question.language, "unqualified")
    known = {word[:SAME_BEGINNING] for word in plain_lower(question.text).split()}
    is_narrowed = False
    for word in PUNCTUATION.split(after, 1)[0].split()[: MAX_QUALIFIERS + 1]:
        if not asked.noun or word in stop_words:
            break
        if stem_of(word) == stem_of(asked.noun):
            return "less" if is_narrowed else "the most"
        # 'the largest salt lake' is narrowed by 'salt'; 'known' and words of the question do not narrow.
        is_narrowed |= unqualified.match(word) is None and word[:SAME_BEGINNING] not in known
    return "other" if is_narrowed else "the most"


def gives_reason(text: str, language: str) -> bool:
    """Whether a text has words that introduce a reason: 'because', 'cause of death'."""
    return pattern_of(language, "reason").search(text.lower()) is not None


def can_be_answer(words: str, question: Question) -> bool:
    """Whether a few words can be the complete answer: a date to 'when', a number to 'how many', a name to 'who'."""
    if question.kind in ("date", "number"):
        return kind_match(words, question) > 0
    if question.kind in ("person", "place"):
        # A month has a capital too, so '4 May' would pass for a name.
        return any(char.isupper() for char in words) and not dates_in(words, question.language)
    return True


def has_new_name(text: str, question: Question) -> bool:
    """Whether the text has a name that is not in the question."""
    asked = set(question.query.words)
    return any(not set(fold(found[0]).split()) <= asked for found in NAME.finditer(text))


DISTANCE_INSIDE_SPAN = 1_000
"""The distance assigned to a word inside the span, which does not count."""

MAX_VALUE_CHARS = 120


class AnswerSpan(NamedTuple):
    """A part of a sentence: `text[start:end]`."""

    start: int
    end: int


def short_answer(text: str, question: Question, *, is_box: bool = False) -> AnswerSpan | None:
    """Where the answer is in a sentence or row; None if no rule is certain."""
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
    """The first line after the label of an infobox row that is of the kind asked for."""
    # `find` gives -1 without a tab, so `start` is then 0 and the loop does not run.
    start = text.find("\t") + 1
    while 0 < start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        words = text[start:end]
        if words.strip() and _fits(words, question):
            first = start + len(words) - len(words.lstrip())
            last = first + len(words.strip())
            # The first line that fits is the value; if it is a paragraph, there is no short answer.
            if last - first > MAX_VALUE_CHARS:
                return None
            value = AnswerSpan(first, last)
            return asked_end(text, value, question) if question.kind == "date" else value
        start = end + 1
    return None


VALUE_LINE = re.compile(r"\S(?:[^\n]*\S)?")
VALUE_SEPARATOR = re.compile(r"\s*(?:[,;/•·]|\n)\s*")


def with_other_values(row: str, span: AnswerSpan) -> AnswerSpan:
    """A name in a row of an infobox, extended to the whole list if the row gives several: 'La Paz, Sucre'.

    Lines with figures are something else: coordinates below a capital, the date above a place of birth.
    """
    value_lines = VALUE_LINE.finditer(row, row.find("\t") + 1)
    # Neighbouring lines of names form one list; a line with figures between them ends it.
    for is_list, group in groupby(value_lines, key=lambda line: _is_list_of_names(line[0])):
        lines = list(group)
        start, end = lines[0].start(), lines[-1].end()
        has_several = VALUE_SEPARATOR.search(row, start, end) is not None
        if is_list and has_several and start <= span.start < span.end <= end <= start + MAX_VALUE_CHARS:
            return AnswerSpan(start, end)
    return span


def _is_list_of_names(line: str) -> bool:
    """Whether a line of an infobox has nothing but names: each part starts with a capital, and none has a figure."""
    parts = VALUE_SEPARATOR.split(line)
    return all(part[:1].isupper() and not any(map(str.isdigit, part)) for part in parts)


def _fits(words: str, question: Question) -> bool:
    """Whether a line of an infobox can be the answer: a date to 'when', something else to 'where' and 'who'."""
    if question.kind not in ("date", "place", "person"):
        return True
    return bool(dates_in(words, question.language)) == (question.kind == "date")


def _date(text: str, question: Question) -> AnswerSpan | None:
    asked = {question.text[found.start : found.end] for found in dates_in(question.text, question.language)}
    spans = [AnswerSpan(found.start, found.end) for found in dates_in(text, question.language)]
    # A date of the question may be repeated by a sentence that answers it, but is never the answer.
    spans = [span for span in spans if text[span.start : span.end] not in asked]
    best = _nearest(text, spans, question)
    return asked_end(text, best, question) if best else None


def asked_end(text: str, best: AnswerSpan, question: Question) -> AnswerSpan:
    """A date, or the end of it that is asked for: 1789 of '1789–1799' for 'When did it begin?'."""
    words = text[best.start : best.end]
    ends = question_words(question.language).ends
    # Dashes with spaces first, so that the spaces do not become a part of either date.
    for dash in (" – ", " - ", "–", " — "):
        before, found, after = words.partition(dash)
        if found and before.strip() and after.strip():
            first, last = AnswerSpan(best.start, best.start + len(before)), AnswerSpan(best.end - len(after), best.end)
            stems = {term.term.stem for term in question.terms}
            if stems & ends["first"]:
                return first
            if stems & ends["last"]:
                return last
    return best


def _number(text: str, question: Question) -> AnswerSpan | None:
    dates = [(found.start, found.end) for found in dates_in(text, question.language)]
    # Dates first, so that a year is not taken for a count; '(31 mi)' after '50 km' repeats the number before it.
    found = [quantity for quantity in quantities_in(text, question.language, not_in=dates) if not quantity.converted]
    stem_of = stemmer(question.language)
    stems = {term.term.stem for term in question.terms}
    counted = [quantity for quantity in found if quantity.counted and stem_of(quantity.counted) in stems]
    spans = [AnswerSpan(quantity.start, quantity.end) for quantity in counted or found]
    return _nearest(text, spans, question)


def _name(text: str, question: Question) -> AnswerSpan | None:
    """A name that is not in the question: after 'by' or 'in', at the start, or the only one."""
    if without_dots_in_initials(text) != text:
        return None  # 'U.S.' is read as 'US', which shifts the offsets
    asked = set(question.query.words)
    known = question_words(question.language)
    dates = [(found.start, found.end) for found in dates_in(text, question.language)]
    names = names_in(text, question.language, dates=dates)
    spans = [
        AnswerSpan(name[0].start, name[-1].end) for name in names if not any(a <= name[0].start < b for a, b in dates)
    ]
    spans = [
        span
        for span in _joined(text, spans, known.joiners)
        if not set(fold(text[span.start : span.end]).split()) <= asked
    ]
    prepositions = known.agents if question.kind == "person" else known.places
    # The last word before each name is compared, so 'by Darwin' counts and 'by the way, Darwin' does not.
    introduced = [span for span in spans if (plain_lower(text[: span.start]).split() or [""])[-1] in prepositions]
    # 'by' names the agent more reliably than the start of the sentence, so it is only overruled if it is ambiguous.
    if question.kind == "person" and spans and len(introduced) != 1 and _is_agent(text, spans[0], question):
        return spans[0]
    if len(introduced) == 1:
        return introduced[0]
    if len(spans) == 1:
        return spans[0]
    return _nearest(text, introduced, question) if question.kind == "place" else None


def _is_agent(text: str, span: AnswerSpan, question: Question) -> bool:
    """Whether a sentence starts with a name, followed by a word of the question: 'Dido founded Carthage'."""
    if span.start != 0:
        return False
    stem_of = stemmer(question.language)
    following = plain_lower(text[span.end :]).split()[:3]
    asked = {stem for term in question.terms for stem in (term.term.stem, *map(stem_of, term.related))}
    return any(stem_of(word.strip(",.;")) in asked for word in following)


def _joined(text: str, spans: Sequence[AnswerSpan], joiners: frozenset[str]) -> list[AnswerSpan]:
    """The spans with those joined that have only a word such as 'of' between them: 'William of Orange'."""
    found: list[AnswerSpan] = []
    for span in spans:
        if found and text[found[-1].end : span.start].strip() in joiners:
            found[-1] = AnswerSpan(found[-1].start, span.end)
        else:
            found.append(span)
    return found


def _nearest(text: str, spans: Sequence[AnswerSpan], question: Question) -> AnswerSpan | None:
    """The span closest to the question's own words; None in a tie."""
    if len(spans) <= 1:
        return spans[0] if spans else None
    stem_of = stemmer(question.language)
    lowered = plain_lower(text)
    places = [
        (place, place + len(word))
        for term in question.terms
        if not term.is_asking
        for word in (term.term.word, *term.related)
        for place in occurrences(lowered, word, stem_of)
    ]
    if not places:
        return None
    (nearest, best), (second, _) = sorted((min(_distance(span, *place) for place in places), span) for span in spans)[
        :2
    ]
    return best if nearest != second else None


def _distance(span: AnswerSpan, start: int, end: int) -> int:
    """The characters between a word and a span; a word inside the span does not count."""
    return span.start - end if end <= span.start else start - span.end if start >= span.end else DISTANCE_INSIDE_SPAN
