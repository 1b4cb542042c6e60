"""Linking rows of lists without relatives, such as registers and indexes, that mean the same person."""

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
"""Names may be swapped and are compared by sound too; numbers are also dates and IDs, in which a digit may be wrong."""

SHARE_BY_SIMILARITY = (((0.999), 1.0), (0.92, 0.75), (0.85, 0.45), (0.75, 0.1))
"""For two values of at least this similarity, the share of their points that they get."""
MAX_POINTS = 7.5
SMOOTHING = 1.0
MAX_BLOCK_SIZE = 120
ONE_WRONG_DIGIT = 0.9
TWO_WRONG_DIGITS = 0.8
SWAPPED_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows; `against` is the log-odds if both rows have a value and the values differ."""

    name: str
    kind: ColumnKind = "text"
    against: float = -2.0
    weight: float = 1.0
    """Less than one if the column depends on another one, as a state does on a postcode."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Two rows, the probability that they mean one person, and the points of each column in log-odds."""

    pair: Pair
    score: float
    points: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        described = ", ".join(f"{name} {value:+.1f}" for name, value in self.points if value)
        return f"{self.score:.3f} ({described or 'nothing to compare'})"


Row = Mapping[str, str]


def link(
    first: Mapping[str, Row],
    second: Mapping[str, Row] | None,
    columns: Sequence[Column],
    *,
    min_score: float = 0.5,
) -> tuple[Linked, ...]:
    """Pairs of rows that probably mean the same person, the most probable first.

    Between two lists, each row is linked at most once. Within one list (`second` is None), a person may occur any
    number of times.
    """
    if not columns:
        raise BadSettings("Rows without columns cannot be compared.", remedy="Name at least one column.")
    table = Table(first, second or {}, columns)
    links = [
        linked for linked in map(table.compare, table.pairs(is_one_list=second is None)) if linked.score >= min_score
    ]
    links.sort(key=lambda linked: (-sum(points for _, points in linked.points), linked.pair))
    return tuple(links) if second is None else tuple(_one_to_one(links))


def _one_to_one(links: Iterable[Linked]) -> Iterator[Linked]:
    taken: set[tuple[int, str]] = set()
    for linked in links:
        rows = set(enumerate(linked.pair))
        if not taken & rows:
            taken |= rows
            yield linked


class Table:
    """Rows in comparable form, and how common each value is."""

    def __init__(self, first: Mapping[str, Row], second: Mapping[str, Row], columns: Sequence[Column]) -> None:
        self._columns = columns
        self._first, self._second = tuple(first), tuple(second)
        self._values = {
            (side, row_id): {column.name: fold(row.get(column.name, "")) for column in columns}
            for side, rows in enumerate((first, second))
            for row_id, row in rows.items()
        }
        self._counts = {column.name: Counter(row[column.name] for row in self._values.values()) for column in columns}
        names = [column.name for column in columns if column.kind == "name"]
        self._swaps = list(combinations(names, 2))
        self._columns_by_name = {column.name: column for column in columns}
        self._prior = -math.log(max(len(first), len(second), 2)) - 0.5

    def pairs(self, *, is_one_list: bool) -> tuple[Pair, ...]:
        """Pairs of rows that share a rare value or sound, or two values or sounds together."""
        blocks: dict[tuple[str, ...], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for (side, row_id), row in self._values.items():
            for key in self._keys(row):
                blocks[key][side].append(row_id)
        pairs: set[Pair] = set()
        for first_ids, second_ids in blocks.values():
            if is_one_list and len(first_ids) <= MAX_BLOCK_SIZE:
                pairs.update((min(pair), max(pair)) for pair in combinations(first_ids, 2))
            elif max(len(first_ids), len(second_ids)) <= MAX_BLOCK_SIZE:
                pairs.update(product(first_ids, second_ids))
        return tuple(sorted(pairs))

    def _keys(self, row: Row) -> set[tuple[str, ...]]:
        codes = [
            (column.kind if column.kind == "name" else column.name, sound(value) if column.kind == "name" else value)
            for column in self._columns
            if (value := row[column.name])
        ]
        single = {("one", *code) for code in codes}
        return single | {("two", *min(pair), *max(pair)) for pair in combinations(sorted(codes), 2)}

    def compare(self, pair: Pair) -> Linked:
        first_row = self._values[0, pair[0]]
        second_row = self._values[1, pair[1]] if (1, pair[1]) in self._values else self._values[0, pair[1]]
        points = {
            column.name: self._points(column, first_row[column.name], second_row[column.name])
            for column in self._columns
        }
        for first, second in self._swaps:
            crossed = {
                first: SWAPPED_SHARE * self._points(self._columns_by_name[first], first_row[first], second_row[second]),
                second: SWAPPED_SHARE
                * self._points(self._columns_by_name[second], first_row[second], second_row[first]),
            }
            if sum(crossed.values()) > points[first] + points[second]:
                points |= crossed
        return Linked(pair, probability(self._prior + sum(points.values())), tuple(points.items()))

    def _points(self, column: Column, first: str, second: str) -> float:
        if not first or not second:
            return 0.0
        similarity = _similarity(column.kind, first, second)
        share = next((share for least, share in SHARE_BY_SIMILARITY if similarity >= least), None)
        if share is None:
            return column.against
        counts = self._counts[column.name]
        count = max(counts[first], counts[second]) + SMOOTHING
        return share * column.weight * min(-math.log(count / (len(self._values) + SMOOTHING)), MAX_POINTS)


def _similarity(kind: ColumnKind, first: str, second: str) -> float:
    if first == second:
        return 1.0
    if kind == "number":
        wrong_digits = OSA.distance(first, second, score_cutoff=2)
        return (
            {1: ONE_WRONG_DIGIT, 2: TWO_WRONG_DIGITS}.get(wrong_digits, 0.0)
            if max(len(first), len(second)) > 3
            else 0.0
        )
    return JaroWinkler.similarity(first, second)
