"""Words of a text with their places, folded: spelling, accents and what stands between them no longer matter."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kiwiresearch.text.fold import fold

INSIDE = "\u00ad\u200b-\u200f\u2060\ufeff'’ʼ\u0300-\u036f"
"""What may stand inside a word and does not end it."""
WORD = re.compile(rf"[^\W\d_](?:[{INSIDE}]*[^\W\d_])*[\u0300-\u036f]*|\d+")


class Token(NamedTuple):
    """A word: `text[start:end]`, its folded form, and whether it is written as names are."""

    word: str
    start: int
    end: int
    named: bool


def tokens(text: str) -> list[Token]:
    """The words and the numbers of a text; letters and figures are told apart, '3rd' is two."""
    return [
        Token(_folded(found[0]), found.start(), found.end(), _named(text, found.start(), found.end()))
        for found in WORD.finditer(text)
    ]


def _named(text: str, start: int, end: int) -> bool:
    """Whether a word is written as names are; a number, whether it stands alone and is no part of some id."""
    if text[start].isdecimal():
        return not (text[start - 1 : start].isalpha() or text[end : end + 1].isalpha())
    return not text[start].islower()


def words(text: str) -> tuple[str, ...]:
    return tuple(token.word for token in tokens(text))


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    return (word.lstrip("0") or "0") if word[0].isdecimal() else fold(word).replace(" ", "")


def stands_in(words: str, text: str) -> bool:
    """Whether some words stand in a text and do not go on there: 'I1' is not in 'I12'."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(words, at + 1)
    return False
