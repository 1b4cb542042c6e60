"""How far a crawl goes, how many pages it takes, and in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.crawl.trails import (
    TEXT,
    a_shelf_book,
    end_step,
    lines,
    looks,
    settings,
    state_after,
    steps_of,
    taken,
    total,
    visit,
    visits,
)

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep, VisitStep
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text import count_of

CHAIN = {
    "Salt road": f"The salt road crosses a [[Bridge]].\n{TEXT}",
    "Bridge": f"It stands over a [[River]].\n{TEXT}",
    "River": f"It flows to the [[Sea]].\n{TEXT}",
    "Sea": f"It is wide.\n{TEXT}",
}
FAN = {
    "Salt road": f"The salt road had an [[Inn]], a [[Mill]], a [[Well]] and a [[Bridge]].\n{TEXT}",
    "Bridge": f"It stands over a [[River]] with [[Fish]].\n{TEXT}",
    "Inn": f"It has [[Beds]].\n{TEXT}",
    "Mill": f"It has [[Wheels]].\n{TEXT}",
    "Well": f"It has [[Water]].\n{TEXT}",
    **dict.fromkeys(("River", "Fish", "Beds", "Wheels", "Water"), TEXT),
}


def crawled(pages: dict[str, str] | OpenBook, **options: Any) -> list[CrawlStep]:
    book = pages if isinstance(pages, OpenBook) else a_shelf_book(pages)
    return steps_of(CrawlPlan([book], "salt road", settings=settings(**options)))


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
@pytest.mark.parametrize(
    ("max_depth", "pages"),
    [
        (0, {"Salt road": 0}),
        (1, {"Salt road": 0, "Bridge": 1}),
        (2, {"Salt road": 0, "Bridge": 1, "River": 2}),
        (3, {"Salt road": 0, "Bridge": 1, "River": 2, "Sea": 3}),
    ],
)
def test_depth_is_limited(strategy: str, max_depth: int, pages: dict[str, int]) -> None:
    """Seeds have depth 0, and each link adds one; no page lies deeper than max_depth (R3, R11, R90, R91, R153)."""
    steps = crawled(CHAIN, strategy=strategy, max_depth=max_depth)
    assert {step.title: step.depth for step in visits(steps)} == pages
    assert end_step(steps).remaining == 0


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
def test_a_page_at_the_last_depth_is_visited_and_not_expanded(strategy: str) -> None:
    """Links are followed only from pages above max_depth; those at max_depth are taken as they are (R92, R93)."""
    steps = crawled(CHAIN, strategy=strategy, max_depth=1)
    last = visit(steps, "Bridge")
    assert [(offer.title, offer.is_new) for offer in last.offers] == [("River", False)]
    assert end_step(steps).remaining == 0


def test_without_depth_only_seeds_are_taken(salt_book: OpenBook) -> None:
    """With max_depth 0 not even what the search found besides is visited (R92)."""
    assert taken(crawled(salt_book, max_depth=0)) == ["Salt road"]


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
@pytest.mark.parametrize("max_pages", [1, 2, 7, 14])
def test_a_crawl_stops_at_max_pages(salt_book: OpenBook, strategy: str, max_pages: int) -> None:
    """As many pages are taken as may be, each once, and the end says why and what was left (R10, R54, R153)."""
    steps = crawled(salt_book, strategy=strategy, max_pages=max_pages)
    assert len(taken(steps)) == len(set(taken(steps))) == max_pages
    assert end_step(steps).why == f"the limit of {count_of(max_pages, 'page')} was reached"
    assert end_step(steps).remaining > 0


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
def test_a_crawl_stops_when_nothing_is_left(strategy: str) -> None:
    """When every candidate is visited or left for good, the crawl is over (R54)."""
    steps = crawled(FAN, strategy=strategy, max_pages=500)
    assert (end_step(steps).why, end_step(steps).remaining) == ("there were no more pages to read", 0)
    assert sorted(taken(steps)) == sorted(FAN)


def test_priority_takes_the_best_next(salt_book: OpenBook) -> None:
    """A page is taken when no other candidate has more points, at whatever depth it lies (R53, R86)."""
    steps = crawled(salt_book, max_pages=15)
    chosen = [step for step in visits(steps) if step.runner_up]
    assert len(chosen) > 10
    for step in chosen:
        assert total(step) >= float(step.runner_up.rsplit(" ", 1)[1]), f"{step.title} before {step.runner_up}"
    depths = [step.depth for step in visits(steps)]
    assert depths != sorted(depths)


def test_by_depth_the_best_of_each_depth_are_taken() -> None:
    """Of four pages at depth 1 the two best are taken, and then two of depth 2: each depth has its share (R52)."""
    steps = crawled(FAN, strategy="bfs", max_pages=5, max_depth=2)
    assert [step.depth for step in visits(steps)] == [0, 1, 1, 2, 2]
    state = state_after(CrawlPlan([], "", settings=settings(strategy="bfs")), steps[:2])
    first = [candidate.title for candidate in state.frontier.in_order()]
    assert taken(steps)[1:3] == first[:2]


def test_by_depth_what_is_left_over_goes_to_the_lowest_depth() -> None:
    """Where deeper levels have too little, the lowest is gone on with, until max_pages (R52, R54)."""
    steps = crawled({**CHAIN, "Salt road": FAN["Salt road"], **dict.fromkeys(("Inn", "Mill", "Well"), TEXT)},
                    strategy="bfs", max_pages=6, max_depth=2)  # fmt: skip
    assert sorted(step.depth for step in visits(steps)) == [0, 1, 1, 1, 1, 2]


def test_the_strategies_differ() -> None:
    """The same book is walked in another order by each strategy (R13)."""
    best = crawled(FAN, strategy="priority", max_pages=5, max_depth=2)
    assert [step.depth for step in visits(best)] == [0, 1, 1, 1, 1]
    assert taken(best) != taken(crawled(FAN, strategy="bfs", max_pages=5, max_depth=2))


def test_depth_is_a_soft_limit_of_priority() -> None:
    """A deeper page has to be that much better: the depth takes off points in this strategy only (R53)."""
    deep = crawled(CHAIN, strategy="priority", max_depth=3)
    assert [lines(step).get("depth", 0) for step in visits(deep)][:2] == [0, 0]
    assert lines(visit(deep, "Sea"))["depth"] < lines(visit(deep, "River"))["depth"] < 0
    assert all("depth" not in lines(step) for step in visits(crawled(CHAIN, strategy="bfs", max_depth=3)))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_so_many_links_of_a_page_are_added(most: int) -> None:
    """Of each page, the best max_links_per_page links become candidates, and no more (R12, R89)."""
    text = f"The salt road. A [[Fir]].\nbox: Tree = [[Oak]]\n== A ==\nA [[Pine]].\n* [[Yew]]\n* [[Ash]]\n{TEXT}"
    pages = {"Salt road": text, **dict.fromkeys(("Fir", "Oak", "Pine", "Yew", "Ash"), TEXT)}
    steps = crawled(pages, max_links_per_page=most)
    assert taken(steps) == ["Salt road", "Fir", "Oak", "Pine"][: most + 1]
    assert sum(offer.is_new for offer in visit(steps, "Salt road").offers) == most


def test_pages_that_are_candidates_already_need_no_place() -> None:
    """A link to what the search has found counts as a link, and does not use up max_links_per_page (R89)."""
    pages = {
        "Salt road": f"The salt road has a [[Toll]] and an [[Inn]].\n{TEXT}",
        "Toll": f"It was paid on the salt road.\n{TEXT}",
        "Inn": TEXT,
    }
    steps = crawled(pages, max_links_per_page=1)
    assert {offer.title: offer.is_new for offer in visit(steps, "Salt road").offers} == {"Toll": False, "Inn": True}
    assert taken(steps) == ["Salt road", "Toll", "Inn"]
    assert lines(visit(steps, "Toll"))["links from relevant pages"] > 0


def test_a_page_that_was_crowded_out_may_come_by_another_page() -> None:
    """A link that found no place is not a candidate, until another page offers it (R89)."""
    pages = {
        "Salt road": f"The salt road. A [[Fir]].\n== A ==\n* [[Yew]]\n{TEXT}",
        "Fir": f"It is like a [[Yew]].\n{TEXT}",
        "Yew": TEXT,
    }
    assert taken(crawled(pages, max_links_per_page=1, max_depth=1)) == ["Salt road", "Fir"]
    deeper = crawled(pages, max_links_per_page=1, max_depth=2)
    assert (taken(deeper), visit(deeper, "Yew").depth) == (["Salt road", "Fir", "Yew"], 2)


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
def test_a_page_reached_twice_has_the_smaller_depth(strategy: str) -> None:
    """What is offered at depth 2 and was found at depth 1, or the other way round, lies at depth 1 (R91)."""
    pages = {
        "Salt road": f"The salt road has a [[Toll]].\n{TEXT}",
        "Toll": f"On the salt road, the [[Inn]] and the [[Mill]].\n{TEXT}",
        "Inn": f"An inn of the salt road.\n{TEXT}",
        "Mill": f"A mill.\n{TEXT}",
    }
    depths = {step.title: step.depth for step in visits(crawled(pages, strategy=strategy))}
    assert depths == {"Salt road": 0, "Toll": 1, "Inn": 1, "Mill": 2}


def test_a_nearer_way_to_a_candidate_is_taken_over() -> None:
    """A candidate first met three links away, and then two, is two links away; a longer way changes nothing (R91)."""
    crawl = CrawlPlan([a_shelf_book(CHAIN)], "salt road", settings=settings(max_depth=3))
    start, seed, *_ = steps_of(crawl)
    assert isinstance(seed, VisitStep)
    fish = seed.offers[0]._replace(path="Fish", title="Fish", is_new=True)
    ways = [replace(seed, path=f"Way {n}", depth=depth, offers=(fish,)) for n, depth in enumerate((2, 1, 2))]
    depths = []
    for number in range(1, 4):
        state = state_after(crawl, [start, seed, *ways[:number]])
        depths += [candidate.depth for candidate in state.frontier.in_order() if candidate.title == "Fish"]
    assert depths == [3, 2, 2]


def test_a_page_that_is_less_than_it_seemed_goes_behind_the_next_best(salt_book: OpenBook) -> None:
    """A page is read before it is taken: what it shows may put another one first, and the crawl says so (R48, R55)."""
    pages = {
        "Salt road": f"The salt road had an [[Abbey]], and [[Bells]].\n{TEXT}",
        "Abbey": "Short.",
        "Bells": f"They ring.\n{TEXT}",
    }
    steps = crawled(pages)
    assert taken(steps) == ["Salt road", "Bells", "Abbey"]
    (look,) = looks(steps)
    assert (look.title, look.is_dropped) == ("Abbey", False)
    assert look.why.startswith("stub -")
    assert "'Bells' has" in look.why
