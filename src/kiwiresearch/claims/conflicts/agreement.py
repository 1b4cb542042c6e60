"""A sentence as it is compared: its words, its values, and what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kiwiresearch.claims.conflicts.compare_words import CompareWords, alike_stem, compare_words
from kiwiresearch.claims.conflicts.events import Word
from kiwiresearch.claims.conflicts.values import Value, values_in
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated
from kiwiresearch.text.words import POSSESSIVE, WORD, level

NOTE = re.compile(r"\[[^\[\]]{1,30}\]")
"""What editors write into a text: '[citation needed]', '[12]'."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that is compared of a sentence."""

    text: str
    words: tuple[Word, ...]
    values: tuple[Value, ...]
    dates: tuple[Dated, ...]
    content: frozenset[str]
    names: frozenset[str]
    subject: frozenset[str]
    """Names the sentence is about; none where it begins with a pronoun and nothing tells of whom."""
    about: str
    """The same as it is written, where the sentence names it itself."""
    lows: frozenset[str]
    by_pronoun: str
    """The pronoun it begins with."""
    language: str


@lru_cache(maxsize=6_144)
def read(text: str, subject: str, quantities: tuple[Quantity, ...], dates: tuple[Dated, ...], language: str) -> Reading:
    """The reading of a sentence whose quantities and dates are known."""
    known = compare_words(language)
    spans = [(value.start, value.end) for value in quantities] + [(dated.start, dated.end) for dated in dates]
    spans = sorted(spans + [found.span() for found in NOTE.finditer(text)])
    words = tuple(_words(text, spans, known, language))
    told = [word for word in words if word.stem]
    about, written, by_pronoun = _subject(words, subject, known, language)
    values = tuple(values_in(text, words, quantities, dates, known, language))
    return Reading(
        text=text,
        words=words,
        values=values,
        dates=dates,
        content=frozenset(word.stem for word in told),
        names=frozenset(word.stem for word in told if word.is_name),
        subject=about,
        about="" if by_pronoun else written,
        lows=frozenset(word.low for word in words),
        by_pronoun=by_pronoun,
        language=language,
    )


def _words(text: str, spans: Sequence[tuple[int, int]], known: CompareWords, language: str) -> Iterator[Word]:
    ends = [found.start() for found in known.clause_end.finditer(text)]
    small = level(text)
    quiet = known.quiet
    clause = at = 0
    after_name = False
    for number, found in enumerate(WORD.finditer(text)):
        start, end = found.span()
        while clause < len(ends) and ends[clause] < start:
            clause += 1
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        low = small[start:end]
        if not low.isalnum():
            low = POSSESSIVE.sub("", low)
        stem = ""
        if low not in quiet and not low[0].isdigit() and not (at < len(spans) and spans[at][0] <= start):
            # 'Charles I' is not 'Charles II'.
            stem = alike_stem(low, language) if len(low) > 1 else low if after_name and low in "ivx" else ""
        after_name = bool(stem) and text[start].isupper() and (number > 0 or _name_follows(text, end, known.verbs))
        yield Word(start, end, low, stem, after_name, clause)


def _name_follows(text: str, end: int, verbs: frozenset[str]) -> bool:
    """Whether the first word of a sentence is a name: a capital, a verb, a comma or a bracket follows."""
    found = WORD.search(text, end)
    return found is None or found[0][0].isupper() or found[0] in verbs or text[end : end + 2] in (", ", " (")


def _subject(words: Sequence[Word], given: str, known: CompareWords, language: str) -> tuple[frozenset[str], str, str]:
    """Names before the first verb, or those given where a pronoun stands there."""
    names: dict[str, str] = {}
    pronoun = ""
    for word in words:
        if word.low in known.verbs or (not word.is_name and word.low.endswith("ed") and word.stem):
            break
        if word.is_name:
            names.setdefault(word.stem, word.low)
        if word.low in known.pronouns and word in words[:2]:
            pronoun = pronoun or word.low
    written = " ".join(names.values())
    if names or not given:
        return frozenset(names), written, pronoun
    return (
        frozenset(alike_stem(low, language) for low in WORD.findall(level(given)) if low not in known.quiet),
        "",
        pronoun,
    )
