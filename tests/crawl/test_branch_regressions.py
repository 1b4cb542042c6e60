"""Branches that change while a crawl goes on."""

from __future__ import annotations

from tests.crawl.test_resuming import goes_on
from tests.crawl.trails import PLAIN, Directions, a_shelf_book, settings, steps_of, taken

from kiwiresearch.crawl.state import CrawlPlan

MINES = [f"Mine {letter}" for letter in "ABCDE"]


def branching() -> CrawlPlan:
    """A page whose branch is full, until another page turns out to be more like it."""
    lead = " ".join(f"The salt road had [[{title}]]." for title in ("Abbey", *MINES))
    huts = [f"Hut {number}" for number in range(56)]
    pages = {
        "Salt road": f"{lead}\n== Other ==\nThe road had [[Yard]]. There is [[Zoo]].\n"
        + "".join(f"* [[{hut}]]\n" for hut in huts),
        "Abbey": "Of mining and cooking.",
        **{title: f"Of mining.\n{PLAIN} {'It is told at length. ' * (90 - 5 * n)}" for n, title in enumerate(MINES)},
        "Yard": f"Of mining, cooking and cooking.\n{PLAIN}",
        "Zoo": PLAIN,
        **dict.fromkeys(huts, PLAIN),
    }
    meant = Directions("mining", "cooking")
    chosen = settings(max_pages=20, max_links_per_page=8)
    return CrawlPlan([a_shelf_book(pages)], "salt road", settings=chosen, embedder=meant)


def test_a_crawl_whose_branches_change_goes_on_after_any_step() -> None:
    """If a page of vectors changes its branch, the steps that were done still decide the rest (R7)."""
    crawl = branching()
    goes_on(crawl, steps_of(crawl))


def test_a_page_whose_branch_has_room_again_is_taken() -> None:
    """A candidate that is worth more than when it was placed is taken when it is the best (R53)."""
    assert taken(steps_of(branching())) == ["Salt road", *MINES, "Yard", "Abbey", "Zoo"]
