"""What a brief says of its sources: the pages, how they were gathered, and the settings."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from tests.brief.claim_gathering import GatheredClaims, gather_claims
from tests.crawl.conftest import NAMES, SALT
from tests.crawl.trails import a_shelf_book

from kiwiresearch.brief.citations import topic_pages_of
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.sources import sources_of, started_weakly
from kiwiresearch.crawl.step import VisitStep
from kiwiresearch.document.markdown import markdown
from kiwiresearch.document.model import CollapsedList, Document, Heading, Line, LineList, Paragraph, PlainTable
from kiwiresearch.messages.message import Message
from kiwiresearch.search.open_book import OpenBook


def crawled(*books: OpenBook, topic: str = "salt road", **options: Any) -> GatheredClaims:
    """What a brief is made from, after a crawl over some books."""
    shelf = books or (a_shelf_book(SALT, NAMES, name="Roads", main_page="Welcome"),)
    return gather_claims(*shelf, topic=topic, **options)


def said(line: Line) -> str:
    return "".join(span.text for span in line)


def below(document: Document, heading: str) -> list[Any]:
    """The blocks between a heading and the next."""
    blocks = list(document.blocks)
    start = next(n for n, block in enumerate(blocks) if isinstance(block, Heading) and said(block.line) == heading)
    rest = blocks[start + 1 :]
    end = next((n for n, block in enumerate(rest) if isinstance(block, Heading)), len(rest))
    return rest[:end]


def listed(found: GatheredClaims) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The entries of the bibliography: pages that are cited, and those below the fold that are not."""
    blocks = below(brief_document(found.brief()), "Bibliography")
    cited = [line for block in blocks if isinstance(block, LineList) for line in block.lines]
    folded = [line for block in blocks if isinstance(block, CollapsedList) for line in block.items.lines]
    return tuple(cited), tuple(folded)


def test_a_brief_lists_its_sources_last() -> None:
    """The brief is named for its topic and ends with the bibliography, the story and the settings (R24)."""
    document = brief_document(crawled().brief())
    assert document.title == "Research Brief: salt road"
    headings = [said(block.line) for block in document.blocks if isinstance(block, Heading) and block.level == 2]
    assert headings[0] == "Executive Summary"
    assert headings[-3:] == ["Bibliography", "How the sources were found", "Run Metadata"]


def test_a_source_says_whether_it_is_about_the_thing_itself() -> None:
    """Of two pages that a topic names, only the one about the thing is a head, though the crawl began with both."""
    pages = {
        "Varn": "<p>Varn is a land of the north. It has many <a href='Slavery'>slaves</a> and few roads.</p>",
        "Slavery": "<p>Slavery is the owning of people. In <a href='Varn'>Varn</a> slavery was ended late.</p>",
    }
    found = gather_claims(pages, topic="Slavery in Varn")
    sources = found.brief().sources.pages
    assert {one.title: (one.depth, one.is_head) for one in sources} == {"Varn": (0, True), "Slavery": (0, False)}
    assert topic_pages_of(found.brief()) == found.weights.topic_pages


def test_a_brief_says_that_it_cites_only_one_of_several_pages() -> None:
    """Ten pages that were read are no ten sources: the method names the only page that is cited."""
    pages = {
        "Varn": "Varn is a land of the north with many roads.\n== Towns ==\nNone is like [[Mora]].",
        "Mora": "Mora is a city of the south.\n== Use ==\nShips of all coasts meet there.",
    }
    only = gather_claims(pages, topic="Varn").brief()
    assert [page.title for page in only.cited_pages] == ["Varn"]
    (*_, last) = below(brief_document(only), "How the sources were found")
    assert said(last.line) == "Only one of the 2 pages read is cited in this brief: Varn."
    pages["Mora"] += " [[Varn]] built the harbour of Mora in 1431."
    both = gather_claims(pages, topic="Varn").brief()
    assert len(both.cited_pages) == 2
    assert both.story == both.sources.story


def test_the_bibliography_has_every_page_in_its_order() -> None:
    """Each cited page is a numbered entry with link, depth and points; the others follow below a fold (R72)."""
    found = crawled(max_pages=12)
    brief = found.brief()
    visited = list(found.origin.state.visited.values())
    used = {claim.ref for claim in brief.claims.values()}
    steps = ([step for step in visited if step.ref in used], [step for step in visited if step.ref not in used])
    numbered, fold = below(brief_document(brief), "Bibliography")
    assert (isinstance(numbered, LineList), numbered.numbered) == (True, True)
    assert (isinstance(fold, CollapsedList), fold.items.numbered) == (True, False)
    assert fold.label == f"{len(steps[1])} pages read but not cited"
    assert len(steps[0]) + len(steps[1]) == 12
    for lines, several in zip((numbered.lines, fold.items.lines), steps, strict=True):
        assert [(line[0].text, line[0].url) for line in lines] == [
            (step.title, f"http://host/{step.path}") for step in several
        ]
        for line, step in zip(lines, several, strict=True):
            assert said(line).startswith(f"{step.title} — depth {step.depth}, ")


def test_a_page_is_known_by_its_first_sentence() -> None:
    """Each source has its title, its opening sentence, its depth and why it was taken; the seed is the first."""
    found = crawled(max_pages=15)
    pages = sources_of(found.origin).pages
    assert (pages[0].title, pages[0].depth, pages[0].why) == (
        "Salt road",
        0,
        "starting page: its title matches the topic",
    )
    assert pages[0].opening == "The salt road was a way over the Grey Pass."
    assert [(one.title, one.depth, one.why, one.opening) for one in pages] == [
        (step.title, step.depth, step.reason, step.opening) for step in found.origin.state.visited.values()
    ]


