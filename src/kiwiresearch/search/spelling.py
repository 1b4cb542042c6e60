"""Slips of the finger: words no page has, replaced by the words of titles they must stand for."""

from __future__ import annotations

from itertools import product

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Query, parse
from kiwiresearch.text.fold import fold

SHORTEST = 4
CHOICES = 3
MOST_WORDS = 4
"""A title may be found whole from this many mistyped words."""


def corrected(book: OpenBook, query: Query) -> Query | None:
    """The query as it was meant, or None where nothing seems wrong.

    A word the book does not have is replaced by the nearest word of its
    titles. Words it does have are left alone, unless a title results.
    """
    if book.titles is None:
        return None
    unknown = [word for word in query.content if len(word) >= SHORTEST and not _known(book, word)]
    rare = [word for word in query.content if len(word) >= SHORTEST and not book.titles.frequency(word)]
    whole = _as_title(book, query, rare) if rare and len(query.content) <= MOST_WORDS else None
    if whole:
        return whole
    changes = {}
    for word in unknown:
        near = book.titles.correct(word, 1)
        if near:
            changes[word] = near[0].word
    return _with(query, changes) if changes else None


def _known(book: OpenBook, word: str) -> bool:
    assert book.titles is not None
    return bool(book.titles.frequency(word) or book.frequency(word))


def _as_title(book: OpenBook, query: Query, words: list[str]) -> Query | None:
    """The query with some words replaced, if that is a title."""
    assert book.titles is not None
    if book.titles.joined(" ".join(query.words)):
        return None
    choices = [[near.word for near in book.titles.correct(word, CHOICES)] or [word] for word in words]
    for some in product(*choices):
        attempt = _with(query, dict(zip(words, some, strict=True)))
        if book.titles.exact(" ".join(attempt.words)):
            return attempt
    return None


def _with(query: Query, changes: dict[str, str]) -> Query:
    words = [changes.get(word, word) for word in query.words]
    fixed = parse(" ".join(words), query.language)
    focus = query.focus
    return Query(
        text=fixed.text,
        core=fixed.core,
        language=query.language,
        definitional=query.definitional,
        words=fixed.words,
        terms=fixed.terms,
        content=fixed.content,
        focus=focus,
    )


def differs(query: Query, other: Query) -> bool:
    return fold(query.core) != fold(other.core)
