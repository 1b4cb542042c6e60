"""The numbers and dates of a sentence, found quickly where there are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.claims.tables import Grammar
from kiwiresearch.claims.types import Words
from kiwiresearch.text.quantities import Quantity, quantities_in
from kiwiresearch.text.when import Dated, dates_in

FIGURE = re.compile(r"\d+")
ASCII_FIGURE = re.compile("[0-9]")


class Figures(NamedTuple):
    """The numbers and dates of a sentence."""

    quantities: Sequence[Quantity]
    dates: Sequence[Dated]


def is_counting(text: str, words: Words, grammar: Grammar) -> bool:
    """Whether a sentence may have numbers or dates at all."""
    # A pattern for the ten figures alone is five times as fast.
    figure = ASCII_FIGURE if text.isascii() else FIGURE
    return figure.search(text) is not None or _has_number_word(words, grammar)


def _has_number_word(words: Words, grammar: Grammar) -> bool:
    """'Ten years', and also 'a ten-year war'."""
    if not grammar.number_words.isdisjoint(words.different):
        return True
    return any(word.partition("-")[0] in grammar.number_words for word in words.different if "-" in word)


def figures_of(text: str, words: Words, language: str, grammar: Grammar) -> Figures:
    """The numbers and dates of a sentence; where all figures belong to dates, nothing else is looked for."""
    dates = dates_in(text, language)
    spans = [(one.start, one.end) for one in dates]
    left = not _has_number_word(words, grammar) and all(
        any(start <= found.start() < end for start, end in spans) for found in FIGURE.finditer(text)
    )
    return Figures((), dates) if left else Figures(quantities_in(text, language, not_in=spans), dates)


NOTHING = Figures((), ())
