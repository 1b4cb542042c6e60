"""How much two sentences share, word by word."""

from __future__ import annotations

import re
from functools import lru_cache

from kiwiresearch.text.languages import words_of
from kiwiresearch.text.words import level

WORD = re.compile(r"[^\W_]+")
ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e",
)  # fmt: skip
ROOT = 4
"""No root is shorter than this."""


@lru_cache(maxsize=65_536)
def _root(word: str, language: str) -> str:
    """A root that is good enough to tell how much two sentences share, in a fraction of a real stemmer's time."""
    if word in words_of(language).stop_words:
        return ""
    ending = next((end for end in ENDINGS if word.endswith(end) and len(word) - len(end) >= ROOT), "")
    return word.removesuffix(ending)


def roots_of(text: str, language: str) -> frozenset[str]:
    """The roots of the words that say something."""
    roots = {_root(word, language) for word in WORD.findall(level(text))}
    roots.discard("")
    return frozenset(roots)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common, of all that they have."""
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def containment(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter text's words that the longer one has too."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