def test_a_page_without_words_is_named_alone() -> None:
    """If a page has no first sentence and no reason, its entry has its title, depth and points."""
    origin = crawled(max_pages=3).origin
    for ref, step in list(origin.state.visited.items()):
        origin.state.visited[ref] = replace(step, opening="", reason=Message(""))
    found = GatheredClaims(origin, ())
    assert {page.opening for page in found.brief().sources.pages} == {""}
    cited, others = listed(found)
    assert (len(cited), len(others)) == (0, 3)
    assert all(re.search(r" — depth \d, score [\d.]+$", said(line)) for line in others)


@pytest.mark.parametrize(
    ("options", "order", "end"),
    [
        (
            {"max_pages": 4},
            "each time reading the best remaining page. It found ",
            "It stopped because the limit of 4 pages was reached.",
        ),
        (
            {"strategy": "bfs", "max_depth": 1},
            "each time reading the best page at the current depth. It found ",
            "It stopped because there were no more pages to read.",
        ),
    ],
)
def test_the_story_of_the_run_is_described(options: dict[str, Any], order: str, end: str) -> None:
    """The story says where the crawl began and why, in which order it went, how far, and why it ended."""
    found = crawled(**options)
    state = found.origin.state
    first, second, *_ = [
        said(block.line) for block in below(brief_document(found.brief()), "How the sources were found")
    ]
    assert first.endswith(" pages about the topic. Research started with Salt road (its title matches the topic).")
    assert order in second
    assert end in second
    depths = ", ".join(f"{state.count_at_depth[depth]} at depth {depth}" for depth in sorted(state.count_at_depth))
    assert f"and read {len(state.visited)} ({depths})" in second


def test_words_that_no_page_has_are_listed() -> None:
    """A word of the topic that the book does not have is named in the story."""
    story = below(brief_document(crawled(topic="salt road zeppelins").brief()), "How the sources were found")
    assert "No page contains these words: zeppelins." in [
        said(block.line) for block in story if isinstance(block, Paragraph)
    ]


def test_a_word_that_one_of_the_books_has_is_not_listed_as_missing() -> None:
    """Of several books, all have to be without a word before the story says that no page has it."""
    road = a_shelf_book({"Salt road": "The salt road was long.\n== Way ==\nOver hills."}, name="Roads")
    tin = a_shelf_book({"Tin": "Tin is a metal.\n== Use ==\nMuch."}, name="Metals")
    story = crawled(road, tin, topic="salt road zeppelins").brief().sources.story
    assert [line for line in story if line.startswith("No page")] == ["No page contains these words: zeppelins."]


def test_a_weak_start_is_reported_first() -> None:
    """If no page names the topic, a note before everything else says so; else there is none."""
    weak = crawled(topic="autumn sacks")
    assert started_weakly(weak.origin.state)
    assert weak.brief().notes == ("No page names the topic as you wrote it. These pages only share some of its words.",)
    assert not started_weakly(crawled().origin.state)
    assert crawled().brief().notes == ()


def test_links_lead_from_page_to_page() -> None:
    """Which of the pages led to which is shown by their numbers, each link once, and none to a page itself."""
    found = crawled(max_pages=8)
    sources = sources_of(found.origin)
    titles = [page.title for page in sources.pages]
    assert (titles.index("Salt road"), titles.index("Grey Pass")) in sources.links
    assert sorted(set(sources.links)) == list(sources.links)
    assert all(one != other and max(one, other) < len(titles) for one, other in sources.links)


def rows(document: Document) -> dict[str, str]:
    table = next(block for block in document.blocks if isinstance(block, PlainTable))
    assert table.header == ("Setting", "Value")
    return {key: value for key, value in table.rows}  # noqa: C416


def test_the_settings_and_the_snapshot_are_in_the_brief() -> None:
    """The brief says under which settings, from which book and by which version it was made (R106)."""
    found = crawled(focus="mules", max_pages=5, max_depth=1, max_links_per_page=7, strategy="bfs")
    book = found.origin.books[0]
    result = rows(brief_document(found.brief()))
    assert result == {
        "Maximum number of pages": "5",
        "Link depth": "1",
        "New pages from each page": "7",
        "Which page to read next": "the closest pages first",
        "Search by meaning": "no",
        "Focus": "mules",
        "Book": result["Book"],
        "Book ID (UUID)": book.id,
        "kiwiresearch version": "1.2.3",
        "Fingerprint": "sha256:f00",
    }
    assert result["Book"].startswith("Roads, ")
    assert result["Book"].endswith(f" {book.articles} articles")


def test_pages_of_several_books_name_theirs() -> None:
    """With more than one book each entry of the bibliography says which it is from, and the first line names both."""
    road = a_shelf_book({"Salt road": "The salt road was long.\n== Way ==\nOver hills."}, name="Roads")
    salt = a_shelf_book({"Salt road": "A salt road is a road for salt.\n== Use ==\nMuch."}, name="Minerals")
    found = crawled(road, salt)
    cited, others = listed(found)
    assert {line[1].text.partition(" — ")[0] for line in (*cited, *others)} == {" (Roads)", " (Minerals)"}
    assert "“Roads” (roads) and “Minerals” (minerals)." in markdown(brief_document(found.brief())).partition("## ")[0]


def test_each_page_is_listed_once() -> None:
    """A page that was visited is one entry, also where titles are alike."""
    found = crawled(max_pages=15)
    steps = [step for step in found.origin.state.steps if isinstance(step, VisitStep)]
    cited, others = listed(found)
    assert sorted(line[0].url for line in (*cited, *others)) == sorted({f"http://host/{step.path}" for step in steps})
