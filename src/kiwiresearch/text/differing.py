"""How two sentences differ, word by word: what both say, and what only one of them says."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from typing import NamedTuple

from rapidfuzz.distance import Indel

from kiwiresearch.text.words import CJK

PIECE = re.compile(rf"\s+|{CJK.pattern}|[^\W_]+(?:[.,'’:/-][^\W_]+)*|.", re.DOTALL)
"""A word or figure, a space, a sign; scripts that write words together are taken letter by letter."""

FIGURE = re.compile(r"\d")
ALIKE = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("‘’‛′`´", "'") | dict.fromkeys("“”„«»″", '"'))
"""Signs of which each maker of a book has its own."""

COMMA = re.compile(r"[,;](?!\d)")
"""Within a figure it is part of that; elsewhere it is a matter of style."""


class Run(NamedTuple):
    """Some words in a row, which stand in the other sentence too or do not."""

    text: str
    differs: bool


def plainly(text: str) -> str:
    """A sentence as it is compared: case, spaces, commas, full stop, and kinds of dashes and quotes do not matter."""
    signs = COMMA.sub(" ", unicodedata.normalize("NFKC", text).translate(ALIKE))
    return " ".join(signs.casefold().split()).rstrip(". ")


def words_of(text: str) -> tuple[str, ...]:
    """The words and figures of a sentence as they are compared, without signs."""
    return tuple(piece for piece in PIECE.findall(plainly(text)) if any(char.isalnum() for char in piece))


def without_figures(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with every figure as the same sign: what is said, whatever the numbers are."""
    return tuple("0" if FIGURE.search(word) else word for word in words)


def likeness(one: tuple[str, ...], other: tuple[str, ...], least: float = 0.0) -> float:
    """The share of words that two sentences have in common, in their order; 0 where it is below `least`."""
    return Indel.normalized_similarity(one, other, score_cutoff=least)


def marked(one: str, other: str) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Both sentences in runs of words, those marked that the other does not have."""
    first, second = PIECE.findall(one), PIECE.findall(other)
    match = SequenceMatcher(None, [piece.casefold() for piece in first], [p.casefold() for p in second], autojunk=False)
    left: list[Run] = []
    right: list[Run] = []
    for kind, start, end, other_start, other_end in match.get_opcodes():
        _add(left, "".join(first[start:end]), differs=kind != "equal")
        _add(right, "".join(second[other_start:other_end]), differs=kind != "equal")
    return _joined(left), _joined(right)


def _add(runs: list[Run], text: str, *, differs: bool) -> None:
    if text:
        runs.append(Run(text, differs))


def _joined(runs: list[Run]) -> tuple[Run, ...]:
    """Two marked runs with nothing but a space between them are one."""
    found: list[Run] = []
    for number, run in enumerate(runs):
        is_gap = not run.differs and not run.text.strip() and 0 < number < len(runs) - 1
        differs = run.differs or is_gap
        if found and found[-1].differs == differs:
            found[-1] = Run(found[-1].text + run.text, differs)
        else:
            found.append(Run(run.text, differs))
    return tuple(found)
