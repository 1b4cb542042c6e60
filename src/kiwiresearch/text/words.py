"""Words in running text: how they are cut out, and where forms of them occur."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

WORD = re.compile(r"(?:[^\W\d_]\.){2,}|\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)*(?:\+{1,3}|#)?")
"""Initials ('U.S.'), figures ('1,000'), and words with what may be inside or behind them ('O'Brien', 'C++')."""

POSSESSIVE = re.compile(r"['’]s?$")

CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]")
"""Scripts that put no space between words."""


@lru_cache(maxsize=4_096)
def _plain(char: str) -> str:
    base = "'" if char == "’" else unicodedata.normalize("NFKD", char)[:1].lower()
    return base if len(base) == 1 else char


def level(text: str) -> str:
    """The text in small letters without accents, one for one, so that every offset stays true."""
    small = text.lower()
    if small.isascii():
        return small
    if len(small) != len(text):  # some letters have no small form of one character
        small = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    for char in sorted(set(small)):  # a dozen quick replacements, where a table would look at every character
        if not char.isascii() and _plain(char) != char:
            small = small.replace(char, _plain(char))
    return small


def words_in(text: str) -> list[str]:
    """The words of a text as they are written, without a possessive 's'."""
    return [POSSESSIVE.sub("", word) for word in WORD.findall(text)]


def has_no_spaces(word: str) -> bool:
    """Whether the word is of a script that writes words together."""
    return CJK.search(word) is not None


def occurrences(text: str, word: str, stem_of: Callable[[str], str]) -> list[int]:
    """Where forms of a word begin in a levelled text."""
    word = level(word)
    stem = stem_of(word)
    if has_no_spaces(word):
        return _anywhere(text, word)
    start = _common_start(word, stem) or word
    if len(start) > SURE_LETTERS and start[-1] in "eiy":  # 'galaxi' is the stem of 'galaxy'
        start = start[:-1]
    found = []
    length = len(text)
    at = text.find(start)
    while at >= 0:
        end = at + len(start)
        if at == 0 or not text[at - 1].isalnum():
            while end < length and text[end].isalnum():
                end += 1
            if text[at:end] == word or stem_of(text[at:end]) == stem:
                found.append(at)
        at = text.find(start, end)
    return found


SURE_LETTERS = 3


def _common_start(one: str, other: str) -> str:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def _anywhere(text: str, word: str) -> list[int]:
    found = []
    at = text.find(word)
    while at >= 0:
        found.append(at)
        at = text.find(word, at + len(word))
    return found
