"""Which books to ask, and how what they say becomes one list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from kiwiresearch.search.hit import Hit, in_order
from kiwiresearch.search.in_book import Ranked
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of
from kiwiresearch.zim.book import Book

WORTH_MERGING = 0.5
"""A book whose best page has less than this share of the overall best is left out."""

FUSION_RANK = 60
"""Reciprocal-rank fusion: the usual constant, so that the first few places differ little."""

KIND_ORDER = ("wikipedia", "wiki", "gutenberg", "stackexchange", "devdocs", "website", "ted", "other")
"""Where nothing else tells, an encyclopaedia is asked first."""

COMMON_NAMES = frozenset({"book", "books", "edition", "free", "maxi", "mini", "nopic", "wikipedia"})
SCRIPTS = (
    (re.compile(r"[\u0400-\u04ff]"), ("rus", "bel", "ukr", "bul", "srp", "mkd", "kaz", "tat")),
    (re.compile(r"[\u0370-\u03ff]"), ("ell", "grc")),
    (re.compile(r"[\u0590-\u05ff]"), ("heb", "yid")),
    (re.compile(r"[\u0600-\u06ff]"), ("ara", "fas", "urd", "pus", "kur")),
    (re.compile(r"[\u0900-\u097f]"), ("hin", "mar", "nep", "san")),
    (re.compile(r"[\u3040-\u30ff]"), ("jpn",)),
    (re.compile(r"[\uac00-\ud7af]"), ("kor",)),
    (re.compile(r"[\u4e00-\u9fff]"), ("zho", "jpn", "yue", "wuu")),
    (re.compile(r"[\u0e00-\u0e7f]"), ("tha",)),
)

Order = Literal["score", "ranks"]


def in_asking_order(books: Sequence[OpenBook], text: str) -> list[OpenBook]:
    """The books for a query, the likeliest first: named in it, of its language, an encyclopaedia, large."""
    folded = fold(text)

    def likeliness(book: OpenBook) -> tuple[int, int, int, int, str]:
        return (
            -_named(book.book, folded),
            -_speaks(book.book, text),
            KIND_ORDER.index(book.book.kind),
            -book.book.articles,
            book.book.id,
        )

    return sorted(books, key=likeliness)


def is_named(book: Book, text: str) -> bool:
    return _named(book, fold(text)) > 0


def _named(book: Book, folded: str) -> int:
    """How many telling words of the book's name stand in the query: 'in the SQLite docs', 'on Stack Exchange'."""
    names = {word for name in (book.title, book.name, book.creator) for word in fold(name).split()}
    joined = folded.replace(" ", "")
    return sum(len(word) > 3 and word in joined for word in names - COMMON_NAMES)


def _speaks(book: Book, text: str) -> int:
    """Whether the book may be in the query's language, by its script and its small words."""
    for script, languages in SCRIPTS:
        if script.search(text):
            return 2 if book.language in languages else 0
    known = words_of(book.language or "eng")
    own = book.language in ("", "eng") or known is not words_of("eng")
    small = sum(word.casefold() in known.stop_words for word in text.split()) if own else 0
    return min(small, 2)


def worth_merging(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The books whose best page stands beside the overall best; all of them where nothing scores."""
    top = max((one.best for one in ranked), default=0.0)
    if top <= 0:
        return list(ranked)
    return [one for one in ranked if one.best >= WORTH_MERGING * top]


def merged(ranked: Sequence[Ranked]) -> tuple[tuple[Hit, ...], Order]:
    """One list of several books'.

    Points of books of one kind and language compare; those of a German
    Wikipedia and an English question board do not. So books of one sort are
    merged by score, and the sorts by rank.
    """
    sorts: dict[tuple[str, str], list[Hit]] = {}
    for one in ranked:
        sorts.setdefault((one.book.book.kind, one.book.book.language), []).extend(one.hits)
    lists = [_without_copies(in_order(hits)) for hits in sorts.values()]
    if len(lists) <= 1:
        return (tuple(lists[0]) if lists else ()), "score"
    fused = [(1 / (FUSION_RANK + place), hit) for hits in lists for place, hit in enumerate(hits)]
    fused.sort(key=lambda row: (-row[0], -row[1].score.total, row[1].ref))
    return tuple(hit for _, hit in fused), "ranks"


def _without_copies(hits: Sequence[Hit]) -> list[Hit]:
    """The same article in two books once, in its best form; the others are named with it."""
    first: dict[str, Hit] = {}
    for hit in hits:
        key = fold(hit.title)
        known = first.get(key)
        if known is None:
            first[key] = hit
        elif known.ref.book != hit.ref.book:
            first[key] = replace(known, copies=(*known.copies, hit.ref))
        else:  # two pages of one book that differ only in case are two pages
            first[f"{key}\n{hit.ref}"] = hit
    return list(first.values())
