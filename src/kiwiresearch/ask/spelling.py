"""Slips in a question: "what is teh capital of germny" as it was meant.

A search corrects words by the titles of a book. A question is a sentence, so its words are compared with common
words too. A word that the book has, or that is written as a name, is left alone unless it is clearly a slip.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jellyfish
from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from kiwiresearch.search.open_book import OpenBook

WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?![\w'’-])")
SHORTEST = 3
FAR = 2
LONG = 7
"""A shorter word is not taken for one that neither sounds like it nor has the same letters, nor doubled."""

CLEARLY = 50
"""A word that the book has is a slip only if so many times as many of its pages have the other one."""

FEW = 3
MOST_COMMON = 100
"""Nor is it one if more pages than these have it, unless it stands for one of the commonest words: 'teh'."""


SHORT = {"ww1": "World War I", "wwi": "World War I", "ww2": "World War II", "wwii": "World War II"}
"""What people write in short, and books in full."""
IN_SHORT = re.compile(rf"\b(?:{'|'.join(SHORT)})\b", re.IGNORECASE)


class _Near(NamedTuple):
    """A common word: letters that differ, whether it does not look or sound like a slip, its rank, and itself."""

    distance: int
    is_unlike: bool
    rank: int
    word: str


def corrected(text: str, books: Sequence[OpenBook]) -> str:
    """The question as it was meant; itself where nothing seems wrong."""
    is_small = text == text.lower() or text == text.upper()
    text = IN_SHORT.sub(lambda found: SHORT[found[0].lower()], text)

    def pages(word: str) -> int:
        return sum(book.frequency(word) for book in books)

    def better(found: re.Match[str]) -> str:
        word = found[0]
        if len(word) < SHORTEST or not word.isascii() or (not is_small and found.start() > 0 and word != word.lower()):
            return word
        return _better(word.lower(), pages) or word

    return WORD.sub(better, text)


def _better(word: str, pages: Callable[[str], int]) -> str:
    """What a word stands for; empty where it is right, or nothing is near."""
    if word in common_words():
        return ""
    own = pages(word)
    doubled = [other for other in _doubled(word) if pages(other) > own * CLEARLY]
    if doubled:
        return max(doubled, key=lambda other: (pages(other), other))
    words = list(common_words())
    near = sorted(
        _Near(int(distance), not _is_like(word, other), rank, other)
        for other, distance, rank in process.extract(
            word, words, scorer=DamerauLevenshtein.distance, score_cutoff=FAR, limit=None
        )
    )
    fits = [one for one in near if not one.is_unlike or (not own and len(word) > LONG)]
    fits = [one for one in fits if not own or (one.distance < FAR and (own <= FEW or one.rank < MOST_COMMON))]
    best = min(fits, key=lambda one: (one.is_unlike, one.distance, one.rank), default=None)
    return best.word if best and pages(best.word) > own * CLEARLY else ""


def _is_like(word: str, other: str) -> bool:
    """Whether letters are missing, two are swapped, or both sound alike."""
    letters = iter(other)
    is_short = all(letter in letters for letter in word)
    return is_short or sorted(word) == sorted(other) or jellyfish.metaphone(word) == jellyfish.metaphone(other)


def _doubled(word: str) -> list[str]:
    """With one letter doubled: 'penicilin' is a word that no list of common words has."""
    return [word[: at + 1] + word[at:] for at in range(len(word)) if len(word) >= LONG]


@cache
def common_words() -> dict[str, int]:
    """The words that the reading model knows whole, the commonest first."""
    text = (files("kiwiresearch.reader") / "data" / "words.txt").read_text(encoding="utf-8")
    words = (word for word in text.split("\n") if len(word) >= SHORTEST and word.isascii() and word.isalpha())
    return {word: rank for rank, word in enumerate(words)}
