"""Rows of lists without relatives, such as registers and indexes: which of them mean one person."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

from rapidfuzz.distance import OSA, JaroWinkler

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.resolve.features import probability
from kiwiresearch.kin.resolve.pairs import Pair
from kiwiresearch.kin.resolve.profile import sound
from kiwiresearch.text.words import fold

ColumnKind = Literal["name", "text", "number"]
"""Names may change places and are found by sound; numbers are dates and ids too, where a digit may be wrong."""

PART_FOR = (((0.999), 1.0), (0.92, 0.75), (0.85, 0.45), (0.75, 0.1))
"""How alike two values are, and which part of the points of that value they get."""
MAX_POINTS = 7.5
SMOOTHING = 1.0
MAX_OF_BLOCK = 120
ONE_DIGIT = 0.9
TWO_DIGITS = 0.8
SWAPPED = 0.8


@dataclass(frozen=True, slots=True)
class Column:
    """A field of the rows; `against` are the log-odds when both rows have it and it differs."""

    name: str
    kind: ColumnKind = "text"
    against: float = -2.0
    weight: float = 1.0
    """Less than one for what goes along with another column, as a state does with a postcode."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Two rows and how likely they mean one person; `points` are by column, in log-odds."""

    pair: Pair
    score: float
    points: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value:+.1f}" for name, value in self.points if value)
        return f"{self.score:.3f} ({told or 'nothing to compare'})"


Row = Mapping[str, str]


def link(
    first: Mapping[str, Row],
    second: Mapping[str, Row] | None,
    columns: Sequence[Column],
    *,
    least: float = 0.5,
) -> tuple[Linked, ...]:
    """Pairs of rows that are probably one person, the surest first.

    Between two lists nobody is taken twice; within one list (`second` is None) one
    person may stand there any number of times.
    """
    if not columns:
        raise BadSettings("Rows without columns cannot be compared.", remedy="Name at least one column.")
    table = Table(first, second or {}, columns)
    found = [linked for linked in map(table.linked, table.pairs(is_one_list=second is None)) if linked.score >= least]
    found.sort(key=lambda one: (-sum(points for _, points in one.points), one.pair))
    return tuple(found) if second is None else tuple(_one_to_one(found))


def _one_to_one(found: Iterable[Linked]) -> Iterator[Linked]:
    taken: set[tuple[int, str]] = set()
    for one in found:
        ends = set(enumerate(one.pair))
        if not taken & ends:
            taken |= ends
            yield one


class Table:
    """Rows made comparable, and how common each value is."""

    def __init__(self, first: Mapping[str, Row], second: Mapping[str, Row], columns: Sequence[Column]) -> None:
        self._columns = columns
        self._first, self._second = tuple(first), tuple(second)
        self._values = {
            (side, one): {column.name: fold(row.get(column.name, "")) for column in columns}
            for side, rows in enumerate((first, second))
            for one, row in rows.items()
        }
        self._common = {column.name: Counter(row[column.name] for row in self._values.values()) for column in columns}
        names = [column.name for column in columns if column.kind == "name"]
        self._swaps = list(combinations(names, 2))
        self._kinds = {column.name: column for column in columns}
        self._prior = -math.log(max(len(first), len(second), 2)) - 0.5

    def pairs(self, *, is_one_list: bool) -> tuple[Pair, ...]:
        """Rows that share a value that few have, or two sounds or values together."""
        blocks: dict[tuple[str, ...], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for (side, one), row in self._values.items():
            for key in self._keys(row):
                blocks[key][side].append(one)
        found: set[Pair] = set()
        for ours, theirs in blocks.values():
            if is_one_list and len(ours) <= MAX_OF_BLOCK:
                found.update((min(pair), max(pair)) for pair in combinations(ours, 2))
            elif max(len(ours), len(theirs)) <= MAX_OF_BLOCK:
                found.update(product(ours, theirs))
        return tuple(sorted(found))

    def _keys(self, row: Row) -> set[tuple[str, ...]]:
        codes = [
            (column.kind if column.kind == "name" else column.name, sound(value) if column.kind == "name" else value)
            for column in self._columns
            if (value := row[column.name])
        ]
        single = {("one", *code) for code in codes}
        return single | {("two", *min(pair), *max(pair)) for pair in combinations(sorted(codes), 2)}

    def linked(self, pair: Pair) -> Linked:
        one = self._values[0, pair[0]]
        other = self._values[1, pair[1]] if (1, pair[1]) in self._values else self._values[0, pair[1]]
        points = {column.name: self._points(column, one[column.name], other[column.name]) for column in self._columns}
        for first, second in self._swaps:
            crossed = {
                first: SWAPPED * self._points(self._kinds[first], one[first], other[second]),
                second: SWAPPED * self._points(self._kinds[second], one[second], other[first]),
            }
            if sum(crossed.values()) > points[first] + points[second]:
                points |= crossed
        return Linked(pair, probability(self._prior + sum(points.values())), tuple(points.items()))

    def _points(self, column: Column, one: str, other: str) -> float:
        if not one or not other:
            return 0.0
        like = _likeness(column.kind, one, other)
        part = next((part for least, part in PART_FOR if like >= least), None)
        if part is None:
            return column.against
        common = self._common[column.name]
        count = max(common[one], common[other]) + SMOOTHING
        return part * column.weight * min(-math.log(count / (len(self._values) + SMOOTHING)), MAX_POINTS)


def _likeness(kind: ColumnKind, one: str, other: str) -> float:
    if one == other:
        return 1.0
    if kind == "number":
        wrong = OSA.distance(one, other, score_cutoff=2)
        return {1: ONE_DIGIT, 2: TWO_DIGITS}.get(wrong, 0.0) if max(len(one), len(other)) > 3 else 0.0
    return JaroWinkler.similarity(one, other)
