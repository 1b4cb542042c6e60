"""The order in which candidates wait."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.crawl.frontier import CrawlCandidate, Frontier
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import EntryRef


@dataclass(frozen=True)
class Waiting:
    """A page that waits, and its points."""

    points: int
    depth: int
    book: str
    path: str

    @property
    def ref(self) -> EntryRef:
        return EntryRef(BookId(self.book), self.path)

    @property
    def place(self) -> tuple[int, int, EntryRef]:
        """Where it belongs: best score first, then the shallower page, then book and path."""
        return (-self.points, self.depth, self.ref)


POINTS = st.integers(-2, 2)
"""Few, so that many are equal."""

ROWS = st.lists(
    st.builds(Waiting, POINTS, st.integers(0, 3), st.sampled_from("ab"), st.sampled_from("pqrstuvw")),
    unique_by=lambda row: row.ref,
    max_size=12,
)


class Line:
    """A frontier and the points its candidates have at the moment."""

    def __init__(self, rows: Iterable[Waiting], *, by_depth: bool = False) -> None:
        self.points: dict[EntryRef, int] = {}
        self.frontier = Frontier(lambda candidate: float(self.points[candidate.ref]), by_depth=by_depth)
        for row in rows:
            self.put(row)

    def put(self, row: Waiting) -> None:
        self.points[row.ref] = row.points
        candidate = self.frontier.get(row.ref) or CrawlCandidate(row.ref, row.path, row.depth)
        candidate.depth = row.depth
        self.frontier.put(candidate)

    def emptied(self, level: int = 0) -> list[EntryRef]:
        """All that wait on a level, as they come."""
        taken = []
        while (best := self.frontier.best(level)) is not None:
            taken.append(best.ref)
            self.frontier.remove(best.ref)
        return taken


def in_place(rows: Iterable[Waiting]) -> list[EntryRef]:
    return [row.ref for row in sorted(rows, key=lambda row: row.place)]


@given(ROWS, st.data())
def test_the_order_does_not_depend_on_arrival(rows: list[Waiting], data: st.DataObject) -> None:
    """Equal scores come out the same way whatever order they went in: by depth, then by book and path (R141, R142)."""
    arrived = data.draw(st.permutations(rows))
    assert Line(arrived).emptied() == Line(rows).emptied() == in_place(rows)


@given(ROWS, st.data())
def test_by_depth_each_level_has_its_own_order(rows: list[Waiting], data: st.DataObject) -> None:
    """Where depth goes first, a level has just the candidates of that depth, the best first (R52, R142)."""
    line = Line(data.draw(st.permutations(rows)), by_depth=True)
    assert line.frontier.levels() == sorted({row.depth for row in rows})
    for depth in range(4):
        assert line.emptied(depth) == in_place(row for row in rows if row.depth == depth)
    assert line.frontier.levels() == []


@given(ROWS, st.lists(st.tuples(POINTS, st.integers(0, 3)), min_size=12, max_size=12), st.booleans())
def test_a_candidate_placed_again_counts_once(
    rows: list[Waiting], changes: list[tuple[int, int]], by_depth: bool
) -> None:
    """When what speaks for a page has changed, it is found at its new place and at no other (R51)."""
    line = Line(rows, by_depth=by_depth)
    later = [Waiting(points, depth, row.book, row.path) for row, (points, depth) in zip(rows, changes, strict=False)]
    for row in later:
        line.put(row)
    assert len(line.frontier) == len(rows)
    for depth in range(4 if by_depth else 1):
        assert line.emptied(depth) == in_place(row for row in later if row.depth == depth or not by_depth)
    assert len(line.frontier) == 0


@given(ROWS, st.lists(POINTS, min_size=12, max_size=12))
def test_all_are_placed_again_after_something_that_concerns_all(rows: list[Waiting], changes: list[int]) -> None:
    """Once reordered, candidates come by the scores they have now (R86)."""
    line = Line(rows)
    later = [Waiting(points, row.depth, row.book, row.path) for row, points in zip(rows, changes, strict=False)]
    line.points = {row.ref: row.points for row in later}
    line.frontier.reorder()
    assert [candidate.ref for candidate in line.frontier.in_order()] == in_place(later)
    assert line.emptied() == in_place(later)


@given(ROWS, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_a_score_that_has_sunk_is_noticed(rows: list[Waiting], losses: list[int]) -> None:
    """A candidate that is worth less than when it was placed does not go before better ones (R53)."""
    line = Line(rows)
    later = [Waiting(row.points - loss, row.depth, row.book, row.path) for row, loss in zip(rows, losses, strict=False)]
    line.points = {row.ref: row.points for row in later}
    assert line.emptied() == in_place(later)


@given(ROWS)
def test_listing_takes_nothing_away(rows: list[Waiting]) -> None:
    """Looking at the best, or at all in order, leaves them where they are."""
    line = Line(rows)
    best = line.frontier.best()
    assert [candidate.ref for candidate in line.frontier.in_order()] == in_place(rows)
    assert line.frontier.best() is best
    assert len(line.frontier) == len(rows)


@pytest.mark.parametrize("by_depth", [True, False])
def test_a_frontier_knows_its_candidates(by_depth: bool) -> None:
    """A frontier knows who is in it, and who was taken out (R51)."""
    row = Waiting(1, 0, "a", "p")
    line = Line([row], by_depth=by_depth)
    assert row.ref in line.frontier
    line.frontier.remove(row.ref)
    line.frontier.remove(row.ref)
    assert row.ref not in line.frontier
    assert line.frontier.get(row.ref) is None
    assert line.frontier.best() is None
