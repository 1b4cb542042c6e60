"""Which of thousands of sayings are worth comparing, and how those disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare import compare, reading_of
from kiwiresearch.claims.conflicts.events import PERSONAL
from kiwiresearch.claims.conflicts.saying import Disagreement, Saying

MOST_SAYINGS = 40
"""A word that more sayings than this have tells nothing of which two belong together."""

STRONG = 0.6
"""Among all pairs of a corpus few contradict, so weak signs are left out that count where two texts were picked."""

FEWEST_OF_VALUE = 2
FEWEST_WORDS = 4
"""Two sayings are compared if they share so many words around a value of one kind, or so many rare words at all."""


def pairs_to_compare(sayings: Sequence[Saying]) -> Iterator[tuple[int, int]]:
    """Pairs of sayings that may speak of the same thing, in order."""
    readings = [reading_of(saying) for saying in sayings]
    of_values = _shared([_value_marks(reading) for reading in readings])
    of_words = _shared([reading.content for reading in readings])
    found = {pair for pair, count in of_values.items() if count >= FEWEST_OF_VALUE}
    found |= {pair for pair, count in of_words.items() if count >= FEWEST_WORDS}
    yield from sorted(found)


def _value_marks(reading: Reading) -> frozenset[str]:
    marks = set()
    for value in reading.values:
        sort = value.key or (value.quantity.unit if value.quantity else value.what)
        marks |= {f"{sort} {stem}" for stem in value.near | reading.subject}
        if value.key in PERSONAL:  # a birth needs no more than one name that is the same
            marks |= {f"{sort} of {stem}" for stem in value.near | reading.subject}
    return frozenset(marks)


def _shared(marks: Sequence[frozenset[str]]) -> Counter[tuple[int, int]]:
    """How many marks each two sayings share, marks of too many left out."""
    places: dict[str, list[int]] = {}
    for number, mine in enumerate(marks):
        for mark in mine:
            places.setdefault(mark, []).append(number)
    counts: Counter[tuple[int, int]] = Counter()
    for numbers in places.values():
        if 1 < len(numbers) <= MOST_SAYINGS:
            counts.update(combinations(numbers, 2))
    return counts


def disagreements(sayings: Sequence[Saying]) -> list[tuple[int, int, Disagreement]]:
    """The clear disagreements among sayings, the clearest first."""
    found = []
    for one, other in pairs_to_compare(sayings):
        disagreement = compare(sayings[one], sayings[other])
        if disagreement is not None and disagreement.strength >= STRONG:
            found.append((one, other, disagreement))
    return sorted(found, key=lambda row: (-row[2].strength, row[0], row[1]))
