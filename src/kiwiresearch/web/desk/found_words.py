"""The words that were looked for, in a text that shows them: which parts of it are forms of them."""

from __future__ import annotations

from kiwiresearch.search.query import parse
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import WORD, has_no_spaces, level, occurrences

Parts = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it was looked for."""


def parted(text: str, query: str, language: str) -> Parts:
    """A text of a book, parted where forms of the words that matter in a query stand."""
    stem_of, levelled = stemmer(language), level(text)
    words = [term.word for term in parse(query, language).terms]
    places = sorted((at, _end(text, at, word)) for word in words for at in occurrences(levelled, word, stem_of))
    parts, done = [], 0
    for start, end in places:
        if start >= done:
            parts += [(text[done:start], False), (text[start:end], True)]
            done = end
    return tuple(part for part in (*parts, (text[done:], False)) if part[0])


def _end(text: str, start: int, word: str) -> int:
    """Where the form of a word that begins here ends."""
    whole = None if has_no_spaces(word) else WORD.match(text, start)
    return whole.end() if whole else start + len(word)
