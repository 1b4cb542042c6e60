"""What a reader wants to have, from words such as "worksheet on volcanoes" or "causes of the First World War"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from kiwiresearch.codec import toml_data
from kiwiresearch.messages import LANGUAGES
from kiwiresearch.text import fold, language_words, three_letter_code

RequestedThing = Literal["worksheet", "family", "research"]

PHRASES: tuple[RequestedThing, ...] = ("worksheet", "family")
"""What phrases of the data file ask for; research is asked for by an aspect, such as causes."""

AROUND = " .,:;!\"'«»“”"


@dataclass(frozen=True, slots=True)
class TypedRequest:
    """A thing and what it is to be about."""

    thing: RequestedThing
    subject: str


def wish_in(words: str) -> TypedRequest | None:
    """What some words ask for; None if they only name something."""
    parts = words.split()
    for thing in PHRASES:
        before, after = _phrases(thing)
        for subject in (*_behind(parts, before), *_in_front(parts, after)):
            return TypedRequest(thing, subject)
    return TypedRequest("research", " ".join(parts)) if _names_aspect(parts) else None


@cache
def _phrases(thing: RequestedThing) -> tuple[frozenset[str], frozenset[str]]:
    table = toml_data("kiwiresearch.web.desk", "typed_requests.toml")[thing]
    return frozenset(map(fold, table["before"])), frozenset(map(fold, table["after"]))


def _behind(parts: Sequence[str], phrases: frozenset[str]) -> Iterator[str]:
    """The words behind a phrase, without an article before them; the longest phrase counts."""
    for length in range(len(parts) - 1, 0, -1):
        if fold(" ".join(parts[:length])) in phrases:
            yield from filter(None, [_without_article(parts[length:])])
            return


def _in_front(parts: Sequence[str], phrases: frozenset[str]) -> Iterator[str]:
    for start in range(1, len(parts)):
        if fold(" ".join(parts[start:])) in phrases:
            yield from filter(None, [_without_article(parts[:start])])
            return


def _without_article(parts: Sequence[str]) -> str:
    first = 1 if len(parts) > 1 and fold(parts[0]) in _all_stop_words() else 0
    return " ".join(parts[first:]).strip(AROUND)


@cache
def _all_stop_words() -> frozenset[str]:
    words = [language_words(three_letter_code(code)).stop_words for code in LANGUAGES]
    return frozenset(fold(word) for some in words for word in some)


def _names_aspect(parts: Sequence[str]) -> bool:
    """Whether words begin with an aspect of something: 'causes of the First World War', 'les causes de la crise'."""
    folded = [fold(part) for part in parts]
    if len(folded) > 1 and folded[0] in _all_stop_words():
        folded = folded[1:]
    if len(folded) < 3:
        return False
    languages = [language_words(three_letter_code(code)) for code in LANGUAGES]
    return any(
        folded[1] in map(fold, words.linking)
        and any(folded[0] in aspect.naming_words for aspect in words.aspects.values())
        for words in languages
    )
