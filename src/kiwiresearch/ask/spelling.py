"""Corrects typos in a question by the common words of its language.

`search/interpretation.py` corrects the words of a search by the titles of a book.
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

from kiwiresearch.search import OpenBook
from kiwiresearch.text import language_words, words_in

WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?![\w'’-])")
MIN_LETTERS = 3
MAX_DISTANCE = 2
LONG_WORD = 7
"""Shorter words are corrected only to words with the same letters or the same sound, and never by doubling one."""

MIN_RATIO = 50
"""A word that the books have is a typo only if the other word is on this many times as many pages."""

MAX_TYPO_PAGES = 3
"""A word on at most this many pages may be a typo of any common word."""

MAX_RANK = 100
"""A word on more pages than `MAX_TYPO_PAGES` is only a typo of one of the most common words, up to this rank: 'teh'."""


SPELLED_OUT = frozenset(("ww1", "wwi", "ww2", "wwii", "usa", "us", "uk", "eu", "un", "uae", "ussr"))
"""Abbreviations that people type where books have the whole name; `abbreviated` has the titles that they stand for."""
# 'U.S.A.', 'UK', 'ww2', and any other short word, which `SPELLED_OUT` rules out; not 'a.b' of an address.
MAYBE_SHORT = re.compile(r"(?<![\w.])(?:(?:[^\W\d_]\.){2,}|\w{2,4})(?!\w)")
MAX_WORDS_SPELLED_OUT = 5
"""How many words a question may have, apart from stop words, for its abbreviations to be what it is about."""
ORDINALS = {"first": "I", "second": "II", "third": "III", "fourth": "IV"}
# 'the second' with one to three words; `_numbered` drops the last ones until a title matches.
ORDINAL_NAME = re.compile(rf"\b(?:the )?({'|'.join(ORDINALS)})((?: \w+){{1,3}})", re.IGNORECASE)
NAME_FOLLOWS = re.compile(r"\s+[A-Z]")


class _Candidate(NamedTuple):
    """A common word as a correction: how many letters differ, whether it neither looks nor sounds alike, its rank."""

    distance: int
    is_unlike: bool
    rank: int
    word: str


def correct_spelling(text: str, books: Sequence[OpenBook]) -> str:
    """The question with its typos corrected."""
    # Without capitals, or with capitals only, names cannot be distinguished from other words.
    is_one_case = text == text.lower() or text == text.upper()
    text = _spelled_out(text, books, is_one_case=is_one_case)

    def pages(word: str) -> int:
        return sum(book.frequency(word) for book in books)

    def corrected(found: re.Match[str]) -> str:
        word = found[0]
        may_be_name = not is_one_case and found.start() > 0 and word != word.lower()
        if len(word) < MIN_LETTERS or not word.isascii() or may_be_name:
            return word
        return _correction(word.lower(), pages) or word

    return WORD.sub(corrected, text)


def _spelled_out(text: str, books: Sequence[OpenBook], *, is_one_case: bool) -> str:
    """The text with abbreviations replaced by the titles of pages, except in a longer name: 'US Open'.

    In a long question they are beside the point ('otters in the UK'), and the page of the title would hide others.
    """
    known = language_words("eng")
    is_long = sum(word.lower() not in known.stop_words for word in words_in(text)) > MAX_WORDS_SPELLED_OUT

    def title(found: re.Match[str]) -> str:
        words = found[0]
        short = words.replace(".", "").lower()
        if short not in SPELLED_OUT:
            return words
        is_typed_plainly = "." not in words and (is_one_case or words == words.lower())
        # 'us' in 'help us' is a pronoun; 'the us', 'US' and 'u.s.' are the country.
        is_plain_word = (
            short in known.stop_words and is_typed_plainly and not text[: found.start()].lower().endswith("the ")
        )
        begins_name = not is_one_case and NAME_FOLLOWS.match(text, found.end()) is not None
        is_aside = is_long and any(book.frequency(short) for book in books)
        if is_plain_word or begins_name or is_aside:
            return words
        titles = (title for title in known.abbreviated[short] if any(book.archive.by_title(title) for book in books))
        return next(titles, words)

    return ORDINAL_NAME.sub(lambda found: _numbered(found, books), MAYBE_SHORT.sub(title, text))


def _numbered(found: re.Match[str], books: Sequence[OpenBook]) -> str:
    """'second world war' by the title of its page, 'World War II', unless a book has it in words."""
    words = found[2].split()
    for count in range(len(words), 0, -1):
        name = " ".join(word[:1].upper() + word[1:] for word in words[:count])
        titles = (f"{found[1].capitalize()} {name}", f"{name} {ORDINALS[found[1].lower()]}")
        titled = [title for title in titles if any(book.archive.by_title(title) for book in books)]
        if titled:
            return " ".join([titled[0], *words[count:]]) if titled[0] == titles[1] else found[0]
    return found[0]


def _correction(word: str, pages: Callable[[str], int]) -> str:
    """The word that was meant; empty if the word is right, or none is similar."""
    if word in common_words():
        return ""
    own = pages(word)
    # A doubled letter may give a word that is not among the common ones: 'penicilin'.
    doubled = [word[: at + 1] + word[at:] for at in range(len(word)) if len(word) >= LONG_WORD]
    doubled = [other for other in doubled if pages(other) > own * MIN_RATIO]
    if doubled:
        return max(doubled, key=lambda other: (pages(other), other))
    words = list(common_words())
    similar = sorted(
        _Candidate(int(distance), not _is_alike(word, other), rank, other)
        for other, distance, rank in process.extract(
            word, words, scorer=DamerauLevenshtein.distance, score_cutoff=MAX_DISTANCE, limit=None
        )
    )
    fits = [candidate for candidate in similar if not candidate.is_unlike or (not own and len(word) > LONG_WORD)]
    # The books have the word, so it is only corrected if it is rare, or an obvious typo of a very common word.
    if own:
        fits = [
            candidate
            for candidate in fits
            if candidate.distance < MAX_DISTANCE and (own <= MAX_TYPO_PAGES or candidate.rank < MAX_RANK)
        ]
    best = min(fits, key=lambda candidate: (candidate.is_unlike, candidate.distance, candidate.rank), default=None)
    return best.word if best and pages(best.word) > own * MIN_RATIO else ""


def _is_alike(word: str, other: str) -> bool:
    """Whether letters are missing, letters are swapped, or both sound alike."""
    # The test of a subsequence: `in` consumes the iterator, so the letters must come in the same order.
    letters = iter(other)
    has_missing_letters = all(letter in letters for letter in word)
    has_same_letters = sorted(word) == sorted(other)
    return has_missing_letters or has_same_letters or jellyfish.metaphone(word) == jellyfish.metaphone(other)


@cache
def common_words() -> dict[str, int]:
    """The ranks of the words that are one token for the reading model, most common first."""
    text = (files("kiwiresearch.reader") / "data" / "words.txt").read_text(encoding="utf-8")
    words = (word for word in text.split("\n") if len(word) >= MIN_LETTERS and word.isascii() and word.isalpha())
    return {word: rank for rank, word in enumerate(words)}
