"""A crawl is the same each time, and goes on where it was stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from evals.walking import walk
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.crawl.any_book import BOOKS, SETTINGS
from tests.crawl.conftest import NAMES, SALT
from tests.crawl.crawl_lines import crawl_lines
from tests.crawl.trails import Directions, ShelfArchive, a_shelf_book, html, path_of, settings, steps_of, taken, visits

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep, StartStep, VisitStep, step_from_record, step_record
from kiwiresearch.ids import canonical_json
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

ROOT = Path(__file__).parents[2]


def written_down(steps: Iterable[CrawlStep]) -> list[CrawlStep]:
    """The steps, after they were lines of a file."""
    return [step_from_record(json.loads(canonical_json(step_record(step)))) for step in steps]


def goes_on(crawl: CrawlPlan, steps: Sequence[CrawlStep]) -> None:
    """Whichever steps were done, exactly the others follow."""
    for done in range(len(steps) + 1):
        past = written_down(steps[:done])
        assert past == steps[:done]
        rest = steps_of(crawl, past)
        assert rest == steps[done:], f"after {done} of {len(steps)} steps"


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
@pytest.mark.parametrize(
    "options",
    [
        {"max_pages": 12},
        {"max_pages": 60, "max_depth": 3, "branch_share": 0.05},
        {"max_pages": 15, "max_links_per_page": 1, "filters": {"lists": "exclude", "years": False}},
        {"max_pages": 15, "max_depth": 1, "filters": {"disambiguation": False}, "weights": {"novelty": 3.0}},
        {"max_pages": 9, "max_depth": 0},
    ],
)
def test_a_crawl_goes_on_after_any_step(strategy: str, options: dict[str, Any]) -> None:
    """Stopped after any step and given the steps before, a crawl takes exactly the steps that are left (R7)."""
    crawl = CrawlPlan([a_shelf_book(SALT, NAMES)], "salt road", settings=settings(strategy=strategy, **options))
    steps = steps_of(crawl)
    fresh = CrawlPlan([a_shelf_book(SALT, NAMES)], "salt road", settings=crawl.settings)
    goes_on(fresh, steps)


def test_a_crawl_with_vectors_goes_on_after_any_step() -> None:
    """What was learned from vectors is in the steps as well: nothing changes when a crawl goes on (R7, R46)."""
    meant = Directions("salt", "road", "mule", "toll", "pass")
    crawl = CrawlPlan([a_shelf_book(SALT, NAMES)], "salt road", "toll", settings(max_pages=20), embedder=meant)
    goes_on(crawl, steps_of(crawl))


def test_a_crawl_of_a_file_goes_on_after_any_step(a_book: Callable[..., Path]) -> None:
    """The same is true for a ZIM file that is opened again (R7)."""
    paths = {path_of(title): html(text) for title, text in SALT.items()}
    file = a_book(paths, {path_of(name): path_of(title) for name, title in NAMES.items()}, main_path="Welcome")
    chosen = settings(max_pages=12)
    steps = steps_of(CrawlPlan([OpenBook(LibzimArchive(file))], "salt road", settings=chosen))
    assert len(taken(steps)) == 12
    goes_on(CrawlPlan([OpenBook(LibzimArchive(file))], "salt road", settings=chosen), steps)


def test_a_crawl_that_has_ended_does_nothing_more(salt_book: OpenBook) -> None:
    """When all steps are given, there are none left."""
    crawl = CrawlPlan([salt_book], "salt road", settings=settings(max_pages=3))
    assert steps_of(crawl, steps_of(crawl)) == []


def test_finished_steps_are_not_repeated() -> None:
    """A crawl that goes on reads no page that was taken before, and does not search again (R7)."""
    steps = steps_of(CrawlPlan([a_shelf_book(SALT)], "salt road", settings=settings(max_pages=10)))
    place = steps.index(visits(steps)[5])
    gone = {path_of(step.title) for step in visits(steps[:place])}
    archive = ShelfArchive(SALT)
    crawl = CrawlPlan([OpenBook(archive)], "salt road", settings=settings(max_pages=10))
    assert steps_of(crawl, steps[:place]) == steps[place:]
    assert archive.pages_read
    assert gone.isdisjoint(archive.pages_read)


@examples(max_examples=25)
@given(BOOKS, SETTINGS)
def test_any_crawl_goes_on_after_any_step(pages: dict[str, str], chosen: CrawlSettings) -> None:
    """Whatever the book and the settings are, the steps that were done decide the rest (R7)."""
    crawl = CrawlPlan([a_shelf_book(pages)], "salt road", settings=chosen)
    goes_on(crawl, steps_of(crawl))


@examples(max_examples=25)
@given(BOOKS, SETTINGS, st.data())
def test_the_order_of_pages_in_a_book_changes_nothing(
    pages: dict[str, str], chosen: CrawlSettings, data: st.DataObject
) -> None:
    """Two books with the same pages in another order give the same pages in the same order (R7, R142)."""
    others = dict(data.draw(st.permutations(list(pages.items()))))
    one, two = (steps_of(CrawlPlan([a_shelf_book(book)], "salt road", settings=chosen)) for book in (pages, others))
    assert taken(one) == taken(two)


PROGRAM = "import sys; from tests.crawl.crawl_lines import crawl_lines; sys.stdout.write(crawl_lines())"


def test_hash_seeds_and_places_change_nothing(tmp_path: Path) -> None:
    """Processes with other hash seeds, in another folder, time zone and locale, take the same steps (R7, R141)."""
    here = crawl_lines()
    assert len(here.splitlines()) > 60
    for seed, zone, locale in (("1", "Asia/Tokyo", "C.UTF-8"), ("77", "UTC", "C")):
        surroundings = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "PYTHONPATH": str(ROOT)}
        surroundings |= {"PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, cwd=tmp_path, env=surroundings, check=True
        )
        assert done.stdout.decode() == here


def test_each_page_taken_comes_with_its_step(salt_book: OpenBook) -> None:
    """A page is handed over with the step that took it, and with no other."""
    results = list(walk(CrawlPlan([salt_book], "salt road", settings=settings(max_pages=8))))
    for result in results:
        if isinstance(result.step, VisitStep):
            assert result.page is not None
            assert (result.page.title, result.page.id, result.page.url) == (
                result.step.title,
                result.step.page_id,
                result.step.url,
            )
        else:
            assert result.page is None
    assert isinstance(results[0].step, StartStep)
