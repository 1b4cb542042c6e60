"""Whether the reasons of a model are about what it was shown; a verdict on other grounds is worth nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from kiwiresearch.text.fold import fold

WORD = re.compile(r"[^\W_]+")
SENTENCE_ENDS = re.compile(r"(?:^|[.!?…]\s+)$")
LEAST_DIGITS = 3
"""Shorter numbers are days and months, which can be written in other ways."""
OF_THE_TASK = frozenset({"record", "records", "person", "persons", "both", "first", "second", "json", "hypothesis"})


def made_up(reasons: Iterable[str], shown: str, *, terms: Collection[str] = ()) -> str:
    """The first name or year of the reasons that is not in what was shown, else nothing.

    `terms` are words that count like names, however they are written.
    """
    known = {fold(word) for word in WORD.findall(shown)} | OF_THE_TASK
    for reason in reasons:
        for found in WORD.finditer(reason):
            word = found[0]
            if fold(word) not in known and (fold(word) in terms or _names(reason, found.start(), word)):
                return word
    return ""


def _names(text: str, start: int, word: str) -> bool:
    """Whether a word is a year or a name; a capital that begins a sentence says nothing."""
    if any(map(str.isdigit, word)):
        return sum(map(str.isdigit, word)) >= LEAST_DIGITS
    return len(word) > 1 and word[0].isupper() and not SENTENCE_ENDS.search(text[:start])
