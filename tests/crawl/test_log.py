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
    return list(crawl_log(state, {book.book.id: book.book.title for book in books}))


def part(lines: list[str], heading: str) -> list[str]:
    """The lines below a heading."""
    rest = lines[lines.index(f"## {heading}") + 1 :]
    return rest[: rest.index("")] if "" in rest else rest


def test_a_log_has_its_parts(salt_book: OpenBook) -> None:
    """The log tells the settings, the beginning, each page, what was left, and what was searched (R8, R28)."""
    lines = log(crawled(salt_book, max_pages=5), salt_book)
    assert lines[0] == "# salt road"
    assert [line for line in lines if line.startswith("## ")] == [
        "## Settings", "## Where it began", "## Page by page", "## What was left", "## Search statement",
    ]  # fmt: skip


def test_each_page_has_its_reason_and_its_sum(salt_book: OpenBook) -> None:
    """Below each page stand why it was chosen and a score whose terms add up to the points printed (R8, R28)."""
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
    lines = part(log(crawled(salt_book, max_pages=2), salt_book), "Where it began")
    assert lines.pop(0) == "Understood as: Salt road"
    assert lines[0].startswith("Searched 'Memory' for 'salt', 'road': ")
    assert next(line for line in lines if line.startswith("Seed: ")).startswith("Seed: 'Salt road', ")
    assert all(re.fullmatch(r"(Seed|Passed over): '.+', [\d.-]+ points: .+\.", line) for line in lines[1:])
    assert any(line.startswith("Passed over: ") for line in lines)


def test_refused_links_are_counted(salt_book: OpenBook) -> None:
    """Below a page stands how many links were refused and why; at the end their sum."""
    state = crawled(salt_book)
    lines = log(state, salt_book)
    first = next(line for line in lines if line.startswith("   Links: "))
    refused = dict(visits(state.steps)[0].refused)
    assert refused["not in the book"] == 1
    assert refused["only a year"] == 2
    assert first.endswith(f"; refused: {', '.join(f'{why} {count}' for why, count in sorted(refused.items()))}.")
    total: Counter[str] = Counter()
    for step in visits(state.steps):
        total.update(dict(step.refused))
    assert dict(refusals(state)) == dict(total)
    told = ", ".join(f"{why} {count}" for why, count in refusals(state))
    assert f"Links that were refused: {told}." in part(lines, "What was left")
    assert [count for _, count in refusals(state)] == sorted(total.values(), reverse=True)


def test_the_best_that_were_left_are_told() -> None:
    """Candidates that were not visited are told with their scores, the rest is counted."""
    names = [f"Inn {number}" for number in range(MAX_LEFT_LISTED + 10)]
    links = ", ".join(f"[[{name}]]" for name in names)
    book = a_shelf_book({"Salt road": f"The salt road had {links}.\n{TEXT}"} | dict.fromkeys(names, TEXT))
    state = crawled(book, max_pages=3, max_links_per_page=100)
    lines = part(log(state, book), "What was left")
    assert len(state.frontier) == MAX_LEFT_LISTED + 8
    assert [line.partition(", depth")[0] for line in lines[:MAX_LEFT_LISTED]] == [
        repr(candidate.title) for candidate in state.frontier.in_order()[:MAX_LEFT_LISTED]
    ]
    assert lines[MAX_LEFT_LISTED] == "And 8 more candidates with fewer points."


def test_nothing_left_is_told_as_well() -> None:
    """Where all candidates were visited, the log says so."""
    book = a_shelf_book({"Salt road": f"Alone.\n{TEXT}"})
    assert part(log(crawled(book), book), "What was left") == ["No candidate was left."]


def test_links_that_are_too_deep_are_told() -> None:
    """At the last depth links are counted, and not followed."""
    book = a_shelf_book({"Salt road": f"The salt road had an [[Inn]].\n{TEXT}", "Inn": f"A house.\n{TEXT}"})
    lines = log(crawled(book, max_depth=0), book)
    assert "   Links: 1 page linked, not followed: max_depth is reached." in lines


