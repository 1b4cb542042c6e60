"""Crawls that once went wrong: ties, copies, leading pages, weak pages, and branches that change."""

from __future__ import annotations

from typing import Any

from tests.crawl.test_crawl_hostile import refresh
from tests.crawl.trails import (
    PLAIN,
    TEXT,
    Directions,
    a_shelf_book,
    lines,
    looks,
    settings,
    steps_of,
    taken,
    visit,
    visits,
)

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep
from kiwiresearch.search.open_book import OpenBook

STORY = " ".join(f"In year {year} the carrier {year + 7} came by." for year in range(100, 110))
LINKS = "The salt road is old.\n== Places ==\nThere is [[Abbey]]. There is [[Barn]]. There is [[Zinc]].\n"


def crawled(pages: dict[str, str], aliases: dict[str, str] | None = None, **options: Any) -> list[CrawlStep]:
    return steps_of(CrawlPlan([a_shelf_book(pages, aliases)], "salt road", settings=settings(**options)))


def test_equal_pages_go_by_path() -> None:
    """Pages of equal scores are taken in the order of their paths (R142)."""
    pages = {"Salt road": LINKS, "Abbey": PLAIN, "Barn": PLAIN, "Zinc": PLAIN}
    assert taken(crawled(pages)) == ["Salt road", "Abbey", "Barn", "Zinc"]


def test_the_target_of_a_pointing_page_is_taken_once() -> None:
    """A page that only leads elsewhere and the page it leads to are one page of the corpus."""
    pages = {
        "Salt road": f"The salt road had an [[Inn]] and a [[Well]].\n{TEXT}",
        "Inn": refresh("Tavern"),
        "Tavern": f"A house.\n{TEXT}",
        "Well": f"A well of the [[Tavern]].\n{TEXT}",
    }
    steps = crawled(pages)
    assert sorted(taken(steps)) == ["Salt road", "Tavern", "Well"]
    assert visit(steps, "Tavern").path == "Tavern"


def test_copies_that_were_read_before_either_was_taken() -> None:
    """Of two near-copies that were both put back, the second is one when it is taken (R49)."""
    pages = {"Salt road": LINKS, "Abbey": f"{STORY}\n{PLAIN}", "Barn": f"{STORY}\n{PLAIN}", "Zinc": PLAIN}
    steps = crawled(pages)
    second = [step for step in visits(steps) if step.title in ("Abbey", "Barn")][-1]
    assert second.facts.duplicate_of


def test_weights_all_alike_change_nothing() -> None:
    """Half the weight for every part of the score gives the same pages in the same order (R17, R18, R19)."""
    pages = {"Salt road": LINKS, "Abbey": PLAIN, "Barn": PLAIN, "Zinc": PLAIN}
    parts = ("relevance", "link_context", "page_signals", "novelty", "authority")
    assert taken(crawled(pages, weights=dict.fromkeys(parts, 0.2))) == taken(crawled(pages))


def test_a_branch_that_is_full_is_not_called_off_topic() -> None:
    """The last pages of a full branch are taken when nothing else is left (R87)."""
    mines = [f"Mine {letter}" for letter in "ABCDEFGHIJ"]
    links = " ".join(f"The salt road had [[{title}]]." for title in mines)
    steps = crawled(
        {"Salt road": f"{links}\n{PLAIN}"} | dict.fromkeys(mines, f"{PLAIN}\ncategories: Mines"), max_pages=20
    )
    assert set(taken(steps)) == {"Salt road", *mines}


def test_a_near_copy_is_not_called_off_topic() -> None:
    """A page that says what another said is left for that reason, and not as off the topic (R49, R55)."""
    pages = {"Salt road": f"The salt road is old. {STORY}\n{TEXT}"}
    steps = steps_of(
        CrawlPlan([a_shelf_book(pages, name="One"), a_shelf_book(pages | {"Inn": TEXT}, name="Two")], "salt road")
    )
    assert [look.why for look in looks(steps) if "nothing to do with the topic" in look.why] == []


def test_a_seed_that_lists_senses_gives_three_seeds_at_most() -> None:
    """Targets of a page of senses that only its box mentions do not become seeds, which have depth 0 (R77, R91)."""
    titles = [f"Inn {letter}" for letter in "ABCDEFGH"]
    text = "Salt road.\n" + "".join(f"* [[{title}]]\n" for title in titles) + "<div id='disambigbox'>x</div>"
    steps = crawled({"Salt road": text} | dict.fromkeys(titles, TEXT))
    assert sum(step.depth == 0 for step in visits(steps)) <= 3


def test_the_sentence_shown_is_of_the_place_named() -> None:
    """A reason that says 'in its introduction' shows a sentence of the lead (R55)."""
    text = "The salt road is old. An [[Oak]] is a tree.\n== Trees ==\nThe salt road passed [[Oak]] twice.\n"
    reason = visit(crawled({"Salt road": text, "Oak": TEXT}), "Oak").reason
    assert "in its introduction" not in reason or "An Oak is a tree." in reason


def test_a_rival_is_logged_with_its_own_points() -> None:
    """What another page has, in a reason for putting a page back, is what that page's score says (R55)."""
    pages = {"Salt road": LINKS, "Abbey": PLAIN, "Barn": PLAIN, "Zinc": PLAIN}
    (first, *_) = looks(crawled(pages))
    assert "'Barn' has 60" in first.why, first.why


def test_by_depth_a_deeper_page_is_not_a_rival() -> None:
    """By depth, a page is not put back for a page of a deeper level, which does not come next (R52)."""
    pages = {
        "Salt road": "The salt road is old.\n== A ==\n* [[Toll]]\n* [[Zinc]]\n",
        "Toll": f"On the salt road. The salt road has [[Bells]].\n{TEXT}",
        "Zinc": "Short.",
        "Bells": TEXT,
    }
    steps = crawled(pages, strategy="bfs", max_pages=10)
    assert taken(steps) == ["Salt road", "Toll", "Zinc", "Bells"]
    assert [(look.title, look.why) for look in looks(steps)] == []


def test_fast_means_no_vectors(salt_book: OpenBook) -> None:
    """With `fast` no vector is made, though an embedder is there."""
    steps = steps_of(
        CrawlPlan([salt_book], "salt road", settings=settings(fast=True), embedder=Directions("salt", "road"))
    )
    assert all(step.facts.vector == "" and "meaning" not in lines(step) for step in visits(steps))


def test_refusals_of_a_page_of_senses_are_counted() -> None:
    """Links that a page of senses lists and that are refused are counted as any (R14)."""
    pages = {
        "Salt road": f"The salt road has a [[Pass]].\n{TEXT}",
        "Pass": "Pass may refer to:\n* [[1275]]\n* [[Talk:Pass]]\n* [[Inn]]",
        **dict.fromkeys(("1275", "Talk:Pass", "Inn"), TEXT),
    }
    (look,) = [look for look in looks(crawled(pages)) if look.title == "Pass"]
    assert dict(look.refused) == {"not an article": 1, "only a year": 1}
