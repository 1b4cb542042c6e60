"""What a brief says of its sources: the pages, how they were gathered, and the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.crawl.conftest import NAMES, SALT
from tests.crawl.trails import a_shelf_book, settings, state_after, steps_of

from kiwiresearch.brief.document import Document, Heading, Items, Line, Paragraph, Rows
from kiwiresearch.brief.markdown import markdown
from kiwiresearch.brief.sources import BEST, Origin, reading_list
from kiwiresearch.crawl.step import Visited
from kiwiresearch.crawl.walk import Crawl
from kiwiresearch.search.open_book import OpenBook


def origin_of(*books: OpenBook, topic: str = "salt road", focus: str = "", **options: Any) -> Origin:
    """What a brief is made from, after a crawl over some books."""
    shelf = books or (a_shelf_book(SALT, NAMES, name="Roads", main_page="Welcome"),)
    crawl = Crawl(shelf, topic, focus, settings(fast=True, **options))
    state = state_after(crawl, steps_of(crawl))
    return Origin(state, [book.book for book in shelf], lambda ref: f"http://host/{ref.path}", "1.2.3", "sha256:f00")


def said(line: Line) -> str:
    return "".join(span.text for span in line)


def below(document: Document, heading: str) -> list[Any]:
    """The blocks between a heading and the next."""
    blocks = list(document.blocks)
    start = next(n for n, block in enumerate(blocks) if isinstance(block, Heading) and block.text == heading)
    rest = blocks[start + 1 :]
    end = next((n for n, block in enumerate(rest) if isinstance(block, Heading)), len(rest))
    return rest[:end]


def test_a_reading_list_has_its_parts() -> None:
    """The brief is named for its topic and has where to begin, the story, the bibliography and the settings (R24)."""
    document = reading_list(origin_of())
    assert document.title == "Research Brief: salt road"
    assert [block.text for block in document.blocks if isinstance(block, Heading)] == [
        "Where to begin reading", "How the sources were gathered", "Bibliography", "Run Metadata",
    ]  # fmt: skip


def test_the_bibliography_has_every_page_in_its_order() -> None:
    """Each visited page is one numbered entry with its link, its depth and its points."""
    origin = origin_of(max_pages=12)
    visited = list(origin.state.visited.values())
    (listed,) = below(reading_list(origin), "Bibliography")
    assert isinstance(listed, Items)
    assert (len(listed.lines), listed.numbered) == (12, True)
    assert [(line[0].text, line[0].url) for line in listed.lines] == [
        (step.title, f"http://host/{step.path}") for step in visited
    ]
    for line, step in zip(listed.lines, visited, strict=True):
        assert said(line).startswith(f"{step.title} — depth {step.depth}, ")


def test_reading_begins_with_the_best_pages() -> None:
    """At most ten pages are offered to begin with, each with its first sentence; the seed is the first."""
    origin = origin_of(max_pages=15)
    (best,) = below(reading_list(origin), "Where to begin reading")
    assert len(best.lines) == BEST
    assert said(best.lines[0]).startswith("Salt road: The salt road was a way over the Grey Pass.")
    openings = {step.title: step.opening for step in origin.state.visited.values()}
    assert [said(line) for line in best.lines] == [
        f"{line[0].text}: {openings[line[0].text]}" if openings[line[0].text] else line[0].text for line in best.lines
    ]


def test_a_page_without_words_is_named_alone() -> None:
    """Where a page has no first sentence, the entry ends with its title."""
    origin = origin_of(max_pages=3)
    for ref, step in list(origin.state.visited.items()):
        origin.state.visited[ref] = replace(step, opening="")
    (best,) = below(reading_list(origin), "Where to begin reading")
    assert {len(line) for line in best.lines} == {1}


@pytest.mark.parametrize(
    ("options", "order", "end"),
    [
        ({"max_pages": 4}, "took the best one next: it met ", "It ended because max_pages (4) was reached."),
        (
            {"strategy": "bfs", "max_depth": 1},
            "took the best of each depth: it met ",
            "It ended because there were no more candidates.",
        ),
    ],
)
def test_the_story_tells_how_it_went(options: dict[str, Any], order: str, end: str) -> None:
    """The story says where the crawl began and why, in which order it went, how far, and why it ended."""
    origin = origin_of(**options)
    first, second, *_ = [said(block.line) for block in below(reading_list(origin), "How the sources were gathered")]
    assert first.endswith(" pages, and the crawl began with Salt road (its title is the topic).")
    assert order in second
    assert end in second
    taken = origin.state.at_depth
    assert (
        f"took {len(origin.state.visited)} ({', '.join(f'{taken[d]} at depth {d}' for d in sorted(taken))})" in second
    )


def test_words_that_no_page_has_are_told() -> None:
    """A word of the topic that the book does not have is named in the story."""
    story = below(reading_list(origin_of(topic="salt road zeppelins")), "How the sources were gathered")
    assert "No page has the words: zeppelins." in [said(block.line) for block in story if isinstance(block, Paragraph)]


def rows(document: Document) -> dict[str, str]:
    table = next(block for block in document.blocks if isinstance(block, Rows))
    assert table.header == ("setting", "value")
    return {key: value for key, value in table.rows}  # noqa: C416


def test_the_settings_and_the_snapshot_are_in_the_brief() -> None:
    """The brief says under which settings, from which book and by which version it was made."""
    origin = origin_of(focus="mules", max_pages=5, max_depth=1, max_links_per_page=7, strategy="bfs")
    book = origin.books[0]
    found = rows(reading_list(origin))
    assert found == {
        "max_pages": "5",
        "max_depth": "1",
        "max_links_per_page": "7",
        "crawl strategy": "bfs",
        "vectors": "off",
        "focus": "mules",
        "book": found["book"],
        "book UUID": book.id,
        "kiwiresearch": "1.2.3",
        "fingerprint": "sha256:f00",
    }
    assert found["book"].startswith("Roads, ")
    assert found["book"].endswith(f" {book.articles} articles")


def test_a_book_of_introductions_is_told() -> None:
    """Where a book holds introductions only, the brief says that a gap in it is none in knowledge."""
    origin = origin_of(max_pages=2)
    assert "introductions only" not in markdown(reading_list(origin))
    mini = replace(origin, books=[replace(origin.books[0], flavour="mini")])
    assert mini.books[0].lead_only
    assert "The book 'Roads' holds introductions only: " in markdown(reading_list(mini))


def test_pages_of_several_books_name_theirs() -> None:
    """With more than one book each entry of the bibliography says which it is from."""
    road = a_shelf_book({"Salt road": "The salt road was long.\n== Way ==\nOver hills."}, name="Roads")
    salt = a_shelf_book({"Salt road": "A salt road is a road for salt.\n== Use ==\nMuch."}, name="Minerals")
    document = reading_list(origin_of(road, salt))
    (listed,) = below(document, "Bibliography")
    assert {line[1].text for line in listed.lines} == {" (Roads)", " (Minerals)"}
    assert said(document.blocks[0].line).startswith("Which pages of 2 books speak of this topic")  # type: ignore[union-attr]


def test_each_page_is_listed_once() -> None:
    """A page that was visited is one entry, also where titles are alike."""
    origin = origin_of(max_pages=15)
    steps = [step for step in origin.state.steps if isinstance(step, Visited)]
    (listed,) = below(reading_list(origin), "Bibliography")
    assert sorted(line[0].url for line in listed.lines) == sorted({f"http://host/{step.path}" for step in steps})
