"""Sentences prepared for comparison, how likely two are about the same thing, and how they disagree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from kiwiresearch.claims.conflicts.values import SentenceValue, values_in
from kiwiresearch.claims.conflicts.words import PERSONAL, ComparisonWords, SentenceWord, comparison_words, shared_stem
from kiwiresearch.messages import Message
from kiwiresearch.text import POSSESSIVE, WORD, Quantity, plain_lower, quantities_in
from kiwiresearch.text.dates import DateMention, DateRange, date_relation, dates_in

DisagreementKind = Literal["different year", "different scope", "unit or rounding", "estimate range", "contradiction"]
DisputedValue = Literal["a number", "a date", "a name", "a denial"]
TextSpan = tuple[int, int]

# '1961' in '1961 : she became director' and in 'Founded:1961'; not in 'In 1961 she', which `dates_in` reads.
LONE_YEAR = re.compile(r"(?:^|[\t|:]) *(1\d{3}|20\d\d)(?= *(?:[:\t|–—]|$))", re.ASCII)
DAYS_AFTER_FIRST = 364
"""From the first day of a year to its last; leap years make no difference here."""


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A self-contained sentence with its quantities and dates."""

    text: str
    subject: str = ""
    """Its subject, if known: the title of its page, or what its pronoun refers to."""
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[DateMention, ...] = ()
    language: str = "eng"

    @classmethod
    def of(cls, text: str, subject: str = "", language: str = "eng") -> ComparedSentence:
        """A sentence, with its quantities and dates read from it."""
        dates = _with_lone_years(text, dates_in(text, language), language)
        numbers = quantities_in(text, language, not_in=[(dated.start, dated.end) for dated in dates])
        return cls(text, subject, tuple(numbers), dates, language)


