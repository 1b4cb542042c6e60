"""The sentences of passages, read once, and the words and numbers that a sentence of a model is compared by."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from kiwiresearch.ask.passages import Passage
from kiwiresearch.claims.firewall import WORD, content_stems
from kiwiresearch.claims.names import key_of, without_stops, words_of_text
from kiwiresearch.claims.numerals import numbers_in
from kiwiresearch.text.sentences import sentence_starts


class Source(NamedTuple):
    """A sentence or row of a passage, which is `passage.text[start:end]`."""

    passage: Passage
    start: int
    end: int
    text: str
    stems: frozenset[str]
    numbers: frozenset[Fraction]


@lru_cache(maxsize=256)
def sources_of(passage: Passage, language: str) -> tuple[Source, ...]:
    """The sentences and rows of a passage, which every sentence of an answer is held against."""
    text = passage.text
    breaks = [found.end() for found in re.finditer(r"\n+", text)]
    starts = sentence_starts(text, breaks, language)
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        words = text[start:end].strip()
        if words:
            begin = text.index(words, start)
            stems, figures = content_stems(words, language), figures_in(words, language)
            found.append(Source(passage, begin, begin + len(words), words, stems, figures))
    return tuple(found)


def figures_in(text: str, language: str) -> frozenset[Fraction]:
    return frozenset(number.value for number in numbers_in(without_stops(text), language))


def keys_in(text: str) -> frozenset[str]:
    return frozenset(key_of(word) for word in WORD.findall(without_stops(text)))


def is_named(key: str, text: str) -> bool:
    """Whether a word is written with a capital where that is no matter of grammar, or is the whole text."""
    words = words_of_text(without_stops(text))
    return any(
        one.key == key and one.text[0].isupper() and (not one.starts_sentence or len(words) == 1) for one in words
    )


def bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".?!… ")
