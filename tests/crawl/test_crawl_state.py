"""The state of a crawl, after any of its steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings as examples
from tests.crawl.any_book import BOOKS, SETTINGS
from tests.crawl.trails import a_shelf_book, end_step, start_step, state_after, steps_of, visits

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep, VisitStep


def crawled(pages: dict[str, str], chosen: CrawlSettings) -> tuple[CrawlPlan, list[CrawlStep]]:
    crawl = CrawlPlan([a_shelf_book(pages)], "salt road", settings=chosen)
    return crawl, steps_of(crawl)


@examples(max_examples=25)
@given(BOOKS, SETTINGS)
def test_a_page_waits_or_was_visited(pages: dict[str, str], chosen: CrawlSettings) -> None:
    """No page is both a candidate and visited, and none is taken that was not a candidate before (R51)."""
    crawl, steps = crawled(pages, chosen)
    for number, step in enumerate(steps):
        state = state_after(crawl, steps[:number])
        waiting = {candidate.ref for candidate in state.frontier.in_order()}
        assert waiting.isdisjoint(state.visited)
        if isinstance(step, VisitStep):
            assert step.ref in waiting
    final = state_after(crawl, steps)
    assert len(final.frontier) == end_step(steps).remaining
    assert list(final.visited.values()) == visits(steps)


@examples(max_examples=25)
@given(BOOKS, SETTINGS)
def test_no_limit_is_passed(pages: dict[str, str], chosen: CrawlSettings) -> None:
    """Pages, depth, links of a page and seeds stay within what was set (R10, R11, R12, R54, R77, R93)."""
    crawl, steps = crawled(pages, chosen)
    taken = visits(steps)
    assert len(taken) == len({step.ref for step in taken}) <= chosen.max_pages
    assert len(start_step(steps).seeds) <= chosen.max_seeds
    assert all(step.depth <= chosen.max_depth for step in taken)
    assert all(sum(offer.is_new for offer in step.offers) <= chosen.max_links_per_page for step in taken)
    assert all(not offer.is_new for step in taken if step.depth == chosen.max_depth for offer in step.offers)
    assert all(candidate.depth <= chosen.max_depth for candidate in state_after(crawl, steps).frontier.in_order())


@examples(max_examples=25)
@given(BOOKS, SETTINGS)
def test_points_are_the_total_of_the_score(pages: dict[str, str], chosen: CrawlSettings) -> None:
    """What candidates are ordered by is what their scores show, line by line (R50)."""
    crawl, steps = crawled(pages, chosen)
    for number in range(len(steps)):
        state = state_after(crawl, steps[:number])
        for candidate in state.frontier.in_order():
            assert state.scoring.points(candidate) == state.scoring.score(candidate).total


@examples(max_examples=25)
@given(BOOKS, SETTINGS)
def test_a_page_lies_one_deeper_than_what_led_to_it(pages: dict[str, str], chosen: CrawlSettings) -> None:
    """Seeds have depth 0; other candidates lie at most one deeper than any page taken that links there (R91).

    A link that found no place among max_links_per_page makes no candidate, and so gives no depth.
    """
    _, steps = crawled(pages, chosen)
    seeds = {seed.path for seed in start_step(steps).seeds}
    deepest = {found.path: 1 for found in start_step(steps).found}
    for step in visits(steps):
        assert (step.depth == 0) == (step.path in seeds)
        assert step.depth <= deepest[step.path]
        if step.depth < chosen.max_depth:
            for offer in step.offers:
                if offer.is_new or offer.path in deepest:
                    deepest[offer.path] = min(deepest.get(offer.path, step.depth + 1), step.depth + 1)