def _with_lone_years(text: str, dates: list[DateMention], language: str) -> tuple[DateMention, ...]:
    """The dates of a text, including years alone in a line or a cell: '1961 : she became director'."""
    for found in LONE_YEAR.finditer(text):
        start, end = found.span(1)
        if not any(dated.start < end and start < dated.end for dated in dates):
            # `dates_in` does not take a lone number for a year, so it reads the first day of that year.
            read = dates_in(f"{found[1]}-01-01", language)
            if read:
                first = read[0].when.earliest
                when = replace(read[0].when, latest=first + DAYS_AFTER_FIRST, precision="year")
                dates.append(DateMention(start, end, when))
    return tuple(sorted(dates, key=lambda dated: dated.start))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two values on which sentences about the same thing disagree."""

    kind: DisagreementKind
    what: DisputedValue
    a: TextSpan
    """The span of the differing value in the first text."""
    b: TextSpan
    why: Message
    strength: float
    """From 0 to 1: how certain it is that both are about the same thing."""

    def reversed(self) -> Disagreement:
        """The same, with the second text first."""
        return Disagreement(self.kind, self.what, self.b, self.a, self.why, self.strength)


NOTE = re.compile(r"\[[^\[\]]{1,30}\]")
"""Notes of editors in a text: '[citation needed]', '[12]'."""


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """Everything about a sentence that is compared."""

    text: str
    words: tuple[SentenceWord, ...]
    values: tuple[SentenceValue, ...]
    dates: tuple[DateMention, ...]
    content: frozenset[str]
    names: frozenset[str]
    subject: frozenset[str]
    """Names the sentence is about; none if it starts with a pronoun that cannot be resolved."""
    about: str
    """The same as written, if the sentence names it itself."""
    lows: frozenset[str]
    leading_pronoun: str
    """The pronoun it starts with; empty if none."""
    language: str


# Each sentence is compared with many others, and reading it costs far more than comparing it.
@lru_cache(maxsize=6_144)
def read_sentence(
    text: str, subject: str, quantities: tuple[Quantity, ...], dates: tuple[DateMention, ...], language: str
) -> SentenceReading:
    known = comparison_words(language)
    spans = [(value.start, value.end) for value in quantities] + [(dated.start, dated.end) for dated in dates]
    spans = sorted(spans + [found.span() for found in NOTE.finditer(text)])
    words = tuple(_words(text, spans, known, language))
    with_content = [word for word in words if word.stem]
    subject_stems, subject_text, leading_pronoun = _subject(words, subject, known, language)
    values = tuple(values_in(text, words, quantities, dates, known, language))
    return SentenceReading(
        text=text,
        words=words,
        values=values,
        dates=dates,
        content=frozenset(word.stem for word in with_content),
        names=frozenset(word.stem for word in with_content if word.is_name),
        subject=subject_stems,
        about="" if leading_pronoun else subject_text,
        lows=frozenset(word.low for word in words),
        leading_pronoun=leading_pronoun,
        language=language,
    )


def _words(
    text: str, spans: Sequence[tuple[int, int]], known: ComparisonWords, language: str
) -> Iterator[SentenceWord]:
    ends = [found.start() for found in known.clause_end.finditer(text)]
    lowered = plain_lower(text)
    quiet = known.function_words
    clause = at = 0
    after_name = False
    for index, found in enumerate(WORD.finditer(text)):
        start, end = found.span()
        # Clause ends and spans are sorted, so both pointers only move forward: one pass over the sentence.
        while clause < len(ends) and ends[clause] < start:
            clause += 1
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        low = lowered[start:end]
        if not low.isalnum():
            low = POSSESSIVE.sub("", low)
        stem = ""
        if low not in quiet and not low[0].isdigit() and not (at < len(spans) and spans[at][0] <= start):
            # 'Charles I' is not 'Charles II'.
            stem = shared_stem(low, language) if len(low) > 1 else low if after_name and low in "ivx" else ""
        after_name = (
            bool(stem) and text[start].isupper() and (index > 0 or _name_follows(text, end, known.subject_verbs))
        )
        yield SentenceWord(start, end, low, stem, after_name, clause)


def _name_follows(text: str, end: int, verbs: frozenset[str]) -> bool:
    """Whether the first word of a sentence is a name: it is followed by a capital, a verb, a comma or a bracket."""
    found = WORD.search(text, end)
    return found is None or found[0][0].isupper() or found[0] in verbs or text[end : end + 2] in (", ", " (")


def _subject(
    words: Sequence[SentenceWord], given: str, known: ComparisonWords, language: str
) -> tuple[frozenset[str], str, str]:
    """The names before the first verb, or else of the `given` subject: as stems, as written, and any pronoun."""
    names: dict[str, str] = {}
    pronoun = ""
    for word in words:
        if word.low in known.subject_verbs or (not word.is_name and word.low.endswith("ed") and word.stem):
            break
        if word.is_name:
            names.setdefault(word.stem, word.low)
        if word.low in known.pronouns and word in words[:2]:
            pronoun = pronoun or word.low
    written = " ".join(names.values())
    if names or not given:
        return frozenset(names), written, pronoun
    return (
        frozenset(
            shared_stem(low, language) for low in WORD.findall(plain_lower(given)) if low not in known.function_words
        ),
        "",
        pronoun,
    )


MIN_LIKENESS = 0.42
"""From this likeness on, two values count as being about the same thing."""

COVER_POINTS, SHARED_POINTS, KEY_POINTS, UNIT_POINTS, CLOSE_POINTS, SUBJECT_POINTS = 0.3, 0.15, 0.25, 0.1, 0.15, 0.15
"""Points for the share and number of common words around both, and for the same key, unit, neighbours and subject."""

UNRELATED_LOSS = 0.35
"""The penalty if each sentence is about names that the other does not have."""

MAX_SHARED_WORDS = 4
"""More common words than this add nothing."""

LIFE_EVENT_LIKENESS = 0.75
"""For what happens once in a life, if the name is the same."""

LABEL_COVER = 0.6
"""The cover of a value without other words around it: 'Founded: 1910'."""

COMMON_UNITS = frozenset({"", "%", "s"})
"""Units so common that sharing one means nothing."""


NO_REASON = Message("")


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """Two values that may be said of the same thing."""

    one: SentenceValue
    other: SentenceValue
    likeness: float
    kind: DisagreementKind | None
    """None if the values agree."""
    why: Message = NO_REASON
    same_event_probability: float = 1.0
    """From 0 to 1: whether both date the same event."""


def likeness(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> float:
    """From 0 to 1: how likely two values are about the same thing, by the words around them."""
    mine, theirs = one.clause_stems - {one.key}, other.clause_stems - {other.key}
    shared = mine & theirs
    fewer = min(len(mine), len(theirs))
    cover = len(shared) / fewer if fewer else LABEL_COVER
    keyed = bool(one.key) and one.key == other.key
    same_unit = one.quantity and other.quantity and one.quantity.unit not in COMMON_UNITS
    crossed = bool(one.key and other.key) and (one.key in other.clause_stems or other.key in one.clause_stems)
    close = not one.adjacent_stems.isdisjoint(other.adjacent_stems)
    subject = subject_likeness(a, b)
    value = (
        COVER_POINTS * cover
        + SHARED_POINTS * min(len(shared), MAX_SHARED_WORDS) / MAX_SHARED_WORDS
        + CLOSE_POINTS * close
    )
    value += KEY_POINTS if keyed else UNIT_POINTS if same_unit or crossed else 0
    # Different subjects reduce what the words suggest instead of taking points away, so nothing becomes negative.
    value = value + SUBJECT_POINTS * subject if subject >= 0 else value * (1 + subject * UNRELATED_LOSS)
    if keyed and one.key in PERSONAL and subject == 1:
        value = max(value, LIFE_EVENT_LIKENESS)
    return round(max(0.0, min(1.0, value)), 3)


def subject_likeness(a: SentenceReading, b: SentenceReading) -> float:
    """From -1.5 to 1: whether two sentences are about the same names."""
    if not a.subject and not b.subject:
        pronouns = {a.leading_pronoun, b.leading_pronoun}
        # Without any name: 'he' and 'she' are two people; otherwise a weak sign that the subject is the same.
        return -1.0 if {"he", "she"} <= pronouns else 0.25
    if not a.subject or not b.subject:
        return 0.5
    # Names of one subject that do not occur anywhere in the other sentence. Each side must have one: 'Einstein' and
    # 'Albert Einstein' are the same, 'Albert Einstein' and 'Elsa Einstein' are not.
    mine, theirs = a.subject - b.content - b.subject, b.subject - a.content - a.subject
    if mine and theirs:
        return -1.5 if a.subject.isdisjoint(b.subject) else -1.0
    return 1.0 if not a.subject.isdisjoint(b.subject) else 0.5


def are_unrelated(a: SentenceReading, b: SentenceReading) -> bool:
    """Whether each sentence is about names that the other does not have."""
    return subject_likeness(a, b) <= -1


def setting_difference(
    a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue
) -> tuple[DisagreementKind, Message]:
    """Whether two values hold for different times or scopes, or contradict each other."""
    # Times before scopes, and scopes before places: the first that explains the difference is reported.
    mine, theirs = list(_times(a, one)), list(_times(b, other))
    if mine and theirs and all(date_relation(x, y) == "apart" for x in mine for y in theirs):
        return "different year", Message("They are about different times.", "differ.times")
    known = comparison_words(a.language)
    words = [_clause_words(a, one), _clause_words(b, other)]
    for line in known.scopes:
        sides = [{line[word] for word in lows & line.keys()} for lows in words]
        if sides[0] and sides[1] and sides[0].isdisjoint(sides[1]):
            why = Message("They are about different groups, places or measures.", "differ.groups")
            return "different scope", why
    places = [_places(a, one), _places(b, other)]
    if places[0] and places[1] and places[0].isdisjoint(b.content) and places[1].isdisjoint(a.content):
        return "different scope", Message("They are about different places.", "differ.places")
    return "contradiction", NO_REASON


def _clause_words(reading: SentenceReading, value: SentenceValue) -> frozenset[str]:
    return frozenset(word.low for word in reading.words if word.clause == value.clause)


def _times(reading: SentenceReading, value: SentenceValue) -> Iterator[DateRange]:
    inside = [v for v in reading.values if v.what == "a date" and v.clause == value.clause]
    for dated in inside or [v for v in reading.values if v.what == "a date"]:
        if dated.when:
            yield dated.when


def _places(reading: SentenceReading, value: SentenceValue) -> frozenset[str]:
    """Names after 'in' and the like in the clause of a value."""
    known = comparison_words(reading.language)
    found = set()
    words = reading.words
    for earlier, before, word in zip((words[:1] + words), words, words[1:], strict=False):
        if before.low == "the":
            before = earlier
        is_place = word.is_name or word.low in known.unnamed_places
        if word.clause == value.clause and is_place and before.low in known.before_scope_places:
            found.add(word.stem)
    return frozenset(found)