def test_pages_that_were_looked_at_and_not_taken_are_told(salt_book: OpenBook) -> None:
    """A page that was read and left, or put back, is in the log with its reason."""
    state = crawled(salt_book)
    told = [line for line in log(state, salt_book) if line.startswith(("   Left ", "   Put back "))]
    assert told == [
        f"   {'Left' if step.gone else 'Put back'} {step.title!r}: {step.why}." for step in looks(state.steps)
    ]
    assert "   Left 'Pass': it only lists senses, which are offered instead." in told


def test_words_that_were_learned_are_told(salt_book: OpenBook) -> None:
    """When keywords are learned, the log has them at that place, and again at the end."""
    state = crawled(salt_book, max_pages=12)
    learned = [step for step in state.steps if isinstance(step, LearnStep) and step.words]
    lines = log(state, salt_book)
    told = [line for line in lines if line.startswith("   Learned after ")]
    assert [", ".join(step.words) in line for step, line in zip(learned, told, strict=True)] == [True] * len(learned)
    assert learned
    assert f"Learned on the way, and counted: {', '.join(learned[-1].words)}." in part(lines, "Search statement")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_pages": 3}, "max_pages (3) was reached"),
        ({"max_depth": 0}, "max_depth is 0, so that only the seeds were wanted"),
    ],
)
def test_the_statement_says_why_it_ended(salt_book: OpenBook, options: dict[str, Any], why: str) -> None:
    """The search statement says what was taken, why the crawl stopped, and how many candidates it left."""
    state = crawled(salt_book, **options)
    lines = part(log(state, salt_book), "Search statement")
    assert isinstance(state.ended, EndStep)
    left = len(state.frontier)
    assert f"Ended because {why}; {left} candidate{'' if left == 1 else 's'} not visited." in lines
    taken = len(state.visited)
    assert any(line.startswith(f"Taken: {taken} page{'' if taken == 1 else 's'} (1 at depth 0") for line in lines)


def test_the_statement_says_what_was_not_found(salt_book: OpenBook) -> None:
    """Words that the book does not have, and words that no page taken has, are named."""
    state = crawled(salt_book, topic="salt road lantern zeppelin", focus="hospice xylophone", max_pages=1)
    lines = part(log(state, salt_book), "Search statement")
    assert lines[0] == "Looked for: 'salt road lantern zeppelin' with a view to 'hospice xylophone'."
    assert "Not found there at all: 'zeppelin', 'xylophone'." in lines
    (taken,) = state.visited
    text = salt_book.archive.read(taken.path).content.decode().casefold()
    asked = ("salt", "road", "lantern", "zeppelin", "hospice", "xylophone")
    missing = [word for word in asked if word not in text]
    assert state.started is not None
    assert missing_words(state, state.started) == missing
    assert f"On no page that was taken: {', '.join(map(repr, missing))}." in lines
    assert 2 < len(missing) < len(asked)
    assert lines[-1].startswith("Only these books were searched")


def test_settings_are_in_the_log(salt_book: OpenBook) -> None:
    """All settings that decide what is taken stand at the top."""
    state = crawled(
        salt_book, max_pages=3, strategy="bfs", filters={"years": False, "lists": "exclude"}, weights={"novelty": 0.5}
    )
    first, shared, second, third = part(log(state, salt_book), "Settings")
    assert shared.startswith("bfs: the pages are shared among the depths")
    assert first.startswith("strategy bfs, max_pages 3, max_depth 2, max_links_per_page 30, ")
    assert first.endswith("vectors off")
    assert ("years off" in second, "lists exclude" in second) == (True, True)
    assert "novelty 0.5" in third


def test_two_books_are_told_apart() -> None:
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
    assert any(re.match("Seed: 'Salt road of the (Hills|Coast)' in '(Hills|Coast)', ", line) for line in lines)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((ScoreTerm("keywords", 2.5), ScoreTerm("stub", -5.0)), "keywords +2.5, stub -5"),
        ((), "nothing speaks for it"),
    ],
)
def test_a_score_in_words(lines: tuple[ScoreTerm, ...], words: str) -> None:
    """Each term of a score has its sign."""
    assert score_words(lines) == words
