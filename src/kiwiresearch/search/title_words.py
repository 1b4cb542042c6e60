"""Words of titles that a mistyped word may stand for, found without walking through all of them.

One slip: every word one slip away is written down and looked up, a few
hundred lookups that do not depend on how many titles there are. Two slips:
words that begin or end with the same three letters and are about as long,
the commonest first, up to a fixed number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.distance import OSA

ONE_SLIP_FROM = 4
TWO_SLIPS_FROM = 6
LONGEST = 32
PIECE = 3
"""How many letters at one end must be right where there are two slips; the index is made of such pieces."""

PER_SIZE = 600
"""So many words of one beginning and length are looked at, the commonest."""

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзиклмнопрстуфхцчшщъыьэюяієґћђљњџј",
    "αβγδεζηθικλμνξοπρστυφχψω",
)

Ask = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Correction:
    """A word that titles have, how many slips away it is, and in how many titles it stands."""

    word: str
    distance: int
    count: int


def corrections(ask: Ask, word: str, limit: int) -> tuple[Correction, ...]:
    """What a folded word may have been meant to be: fewest slips first, then the commonest."""
    if not ONE_SLIP_FROM <= len(word) <= LONGEST or not word.isalpha():
        return ()
    found = _one_slip(ask, word)
    if len(found) < limit and len(word) >= TWO_SLIPS_FROM:
        found |= {other: hit for other, hit in _two_slips(ask, word).items() if other not in found}
    found.pop(word, None)
    ranked = sorted(found.values(), key=lambda hit: (hit.distance, -hit.count, hit.word))
    return tuple(ranked[: max(limit, 0)])


def slips(word: str) -> Iterator[str]:
    """Every spelling one slip away: a letter left out, too many, wrong or in the wrong place."""
    letters = next((alphabet for alphabet in ALPHABETS if set(word) <= set(alphabet)), "")
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
            rest = head + tail[1:]
            for place in range(len(word)):  # 'Ghandi': the letter at home elsewhere
                yield rest[:place] + tail[0] + rest[place:]
        for letter in letters:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]


def _one_slip(ask: Ask, word: str) -> dict[str, Correction]:
    tried = sorted(set(slips(word)))
    marks = ",".join("?" * len(tried))
    rows = ask(f"SELECT word, count FROM words WHERE word IN ({marks})", tried)  # noqa: S608
    return {other: Correction(other, 1, count) for other, count in rows if len(other) >= PIECE}


def _two_slips(ask: Ask, word: str) -> dict[str, Correction]:
    found = {}
    for piece, ends in ((word[:PIECE], "substr(word, 1, 3)"), (word[-PIECE:], "substr(word, -3)")):
        for size in range(len(word) - 2, len(word) + 3):
            sql = f"SELECT word, count FROM words WHERE {ends} = ? AND length(word) = ? ORDER BY count DESC LIMIT ?"  # noqa: S608
            for other, count in ask(sql, (piece, size, PER_SIZE)):
                distance = OSA.distance(word, other, score_cutoff=2)
                if distance <= 2:
                    found[other] = Correction(other, distance, count)
    return found
