"""The noun that a number counts: 'islands' in 'three main islands'."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from kiwiresearch.text.number_words import either, table

WORD = re.compile(r"[ \u00a0]([^\W\d_][^\W_]*(?:[-'’][^\W_]+)*)")
MOST_WORDS = 5
NO_PLURAL_ENDS = ("ss", "us", "is", "'s", "’s")
SHORTEST_PLURAL = 4


class Counted(NamedTuple):
    """A noun, the word before it, and where the phrase ends."""

    noun: str
    words: str
    start: int
    end: int


class CountedNouns:
    """Reads what stands behind a number in one language."""

    def __init__(self, language: str) -> None:
        known = table(language)["counted"]
        self._not_nouns = frozenset(known["not_nouns"].split())
        self._not_plurals = frozenset(known["not_plurals"].split())
        self._plurals = frozenset(known["plurals"].split())
        self._alone = frozenset(known["alone"].split())
        self._of_the = re.compile(rf"[ \u00a0](?:{either(known['of_the'])})\b")

    def read(self, text: str, start: int, limit: int, *, is_single: bool = False) -> Counted | None:
        """The noun phrase behind a number that ends at `start`; one thing needs no plural."""
        at = start
        if found := self._of_the.match(text, start, limit):
            at = found.end()
        words: list[str] = []
        best: Counted | None = None
        while len(words) < MOST_WORDS and (found := WORD.match(text, at, limit)):
            word = found[1]
            low = word.lower()
            if low in self._not_nouns:
                break
            words.append(word)
            at = found.end()
            if self._is_plural(low) or (is_single and not low.endswith("ly")):
                best = Counted(word, " ".join(words[-2:]), start + 1, at)
                if is_single and word.islower():
                    break
            elif best:
                break
        if best is None and len(words) == 1 and words[0].lower() in self._alone:
            return Counted(words[0], words[0], start + 1, at)
        return best

    def _is_plural(self, word: str) -> bool:
        if word in self._plurals:
            return True
        if not word.endswith("s") or len(word) < SHORTEST_PLURAL or word in self._not_plurals:
            return False
        return not word.endswith(NO_PLURAL_ENDS)


@cache
def counted_nouns(language: str) -> CountedNouns:
    """The nouns of a language, read from its table once."""
    return CountedNouns(language)
