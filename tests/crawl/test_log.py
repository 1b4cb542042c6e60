"""run.log: the story of a crawl, for people."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from tests.crawl.trails import TEXT, a_shelf_book, looks, settings, state_after, steps_of, visits

from kiwiresearch.crawl.outputs import MAX_LEFT_LISTED, crawl_log, missing_words, refusals, score_words
from kiwiresearch.crawl.state import CrawlPlan, CrawlState
from kiwiresearch.crawl.step import EndStep, LearnStep
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import ScoreTerm

PAGE = re.compile(r"(\d+)\. (.+) \(depth (\d+), (-?[\d.]+) points\)")


def crawled(*books: OpenBook, topic: str = "salt road", focus: str = "", **options: Any) -> CrawlState:
    crawl = CrawlPlan(books, topic, focus, settings(fast=True, **options))
    return state_after(crawl, steps_of(crawl))


def log(state: CrawlState, *books: OpenBook) -> list[str]:
    return list(crawl_log(state, {book.id: book.book.title for book in books}))


def part(lines: list[str], heading: str) -> list[str]:
    """The lines below a heading."""
    rest = lines[lines.index(f"## {heading}") + 1 :]
    return rest[: rest.index("")] if "" in rest else rest


def test_a_log_has_its_parts(salt_book: OpenBook) -> None:
    """The log has the settings, the start, each page, what was left, and what was searched (R8, R28)."""
    lines = log(crawled(salt_book, max_pages=5), salt_book)
    assert lines[0] == "# salt road"
    assert [line for line in lines if line.startswith("## ")] == [
        "## Settings", "## Starting pages", "## Page by page", "## Not read", "## Search statement",
    ]  # fmt: skip


def test_each_page_has_its_reason_and_its_sum(salt_book: OpenBook) -> None:
    """Below each page are why it was chosen and a score whose terms add up to the points printed (R8, R28)."""
    state = crawled(salt_book, max_pages=12)
    lines = part(log(state, salt_book), "Page by page")
    starts = [(number, found) for number, line in enumerate(lines) if (found := PAGE.fullmatch(line))]
    assert [found[2] for _, found in starts] == [step.title for step in visits(state.steps)]
    for (number, found), step in zip(starts, visits(state.steps), strict=True):
        assert lines[number + 1] == f"   Chosen: {step.reason}"
        score = lines[number + 2]
        assert score.startswith("   Score: ")
        terms = [Decimal(term.rpartition(" ")[2]) for term in score.removeprefix("   Score: ").split(", ")]
        assert sum(terms) == Decimal(found[4]), lines[number]


def test_seeds_and_those_passed_over_have_reasons(salt_book: OpenBook) -> None:
    """The log says why each seed was taken, and of others why they were not (R8)."""
    lines = part(log(crawled(salt_book, max_pages=2), salt_book), "Starting pages")
    assert lines.pop(0) == "Understood as: Salt road"
    assert lines[0].startswith("Searched 'Memory' for 'salt', 'road': ")
    assert next(line for line in lines if line.startswith("Starting page: ")).startswith("Starting page: 'Salt road', ")
    assert all(re.fullmatch(r"(Starting page|Not chosen): '.+', [\d.-]+ points: .+\.", line) for line in lines[1:])
    assert any(line.startswith("Not chosen: ") for line in lines)


def test_refused_links_are_counted(salt_book: OpenBook) -> None:
    """Below a page is how many links were refused and why; at the end their sum."""
    state = crawled(salt_book)
    lines = log(state, salt_book)
    first = next(line for line in lines if line.startswith("   Links: "))
    refused = dict(visits(state.steps)[0].refused)
    assert refused["not in the book"] == 1
    assert refused["only a year"] == 2
    assert first.endswith(f"; skipped: {', '.join(f'{why} {count}' for why, count in sorted(refused.items()))}.")
    total: Counter[str] = Counter()
    for step in visits(state.steps):
        total.update(dict(step.refused))
    assert dict(refusals(state)) == dict(total)
    text = ", ".join(f"{why} {count}" for why, count in refusals(state))
    assert f"Links skipped: {text}." in part(lines, "Not read")
    assert [count for _, count in refusals(state)] == sorted(total.values(), reverse=True)


def test_the_best_candidates_that_were_left_are_listed() -> None:
    """Candidates that were not visited are listed with their scores, the rest is counted."""
    names = [f"Inn {number}" for number in range(MAX_LEFT_LISTED + 10)]
    links = ", ".join(f"[[{name}]]" for name in names)
    book = a_shelf_book({"Salt road": f"The salt road had {links}.\n{TEXT}"} | dict.fromkeys(names, TEXT))
    state = crawled(book, max_pages=3, max_links_per_page=100)
    lines = part(log(state, book), "Not read")
    assert len(state.frontier) == MAX_LEFT_LISTED + 8
    assert [line.partition(", depth")[0] for line in lines[:MAX_LEFT_LISTED]] == [
        repr(candidate.title) for candidate in state.frontier.in_order()[:MAX_LEFT_LISTED]
    ]
    assert lines[MAX_LEFT_LISTED] == "And 8 more candidates with fewer points."


def test_no_candidates_left_is_logged_as_well() -> None:
    """If all candidates were visited, the log says so."""
    book = a_shelf_book({"Salt road": f"Alone.\n{TEXT}"})
    assert part(log(crawled(book), book), "Not read") == ["No candidates remain."]


def test_links_that_are_too_deep_are_logged() -> None:
    """At the last depth links are counted, and not followed."""
    book = a_shelf_book({"Salt road": f"The salt road had an [[Inn]].\n{TEXT}", "Inn": f"A house.\n{TEXT}"})
    lines = log(crawled(book, max_depth=0), book)
    assert "   Links: 1 page linked, not followed: max_depth is reached." in lines


def test_pages_that_were_seen_and_not_taken_are_logged(salt_book: OpenBook) -> None:
    """A page that was read and left, or put back, is in the log with its reason."""
    state = crawled(salt_book)
    rows = [line for line in log(state, salt_book) if line.startswith(("   Skipped ", "   Postponed "))]
    assert rows == [
        f"   {'Skipped' if step.is_dropped else 'Postponed'} {step.title!r}: {step.why}." for step in looks(state.steps)
    ]
    assert "   Skipped 'Pass': it only lists meanings, which are offered instead." in rows


def test_words_that_were_learned_are_logged(salt_book: OpenBook) -> None:
    """When keywords are learned, the log has them at that place, and again at the end."""
    state = crawled(salt_book, max_pages=12)
    learned = [step for step in state.steps if isinstance(step, LearnStep) and step.words]
    lines = log(state, salt_book)
    rows = [line for line in lines if line.startswith("   Learned after ")]
    assert [", ".join(step.words) in line for step, line in zip(learned, rows, strict=True)] == [True] * len(learned)
    assert learned
    assert f"Words learned from the pages and used for scoring: {', '.join(learned[-1].words)}." in part(
        lines, "Search statement"
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_pages": 3}, "the limit of 3 pages was reached"),
        ({"max_depth": 0}, "only the starting pages were requested, without their links"),
    ],
)
def test_the_statement_says_why_it_ended(salt_book: OpenBook, options: dict[str, Any], why: str) -> None:
    """The search statement says what was taken, why the crawl stopped, and how many candidates it left."""
    state = crawled(salt_book, **options)
    lines = part(log(state, salt_book), "Search statement")
    assert isinstance(state.ended, EndStep)
    left = len(state.frontier)
    assert f"Stopped because {why}; {left} candidate{'' if left == 1 else 's'} not read." in lines
    taken = len(state.visited)
    assert any(line.startswith(f"Read: {taken} page{'' if taken == 1 else 's'} (1 at depth 0") for line in lines)


def test_the_statement_says_what_was_not_found(salt_book: OpenBook) -> None:
    """Words that the book does not have, and words that no page taken has, are named."""
    state = crawled(salt_book, topic="salt road lantern zeppelin", focus="hospice xylophone", max_pages=1)
    lines = part(log(state, salt_book), "Search statement")
    assert lines[0] == "Topic: 'salt road lantern zeppelin', with the focus 'hospice xylophone'."
    assert "Not found in that book: 'zeppelin', 'xylophone'." in lines
    (taken,) = state.visited
    text = salt_book.archive.read(taken.path).content.decode().casefold()
    asked = ("salt", "road", "lantern", "zeppelin", "hospice", "xylophone")
    missing = [word for word in asked if word not in text]
    assert state.started is not None
    assert missing_words(state, state.started) == missing
    assert f"Not on any page that was read: {', '.join(map(repr, missing))}." in lines
    assert 2 < len(missing) < len(asked)
    assert lines[-1].startswith("Only these books were searched")


def test_settings_are_in_the_log(salt_book: OpenBook) -> None:
    """All settings that decide what is taken are at the top."""
    state = crawled(
        salt_book, max_pages=3, strategy="bfs", filters={"years": False, "lists": "exclude"}, weights={"novelty": 0.5}
    )
    first, shared, second, third = part(log(state, salt_book), "Settings")
    assert shared.startswith("bfs: each depth gets a share of the pages")
    assert first.startswith("strategy bfs, max_pages 3, max_depth 2, max_links_per_page 30, ")
    assert first.endswith("vectors off")
    assert ("years off" in second, "lists exclude" in second) == (True, True)
    assert "novelty 0.5" in third


def test_two_books_are_distinguished() -> None:
    """With several books each page and each seed says which it is from."""
    names = ("Hills", "Coast")
    books = [
        a_shelf_book({f"Salt road of the {name}": " ".join([f"The salt road of {name}.", *own])}, name=name)
        for name in names
        for own in [[f"{name}{number}" for number in range(200)]]
    ]
    lines = log(crawled(*books), *books)
    assert {line.partition(" (depth")[0][3:] for line in lines if PAGE.fullmatch(line)} == {
        "Salt road of the Hills in 'Hills'", "Salt road of the Coast in 'Coast'",
    }  # fmt: skip
    assert any(re.match("Starting page: 'Salt road of the (Hills|Coast)' in '(Hills|Coast)', ", line) for line in lines)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((ScoreTerm("keywords", 2.5), ScoreTerm("stub", -5.0)), "keywords +2.5, stub -5"),
        ((), "no points"),
    ],
)
def test_a_score_in_words(lines: tuple[ScoreTerm, ...], words: str) -> None:
    """Each term of a score has its sign."""
    assert score_words(lines) == words
