"""The numbers, ranks, lists and dates of a sentence, each with what it refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

from kiwiresearch.claims.conflicts.words import (
    ComparisonWords,
    SentenceWord,
    event_at,
    event_subject,
    owner_name,
    shared_stem,
)
from kiwiresearch.text import Quantity, plain_lower
from kiwiresearch.text.dates import DateMention, DateRange

# A colon with a space, or a bracket before a capital or a figure; not '(see below)'.
OPENING = re.compile(r": |\((?=[A-Z0-9])")
BETWEEN = {sign: re.compile(rf"\s*{sign}\s+(?:and\s+|or\s+)?") for sign in ",;"}
LIST_FIGURE = re.compile(r"\d+")
AND = re.compile(r"\s+(?:and|or|&)\s+")
WORDS = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*\.?")
MAX_ITEM_WORDS = 7
MIN_ITEMS = 3


class TextList(NamedTuple):
    """A list: its span, where it is opened, and how many items it may have."""

    start: int
    end: int
    opening: int
    in_brackets: bool
    fewest: int
    most: int


def lists_in(text: str, open_words: frozenset[str], open_before: frozenset[str]) -> Iterator[TextList]:
    """Lists of names or numbers after a colon or in brackets that seem to be complete."""
    for found in OPENING.finditer(text):
        in_brackets = found[0] == "("
        start = found.end()
        end = text.find(")", start) if in_brackets else len(text.rstrip(" ."))
        if end < start:
            continue
        counted = _count(text[start:end], open_words)
        if counted and not (open_before & set(text[max(0, start - 40) : start].lower().split())):
            yield TextList(start, end, found.start(), in_brackets, *counted)


def _count(inside: str, open_words: frozenset[str]) -> tuple[int, int] | None:
    """The least and the greatest number of items, which differ if an 'and' may be part of a name."""
    # A list inside a list, or one that is open ('etc'), cannot be counted.
    if "(" in inside or ":" in inside or open_words & set(re.findall(r"[a-z.]+", inside.lower())):
        return None
    items = [item.strip() for item in BETWEEN[";" if ";" in inside else ","].split(inside.strip()) if item.strip()]
    if len(items) < MIN_ITEMS:
        return None
    for item in items:
        if not (item[0].isupper() or LIST_FIGURE.fullmatch(item)) or len(WORDS.findall(item)) > MAX_ITEM_WORDS:
            return None
    # 'Rome, Paris and Berlin' has three. 'Trinidad and Tobago, Berlin, Bonn and Cologne' has three to five, since any
    # 'and' may be part of a name. A comma before 'and' means that it separates.
    joined = sum(len(AND.findall(item)) for item in items)
    last = len(AND.findall(items[-1]))
    if joined == 1 and last == 1 and not re.search(r"[,;]\s*(?:and|or)\s", inside):
        return len(items) + 1, len(items) + 1
    return len(items), len(items) + joined


ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,5}")
LIFE_YEARS = range(12, 115)
"""A range of years after a name is a lifetime if it is this long."""

WORDS_BEFORE_LIST = 16
ITEMS = range(2, 31)
MIN_CLAUSE_WORDS = 2
WORDS_BEFORE, WORDS_AFTER = 6, 4
MAX_PLACE_DISTANCE = 6

DAYS = {"day": 0, "month": 29, "season": 90, "year": 364}
"""How many days of a date follow its first, by precision."""


@dataclass(frozen=True, slots=True)
class SentenceValue:
    """A number, rank or date of a sentence, and what it is about."""

    what: Literal["a number", "a date", "a rank"]
    start: int
    end: int
    clause: int
    key: str = ""
    """The thing counted or ranked, or the dated event."""
    clause_stems: frozenset[str] = frozenset()
    """The stems of its clause."""
    adjacent_stems: frozenset[str] = frozenset()
    """The stems of the few words around it."""
    event_subject: frozenset[str] | None = frozenset()
    """Who or what a dated event happened to; None if that is uncertain."""
    quantity: Quantity | None = None
    when: DateRange | None = None
    rank: int = 0
    listed: tuple[int, int] = (0, 0)
    """The least and the greatest number of items in a list."""
    stated_count: tuple[int, int, int] = (0, 0, 0)
    """The span of the number that says how many there are, and its value."""


def values_in(
    text: str,
    words: Sequence[SentenceWord],
    quantities: Sequence[Quantity],
    dates: Sequence[DateMention],
    known: ComparisonWords,
    language: str,
) -> Iterator[SentenceValue]:
    # The key is what a number counts ('ships'), or else the nearest word; for a unit it is a place to measure from.
    for quantity in (*quantities, *_bare_numbers(text, words, quantities, dates)):
        clause = _clause_at(words, quantity.start)
        key = shared_stem(plain_lower(quantity.counted), language) if quantity.counted else ""
        inside = {shared_stem(low, language) for low in plain_lower(quantity.counted_words).split()}
        near = _near(words, clause) | ({key} if key else set()) | inside
        if not key:
            key = _counted_nearby(words, quantity.start, quantity.end)
        if quantity.unit:
            key = _measured_from(words, quantity.end, known)
        close = _close(words, quantity.start, quantity.end, clause)
        yield SentenceValue("a number", quantity.start, quantity.end, clause, key, near, close, quantity=quantity)
    for dated in dates:
        yield from _dated(text, words, dated, known)
    yield from _lists(text, words, quantities, known, language)
    taken = [(dated.start, dated.end) for dated in dates]
    for at, word in enumerate(words):
        if word.low not in known.ordinals and not word.low[0].isdigit():
            continue
        rank = _rank(word.low, known)
        if rank and at + 1 < len(words) and not any(start <= word.start < end for start, end in taken):
            key = _ranked(words, at + 1, known)
            if key:
                close = _close(words, word.start, word.end, word.clause)
                yield SentenceValue(
                    "a rank", word.start, word.end, word.clause, key, _near(words, word.clause), close, rank=rank
                )


def _ranked(words: Sequence[SentenceWord], at: int, known: ComparisonWords) -> str:
    """The criterion or group of a ranking, stemmed: 'largest citi', 'most populous countri', 'album'."""
    first = words[at].low
    if first.endswith("est") or first in known.superlatives:
        after = words[at + 1 : at + (3 if first in known.superlatives else 2)]
        return " ".join([first, *(word.stem or word.low for word in after)])
    if words[at - 1].is_name or words[at - 1].low in known.common_ordinals:
        return ""
    nouns = list(takewhile(lambda word: word.stem and not word.is_name, words[at : at + 3]))
    return nouns[-1].stem if nouns else ""


def _bare_numbers(
    text: str, words: Sequence[SentenceWord], quantities: Sequence[Quantity], dates: Sequence[DateMention]
) -> Iterator[Quantity]:
    """Numbers that count without a noun: '500 killed', or after a tab or a colon."""
    taken = [(value.start, value.end) for value in quantities] + [(dated.start, dated.end) for dated in dates]
    for word, following in zip(words, [*words[1:], None], strict=False):
        if not FIGURE.fullmatch(word.low) or any(start <= word.start < end for start, end in taken):
            continue
        is_cell = text[max(0, word.start - 2) : word.start].endswith(("\t", ": "))
        if is_cell or (following and following.low.endswith("ed") and following.start - word.end == 1):
            value = float(word.low.replace(",", ""))
            yield Quantity(
                word.start, word.end, value, value, "", "", "", "", len(word.low.strip("0,")), is_range=False
            )


def _counted_nearby(words: Sequence[SentenceWord], start: int, end: int) -> str:
    """The thing counted by a number without a noun: survivors in 'three survived', people in 'a population of 500'."""
    # The next word may have no stem ('500 of them'); then the word before the number counts.
    following = next((word.stem for word in words if word.start >= end), "")
    return following or next((word.stem for word in reversed(words) if word.end <= start and word.stem), "")


def _measured_from(words: Sequence[SentenceWord], end: int, known: ComparisonWords) -> str:
    """The place a distance is measured from: 'Rome' in '5 km north of Rome'."""
    following = [word for word in words if word.start >= end][:MAX_PLACE_DISTANCE]
    for before, word in pairwise(following):
        if before.low in known.before_places and word.is_name:
            return f"from {word.stem}"
    return ""


def _close(words: Sequence[SentenceWord], start: int, end: int, clause: int) -> frozenset[str]:
    inside = [word for word in words if word.clause == clause]
    if sum(bool(word.stem) for word in inside) < MIN_CLAUSE_WORDS:
        inside = [word for word in words if clause - 1 <= word.clause <= clause]
    before = [word.stem for word in inside if word.end <= start][-WORDS_BEFORE:]
    after = [word.stem for word in inside if word.start >= end][:WORDS_AFTER]
    return frozenset(before + after) - {""}


def _lists(
    text: str, words: Sequence[SentenceWord], quantities: Sequence[Quantity], known: ComparisonWords, language: str
) -> Iterator[SentenceValue]:
    """Lists, each with what it lists: what a number before it counts, or what its sentence starts with."""
    if ": " not in text and "(" not in text:
        return
    for listed in lists_in(text, known.in_open_lists, known.before_open_lists):
        said, key = _announced(words, quantities, listed, known, language)
        # 'Planets: …' lists planets; brackets may list anything.
        if not key and not said and not listed.in_brackets:
            key = next((word.stem for word in words if word.stem), "")
        if key or said:
            clause = _clause_at(words, listed.opening - 1)
            near = frozenset(word.stem for word in words if word.stem and word.start < listed.opening)
            number = (listed.fewest, listed.most)
            yield SentenceValue(
                "a number", listed.start, listed.end, clause, key, near, listed=number, stated_count=said or (0, 0, 0)
            )


def _announced(
    words: Sequence[SentenceWord],
    quantities: Sequence[Quantity],
    listed: TextList,
    known: ComparisonWords,
    language: str,
) -> tuple[tuple[int, int, int] | None, str]:
    """The number that says how many things a list has, and what they are."""
    before = [word for word in words if word.start < listed.opening]
    number = next((word for word in reversed(before) if _is_number(word, known)), None)
    if number is None or sum(word.start > number.start for word in before) > (
        3 if listed.in_brackets else WORDS_BEFORE_LIST
    ):
        return None, ""
    at = before.index(number)
    if [word.low for word in before[max(0, at - 2) : at]] == ["of", "the"]:  # 'six of the 24 states' counts six
        return None, ""
    exact = next((q for q in quantities if q.start <= number.start < q.end), None)
    if exact is None:
        said = known.numbers.get(number.low, 0)
        return ((number.start, number.end, said), "") if said in ITEMS else (None, "")
    if exact.unit or exact.low != exact.high or exact.qualifier or int(exact.low) not in ITEMS:
        return None, ""
    return (exact.start, exact.end, int(exact.low)), shared_stem(plain_lower(exact.counted), language)


def _is_number(word: SentenceWord, known: ComparisonWords) -> bool:
    return word.low[0].isdigit() or word.low in known.value_words


def _rank(low: str, known: ComparisonWords) -> int:
    if low[0].isdigit():
        found = ORDINAL.fullmatch(low)
        return int(found[1]) if found else 0
    return known.ordinals.get(low, 0)


def _clause_at(words: Sequence[SentenceWord], start: int) -> int:
    return next((word.clause for word in words if word.start >= start), words[-1].clause if words else 0)


def _near(words: Sequence[SentenceWord], clause: int) -> frozenset[str]:
    """The stems of a clause; a very short one is read with the clause before it, or else the one after it."""
    found = frozenset(word.stem for word in words if word.clause == clause and word.stem)
    if len(found) >= MIN_CLAUSE_WORDS:
        return found
    if clause:
        return found | _near(words, clause - 1)
    return found | frozenset(word.stem for word in words if word.clause == 1 and word.stem)


def _dated(
    text: str, words: Sequence[SentenceWord], dated: DateMention, known: ComparisonWords
) -> Iterator[SentenceValue]:
    clause = _clause_at(words, dated.start)
    when, span = dated.when, (dated.start, dated.end)
    if _is_life(text, dated):
        bracket = text.rfind("(", 0, dated.start)
        at = sum(word.start < bracket for word in words)
        near = _near(words, words[at - 1].clause)
        owner = owner_name(words, at, known) if words[at - 1].is_name else None
        yield SentenceValue(
            "a date", *span, clause, "birth", near, event_subject=owner, when=_moment(when, when.earliest)
        )
        yield SentenceValue(
            "a date", *span, clause, "death", near, event_subject=owner, when=_moment(when, when.latest, ends=True)
        )
        return
    event, first, last = event_at(words, dated.start, dated.end, clause, known)
    happened_to = event_subject(words, event, first, last, known) if event else frozenset()
    close = _close(words, dated.start, dated.end, clause)
    near = _near(words, clause)
    if event:
        near -= {word.stem for word in words[first:last]}
    yield SentenceValue("a date", *span, clause, event, near, close, happened_to, when=when)


def _moment(when: DateRange, day: int, *, ends: bool = False) -> DateRange:
    """The first or the last moment of a range, as exact as its precision."""
    # The first year of '1914–1918' is all of 1914, not its first day.
    more = DAYS.get(when.precision, 364)
    earliest, latest = (day - more, day) if ends else (day, day + more)
    return DateRange(earliest, latest, when.precision, when.qualifier, when.calendar)


def first_moment(when: DateRange) -> DateRange:
    """The start of a range; any other date unchanged."""
    return _moment(when, when.earliest) if when.lasts else when


def last_moment(when: DateRange) -> DateRange:
    """The end of a range; any other date unchanged."""
    return _moment(when, when.latest, ends=True) if when.lasts else when


def _is_life(text: str, dated: DateMention) -> bool:
    """Whether a range of years in brackets after a name is a lifetime."""
    when = dated.when
    if not when.lasts or (when.latest - when.earliest) // 365 not in LIFE_YEARS:
        return False
    opening = text.rfind("(", 0, dated.start)
    if opening < 2 or ")" in text[opening : dated.start] or dated.start - opening > 80:
        return False
    inside = text[opening + 1 : dated.start].lower()
    # '(r. 1509–1547)' is a reign, '(fl. 1120–1150)' the time of works.
    if re.search(r"\br\.|reign|rule|fl\.", inside):
        return False
    before = text[:opening].rstrip().rpartition(" ")[2]
    return before[:1].isupper() or before[:1] in "ʿʾ'I"
