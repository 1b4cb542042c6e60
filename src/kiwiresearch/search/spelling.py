"""Words as they were meant: slips of the finger mended, joined and split words written as titles have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Query, parse
from kiwiresearch.search.titles import Titles
from kiwiresearch.text.fold import fold
from kiwiresearch.text.spellings import spellings
from kiwiresearch.text.stem import share_root, stemmer
from kiwiresearch.text.words import HAN

SHORTEST = 4
CHOICES = 3
MOST_WORDS = 4
"""A title may be found whole from this many mistyped words."""

CLEARLY = 50
"""A word is taken for a slip only if so many times as many pages hold the other one."""


def corrected(book: OpenBook, query: Query, known: Callable[[str], bool] | None = None) -> Query | None:
    """The query as it was meant, or None where nothing seems wrong.

    `known` says whether a word is at home in any book that is asked; such a
    word is right, whatever this book has.
    """
    if not query.words:
        return None
    spelt = _as_spelt(book, query)
    if spelt:
        return spelt
    if book.titles is None:
        return None
    joined = _as_joined(book.titles, query)
    if joined:
        return joined
    known = known or book.knows
    doubtful = [word for word in query.content if len(word) >= SHORTEST and not book.titles.frequency(word)]
    unknown = [word for word in doubtful if not known(word)]
    if len(query.content) <= MOST_WORDS:
        whole = _as_title(book, query, [word for word in doubtful if word in unknown or book.frequency(word)])
        if whole:
            return whole
    changes = {word: better for word in unknown if (better := _better(book, word))}
    return _with(query, changes) if changes else None


def _as_spelt(book: OpenBook, query: Query) -> Query | None:
    """The query as this book spells it, where the writers of a language mix spellings or write words together."""
    changes = {}
    for word in query.content:
        if word.isascii() or book.knows(word):
            continue
        better = next(filter(book.knows, spellings(word)), "") or _in_pairs(book, word)
        if better:
            changes[word] = better
    return _with(query, changes) if changes else None


def _in_pairs(book: OpenBook, word: str) -> str:
    """Chinese words written together, cut in twos, as most of them are, if one page has all; empty for others."""
    if len(word) < SHORTEST or len(word) % 2 or not HAN.fullmatch(word):
        return ""
    pairs = " ".join(word[start : start + 2] for start in range(0, len(word), 2))
    return pairs if book.pages_with(pairs, 1) else ""


def _as_joined(titles: Titles, query: Query) -> Query | None:
    """The query with its spaces where a title has them, if no title has them where the query does."""
    whole = " ".join(query.words)
    rows = titles.joined(whole)
    if not rows or any(fold(row.title) == whole for row in rows):
        return None
    return _respelt(query, fold(rows[0].title))


def _better(book: OpenBook, word: str) -> str:
    """What an unknown word stands for: words written together, else the nearest word of the titles."""
    assert book.titles is not None
    apart = [fold(row.title) for row in book.titles.joined(word)]
    if apart:
        return apart[0]
    if not book.book.indexes.full_text:
        return ""  # only its titles are known, so a word may well be on its pages
    near = book.titles.correct(word, 1)
    return near[0].word if near else ""


def _as_title(book: OpenBook, query: Query, words: list[str]) -> Query | None:
    """The query with some words replaced, if that is a title."""
    titles = book.titles
    if titles is None or not words or titles.joined(" ".join(query.words)):
        return None
    choices = [_likelier(book, query, word) or [word] for word in words]
    for some in product(*choices):
        attempt = _with(query, dict(zip(words, some, strict=True)))
        if attempt.words != query.words and titles.exact(" ".join(attempt.words)):
            return attempt
    return None


def _likelier(book: OpenBook, query: Query, word: str) -> list[str]:
    """Words of titles near this one that are far commoner, and no other forms of it."""
    assert book.titles is not None
    stem_of = stemmer(query.language)
    near_ones = book.titles.correct(word, CHOICES)
    return [
        near.word
        for near in near_ones
        if near.distance == near_ones[0].distance
        and not share_root(word, [near.word])
        and stem_of(word) != stem_of(near.word)
        and book.frequency(word) * CLEARLY <= book.frequency(near.word)
    ]


def _with(query: Query, changes: dict[str, str]) -> Query:
    return _respelt(query, " ".join(changes.get(word, word) for word in query.words))


def _respelt(query: Query, core: str) -> Query:
    fixed = parse(core, query.language)
    return replace(fixed, definitional=query.definitional, focus=query.focus, mended=True)
