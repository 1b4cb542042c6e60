"""Books that are broken, strange or large: a crawl goes on, and says what it left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.crawl.trails import (
    TEXT,
    Directions,
    ShelfArchive,
    a_shelf_book,
    end_step,
    looks,
    settings,
    start_step,
    steps_of,
    taken,
    visit,
    visits,
)
from tests.zim.memory import MemoryArchive

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep
from kiwiresearch.embed.embedder import Vectors
from kiwiresearch.errors import EmbedderError, PageNotFound, RedirectLoop
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.archive import Entry

ROAD = f"The salt road had an [[Inn]], a [[Mill]] and a [[Well]].\n{TEXT}"


def refresh(path: str) -> str:
    return f'<meta http-equiv="refresh" content="0;url={path}">'


class Torn(ShelfArchive):
    """A book of which some pages cannot be read, though it lists them."""

    def __init__(self, pages: dict[str, str], torn: dict[str, Exception]) -> None:
        super().__init__(pages)
        self.torn = torn

    def read(self, path: str) -> Entry:
        if path in self.torn:
            raise self.torn[path]
        return super().read(path)


def crawled(pages: dict[str, str], aliases: dict[str, str] | None = None, **options: Any) -> list[CrawlStep]:
    return steps_of(CrawlPlan([a_shelf_book(pages, aliases)], "salt road", settings=settings(**options)))


@pytest.mark.parametrize("strategy", ["priority", "bfs"])
def test_pages_that_cannot_be_read_are_left(strategy: str) -> None:
    """A page that is listed and is not there, or goes in circles, is left with the reason, and the crawl goes on."""
    pages = {"Salt road": ROAD, "Inn": TEXT, "Mill": TEXT, "Well": TEXT}
    archive = Torn(pages, {"Inn": PageNotFound("The page is torn out."), "Mill": RedirectLoop("It turns.")})
    steps = steps_of(CrawlPlan([OpenBook(archive)], "salt road", settings=settings(strategy=strategy)))
    assert taken(steps) == ["Salt road", "Well"]
    assert {look.title: look.why for look in looks(steps)} == {
        "Inn": "it cannot be read: The page is torn out.",
        "Mill": "it cannot be read: It turns.",
    }
    assert end_step(steps).remaining == 0


def test_a_seed_that_cannot_be_read_is_left() -> None:
    """A seed that is gone when it is to be taken does not stop the others."""
    pages = {"Salt road": TEXT, "Inn": f"The salt road.\n{TEXT}"}
    archive = Torn(pages, {})
    book = OpenBook(archive)
    crawl = CrawlPlan([book], "salt road")
    (start, *_) = steps_of(crawl)
    archive.torn["Salt_road"] = PageNotFound("It is gone.")
    steps = steps_of(crawl, [start])
    assert taken(steps) == ["Inn"]
    assert next(looks(steps)).title == "Salt road"


@pytest.mark.parametrize(
    "page", [refresh("Ring"), refresh("Nowhere"), refresh("Inn"), "", " ", "<p></p>", "\x00", "]]>"]
)
def test_pages_without_a_text_of_their_own(page: str) -> None:
    """Pages that only lead elsewhere, in circles or nowhere, and pages that are empty, harm nobody."""
    pages = {"Salt road": ROAD, "Inn": page, "Ring": refresh("Inn"), "Mill": TEXT, "Well": f"{TEXT} A [[Ring]]."}
    steps = crawled(pages)
    assert {"Salt road", "Mill", "Well"} <= set(taken(steps))
    assert len(taken(steps)) == len({step.ref for step in visits(steps)})
    assert end_step(steps).why == "there were no more pages to read"


def test_a_page_that_only_leads_to_a_candidate_is_left() -> None:
    """A page made to lead elsewhere is not taken beside the page it leads to."""
    pages = {"Salt road": ROAD, "Inn": refresh("Mill"), "Mill": TEXT, "Well": TEXT}
    steps = crawled(pages)
    assert sorted(taken(steps)) == ["Mill", "Salt road", "Well"]
    (look,) = looks(steps)
    assert (look.title, look.why, look.is_dropped) == ("Inn", "it only leads to 'Mill'", True)


def test_redirects_in_circles_are_not_candidates() -> None:
    """Names that lead to each other and to nothing else are links that lead nowhere."""
    steps = crawled({"Salt road": ROAD, "Well": TEXT}, {"Inn": "Mill", "Mill": "Inn"})
    assert taken(steps) == ["Salt road", "Well"]
    assert dict(visit(steps, "Salt road").refused) == {"not in the book": 2}


def test_a_page_with_thousands_of_links() -> None:
    """Of a page with 5,000 links just max_links_per_page become candidates, and all are counted (R12, R89)."""
    titles = [f"House {number:04}" for number in range(5000)]
    text = f"The salt road is old.\n== Houses ==\n{' '.join(f'[[{title}]]' for title in titles)}\n"
    steps = crawled({"Salt road": text} | dict.fromkeys(titles, TEXT), max_pages=5, max_links_per_page=7)
    page = visit(steps, "Salt road")
    assert (page.links, len(page.offers), sum(offer.is_new for offer in page.offers)) == (5000, 5000, 7)
    assert taken(steps) == ["Salt road", *titles[:4]]
    assert end_step(steps).remaining == 3


def test_titles_of_strange_characters() -> None:
    """Line breaks, markup and other scripts in titles are words like any others, and reasons stay on one line."""
    names = [
        "Inn\nof two lines",
        "Inn <b>bold</b>",
        'Inn "quoted" & more',
        "Inn \u2028 far",
        "宿屋",
        "Inn%20Way",
        "Inn/Bar",
    ]
    links = "".join(f'<a href="./P{number}">x</a> ' for number in range(len(names)))
    pages = {"Salt_road": f"<p>The salt road has {links}.</p><h2>A</h2><p>b</p>"}
    for number, name in enumerate(names):
        escaped = name.replace("&", "&amp;").replace("<", "&lt;")
        pages[f"P{number}"] = f"<title>{escaped}</title><p>{escaped}</p><h2>A</h2><p>b</p>"
    steps = steps_of(CrawlPlan([OpenBook(MemoryArchive(pages))], "salt road"))
    assert {step.path for step in visits(steps)} == set(pages)
    assert all("\n" not in step.reason for step in visits(steps))


def test_two_pages_that_link_to_each_other_for_ever() -> None:
    """A book in which all pages link to all is walked once."""
    titles = [f"Inn {letter}" for letter in "ABCDEFGHIJKL"]
    everywhere = " ".join(f"[[{title}]]" for title in ("Salt road", *titles))
    steps = crawled(dict.fromkeys(("Salt road", *titles), f"{everywhere}\n{TEXT}"), max_depth=9)
    assert sorted(taken(steps)) == sorted(("Salt road", *titles))
    assert {step.depth for step in visits(steps)} == {0, 1}


class Failing(Directions):
    """An embedder that works for a while."""

    def __init__(self, calls: int) -> None:
        super().__init__("salt", "road")
        self.calls = calls

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls -= 1
        if self.calls < 0:
            raise EmbedderError("The vectors are gone.")
        return super().embed(texts)


@pytest.mark.parametrize("calls", range(6))
def test_an_embedder_that_fails_ends_the_crawl_where_it_is(salt_book: OpenBook, calls: int) -> None:
    """Half a crawl with vectors and half without could not be repeated (R7, R46)."""
    crawl = CrawlPlan([salt_book], "salt road", settings=settings(max_pages=12), embedder=Failing(calls))
    with pytest.raises(EmbedderError):
        steps_of(crawl)


MARKUP = st.sampled_from(
    [
        *("<p>", "</p>", "<a href='./A'>", "<a href='B'>", "<a href='C#x'>", "</a>", "<ul><li>", "<h2>x</h2>", "<td>"),
        *("<table>", "<table class='infobox'>", "<div id='catlinks'>", "salt road", "may refer to:", " word ", "&#0;"),
        *(refresh("A"), "<"),
    ]
)
TANGLE = st.lists(MARKUP, max_size=25).map("".join)


@examples(max_examples=60)
@given(
    st.fixed_dictionaries({"A": TANGLE, "B": TANGLE, "C": TANGLE, "Salt_road": TANGLE}),
    st.dictionaries(st.sampled_from("DEF"), st.sampled_from("ABCDEF")),
    st.text(max_size=20) | st.just("salt road"),
    st.sampled_from(["priority", "bfs"]),
)
def test_no_book_and_no_topic_stops_a_crawl(
    pages: dict[str, str], redirects: dict[str, str], topic: str, strategy: str
) -> None:
    """Whatever the pages and the topic are, a crawl begins, takes each page at most once, and ends."""
    book = OpenBook(MemoryArchive(pages, redirects))
    steps = steps_of(CrawlPlan([book], topic, "word", settings(strategy=strategy, max_depth=3)))
    assert start_step(steps).topic == topic
    assert end_step(steps).why
    assert len(visits(steps)) == len({step.ref for step in visits(steps)}) <= len(pages)
