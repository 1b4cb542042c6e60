"""Which pages a crawl begins with, and why others were passed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwiresearch.crawl.step import Considered
from kiwiresearch.crawl.topic import Topic
from kiwiresearch.crawl.understood import Understood, lists_senses
from kiwiresearch.ids import BookId
from kiwiresearch.search.find import Findings
from kiwiresearch.search.hit import Hit
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.zim.entry import EntryRef

CLOSE = 0.7
"""A page with less of the best one's score is no seed, unless the topic names it."""

WELL_COVERED = 0.5
"""Where the best page is so much of what the topic names, pages that are only close to it are no seeds."""

PASSED_OVER = 8
"""Of the pages that were no seeds, so many are told."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A hit, and how it matches the topic."""

    hit: Hit
    lists_senses: bool
    is_whole: bool
    """Its name is the topic."""
    is_sense: bool
    names: frozenset[str]
    """The words of the topic's names that are its own name, if it says nothing else."""
    coverage: float

    @classmethod
    def of(cls, hit: Hit, topic: Topic, senses: frozenset[EntryRef]) -> _Page:
        lines = {line.signal for line in hit.score.lines}
        name = hit.alias or hit.title
        coverage = topic.covered_by(name)
        is_sense = hit.ref in senses
        qualifier = QUALIFIER.search(name)
        # 'Queen (band)' is not what 'children of Queen Victoria' names; of a bare name it is a sense.
        if qualifier and coverage < 1 and not topic.has_all(qualifier[1]):
            coverage = 0.0
        names = topic.name_stems(name) if coverage else frozenset()
        return cls(hit, lists_senses(hit), "title is the query" in lines, is_sense, names, coverage)


def choose(
    findings: Findings,
    topics: Mapping[BookId, Topic],
    most: int,
    refused: Mapping[EntryRef, str],
    understood: Understood,
) -> tuple[tuple[Considered, ...], tuple[Considered, ...]]:
    """One to three seeds, and the pages that were passed over, each with the reason.

    Exact titles go before redirects, those before close matches; a page that
    only lists senses is never a seed, its senses are. A topic that names two
    things has both. What the filters refuse is a seed only if the topic is its
    very title. What the topic was understood as comes before all that.
    """
    senses = frozenset(sense.ref for sense in findings.senses)
    pages = [_Page.of(hit, topics[hit.ref.book], senses) for hit in findings.hits]
    fit = [page for page in pages if not page.lists_senses and (page.hit.ref not in refused or page.is_whole)]
    chosen = _understood(fit, understood)[:most] or _chosen(fit, most)
    heads = {hit.ref for hit in understood.head_pages}
    others = {hit.ref for hit in understood.other_pages}
    seeds = tuple(
        _considered(
            page,
            _why(page, is_first=number == 0, is_other=page.hit.ref in others),
            page.coverage,
            is_head=page.hit.ref in heads,
        )
        for number, page in enumerate(chosen)
    )
    passed = [page for page in pages if page not in chosen][:PASSED_OVER]
    return seeds, tuple(_considered(page, refused.get(page.hit.ref) or _why_not(page, seeds, most)) for page in passed)


def _understood(pages: Sequence[_Page], understood: Understood) -> list[_Page]:
    """The page about the thing, in each book that has one; of several senses the likeliest. Then what else is named."""
    by_ref = {page.hit.ref: page for page in pages}
    chosen: list[_Page] = []
    for hit in understood.head_pages:
        page = by_ref.get(hit.ref)
        if page is not None and page.hit.ref.book not in {one.hit.ref.book for one in chosen}:
            chosen.append(page)
    return chosen + [by_ref[hit.ref] for hit in understood.other_pages if hit.ref in by_ref]


def _chosen(pages: Sequence[_Page], most: int) -> list[_Page]:
    if not pages:
        return []
    best = pages[0]
    chosen, covered = [best], set(best.names)
    if best.is_whole and not best.is_sense:
        for page in pages[1:]:
            if page.is_whole and page.hit.ref.book not in {one.hit.ref.book for one in chosen}:
                chosen.append(page)
        return chosen[:most]
    for page in pages[1:]:
        if page.names and not page.names <= covered:
            chosen.append(page)
            covered |= page.names
    chosen += [page for page in pages[1:] if page.is_sense and page not in chosen]
    if best.coverage < WELL_COVERED and len(chosen) < most:
        close = CLOSE * best.hit.score.total
        chosen += [page for page in pages[1:] if page not in chosen and page.hit.score.total >= close]
    return chosen[:most]


def _why(page: _Page, *, is_first: bool, is_other: bool) -> str:
    hit = page.hit
    if page.is_sense:
        return "one of the senses of the topic's name"
    if page.is_whole:
        return f"{hit.alias!r} leads to it, and is the topic" if hit.alias else "its title is the topic"
    if page.coverage or is_other:
        return f"{hit.alias!r} leads to it, and stands in the topic" if hit.alias else "its title stands in the topic"
    return "it matches the topic's words best" if is_first else "it matches the topic's words nearly as well"


def _why_not(page: _Page, seeds: Sequence[Considered], most: int) -> str:
    if page.lists_senses:
        return "it only lists senses"
    if not seeds:
        return "it matches too little"
    if page.hit.score.total < CLOSE * max(seed.score for seed in seeds):
        return "its score is far from the best"
    if len(seeds) >= most:
        return f"{most} seeds are enough" if most > 1 else "one seed is enough"
    return "a seed stands for the topic"


def _considered(page: _Page, why: str, coverage: float = 0.0, *, is_head: bool = False) -> Considered:
    hit = page.hit
    return Considered(hit.ref.book, hit.ref.path, hit.title, why, hit.score.total, coverage, is_head)
