"""The pages of a run and the links among them: what a reader explores, page by page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwiresearch.claims.claim import Claim
from kiwiresearch.ids import BookId
from kiwiresearch.research.export.reading import RunGraph, RunLink, read_run
from kiwiresearch.search.hit import ScoreLine
from kiwiresearch.web.desk.run_frame import GRAPH, RunFrame
from kiwiresearch.web.problems import NotInRun
from kiwiresearch.zim.entry import EntryRef

MOST_LINKS = 4_000
"""So many links are drawn at most: those that led to pages first, then the heaviest."""


TERM = re.compile(r"(?:^|, )([^,]+) ([+-][0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)(?=, |$)")
"""A term of the points of a page, as an export of the graph writes it."""


@dataclass(frozen=True, slots=True)
class GraphPage:
    """A page of the graph, by its number from 1: those that were read first, in their order."""

    number: int
    ref: EntryRef
    title: str
    language: str
    was_read: bool
    depth: int
    points: float
    terms: tuple[ScoreLine, ...]
    """What its points are the sum of."""
    reason: str
    """Why it was chosen, in English."""
    claims: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page at the other end of a link, and the words that link to it."""

    page: GraphPage
    anchor_text: str
    section: str


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """All pages of a run's graph, and the links among them by their numbers."""

    pages: tuple[GraphPage, ...]
    links: tuple[tuple[int, int, RunLink], ...]

    def page(self, number: int) -> GraphPage:
        if not 1 <= number <= len(self.pages):
            raise NotInRun(
                f"The graph of this run has no page {number}.", remedy="Choose one from the list of its pages."
            )
        return self.pages[number - 1]

    def out_of(self, page: GraphPage) -> list[Neighbour]:
        """Where the page links to."""
        return [
            Neighbour(self.page(to), link.anchor_text, link.section)
            for one, to, link in self.links
            if one == page.number
        ]

    def into(self, page: GraphPage) -> list[Neighbour]:
        """Which pages link to it."""
        return [
            Neighbour(self.page(one), link.anchor_text, link.section)
            for one, to, link in self.links
            if to == page.number
        ]

    def record(self) -> dict[str, Any]:
        """What a script draws: names and sizes, and for each link whether it was the first to lead to its page."""
        led = self._led()
        ranked = sorted(self.links, key=lambda one: ((one[0], one[1]) not in led, -one[2].weight, one[0], one[1]))
        return {
            "pages": [
                {"n": one.number, "title": one.title, "depth": one.depth, "read": one.was_read, "claims": one.claims}
                for one in self.pages
            ],
            "links": [[one, to, (one, to) in led] for one, to, _ in ranked[:MOST_LINKS]],
        }

    def _led(self) -> frozenset[tuple[int, int]]:
        """For each page the link that led there first: from a page one link nearer, else from the first that was read.

        A page that the search began with was led to by none.
        """
        first: dict[int, tuple[bool, int]] = {}
        for one, to, _ in self.links:
            source, target = self.pages[one - 1], self.pages[to - 1]
            if one != to and source.depth <= target.depth and target.depth > 0:
                way = (target.depth - source.depth != 1, one)
                first[to] = min(first.get(to, way), way)
        return frozenset((one, to) for to, (_, one) in first.items())


def graph_of(run: RunFrame) -> LinkGraph:
    """The graph of a run, checked field by field."""
    read = run.part(GRAPH, _read)
    numbers = {page.ref: number for number, page in enumerate(read.pages, 1)}
    links = tuple((numbers[link.source], numbers[link.target], link) for link in read.links)
    return LinkGraph(_pages(run, read), links)


def _read(file: Path) -> RunGraph:
    return read_run(file.parent)


def _pages(run: RunFrame, read: RunGraph) -> tuple[GraphPage, ...]:
    counts = Counter(claim.ref for claim in run.claims)
    pages = []
    for number, page in enumerate(read.pages, 1):
        ref = EntryRef(BookId(page.book.id), page.path)
        pages.append(
            GraphPage(
                number=number,
                ref=ref,
                title=page.label,
                language=page.book.language,
                was_read=page.state == "visited",
                depth=page.depth,
                points=page.priority_score,
                terms=tuple(ScoreLine(found[1], float(found[2])) for found in TERM.finditer(page.lines)),
                reason=page.reason,
                claims=counts[ref],
            )
        )
    return tuple(pages)


def best_claims(run: RunFrame, page: GraphPage, most: int) -> Sequence[Claim]:
    """The surest claims of a page."""
    of_page = [claim for claim in run.claims if claim.ref == page.ref]
    return sorted(of_page, key=lambda claim: -claim.confidence)[:most]
