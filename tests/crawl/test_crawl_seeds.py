"""Where a crawl begins."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.crawl.trails import (
    PLAIN,
    TEXT,
    a_shelf_book,
    end_step,
    lines,
    settings,
    start_step,
    steps_of,
    taken,
    visit,
    visits,
)

from kiwiresearch.codec import plain
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import StartStep, VisitStep, step_from_record, step_record
from kiwiresearch.messages import Message, message_record
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles

SENSES = {
    "Mercury": """
        Mercury may refer to:
        * [[Mercury (planet)]]
        * [[Mercury (metal)]]
        * [[Mercury (god)]]
        * [[Mercury Inn]]
    """,
    "Mercury (planet)": f"Mercury is a planet near the Sun.\n{TEXT}",
    "Mercury (metal)": f"Mercury is a metal that flows.\n{TEXT}",
    "Mercury (god)": f"Mercury is a god of trade.\n{TEXT}",
    "Mercury Inn": f"Mercury Inn is a house of Varn.\n{TEXT}",
}


def begin(book: OpenBook, topic: str, focus: str = "", **options: Any) -> StartStep:
    return start_step(steps_of(CrawlPlan([book], topic, focus, settings=settings(**{"max_pages": 1, **options}))))


def seeds(start: StartStep) -> dict[str, str]:
    return {seed.title: seed.why for seed in start.seeds}


def test_the_title_of_a_page_is_the_first_choice(salt_book: OpenBook) -> None:
    """The topic is searched, and a page of exactly that title is the seed (R2, R73, R74)."""
    assert seeds(begin(salt_book, "salt road")) == {"Salt road": "its title matches the topic"}


def test_another_name_leads_to_the_seed(salt_book: OpenBook) -> None:
    """If the topic is the name of a redirect, its target is the seed, and the reason says by which name (R74)."""
    assert seeds(begin(salt_book, "White way")) == {
        "Salt road": "'White way' is another name for it and matches the topic"
    }


def test_a_page_that_has_the_topics_words_is_a_close_match() -> None:
    """If no title is the topic, the page with most of its words is the seed (R9, R74)."""
    pages = {"Inn": f"Where carriers slept in deep winter.\n{TEXT}", "Barn": f"Where hay is kept.\n{TEXT}"}
    assert seeds(begin(a_shelf_book(pages), "carriers in winter")) == {"Inn": "it matches the topic best"}


@pytest.mark.parametrize(
    ("gone", "first", "why"),
    [
        ([], "Tin way", "its title matches the topic"),
        (["Tin way"], "Long road", "'Tin way' is another name for it and matches the topic"),
        (["Tin way", "Long road"], "Zoo", "it matches the topic best"),
    ],
)
def test_exact_title_before_redirect_before_close_match(gone: list[str], first: str, why: str) -> None:
    """The seed is the page of that title; else where that name leads; else the closest match (R74)."""
    pages = {
        "Tin way": f"A path.\n{TEXT}",
        "Long road": f"A road of old.\n{TEXT}",
        "Zoo": f"The tin way, the tin way, a tin way and the tin way pass here.\n{TEXT}",
    }
    left = {title: text for title, text in pages.items() if title not in gone}
    aliases = {} if "Tin way" in left or "Long road" not in left else {"Tin way": "Long road"}
    found = seeds(begin(a_shelf_book(left, aliases), "tin way"))
    assert next(iter(found.items())) == (first, why)


def test_a_page_of_senses_comes_last_and_its_targets_instead() -> None:
    """A page that only lists senses is not a seed; the likeliest of its targets is (R74, R75, R77)."""
    start = begin(a_shelf_book(SENSES), "Mercury")
    (seed,) = start.seeds
    assert seed.title in {"Mercury (planet)", "Mercury (metal)", "Mercury (god)"}
    assert (seed.why, seed.is_topic_page, start.head) == ("one of the meanings of the topic's name", True, seed.title)
    assert {page.title: page.why for page in start.passed_over}["Mercury"] == "it only lists meanings"


def test_other_senses_are_listed_and_are_not_candidates() -> None:
    """A crawl keeps to one sense of a name: the others are named, and neither they nor their list are met (R75)."""
    book = a_shelf_book(SENSES)
    steps = steps_of(CrawlPlan([book], "Mercury"))
    start = start_step(steps)
    (seed,) = start.seeds
    assert {seed.title, *start.senses} == set(SENSES) - {"Mercury"}
    assert seed.title not in start.senses
    assert [one.title for one in start.found] == [seed.title]
    assert taken(steps) == [seed.title]


def test_the_page_of_the_bare_name_is_the_sense() -> None:
    """If a page has the name without a qualifier, it is the seed, and the qualified ones are other senses (R75)."""
    pages = {**SENSES, "Mercury": f"Mercury is a carrier of Varn.\n{TEXT}"}
    start = begin(a_shelf_book(pages), "Mercury")
    assert list(seeds(start)) == ["Mercury"]
    assert set(start.senses) == {"Mercury (planet)", "Mercury (metal)", "Mercury (god)"}
    assert set(start.senses).isdisjoint(one.title for one in start.found)


def test_a_page_that_shares_only_a_common_word_is_not_a_candidate() -> None:
    """If the thing of the topic is known, a page must name it to be met by search (R73)."""
    pages = {
        "Salt road": TEXT,
        "Inn": f"An inn of the salt road.\n{TEXT}",
        "Wine road": f"A road to the hills.\n{PLAIN}",
        "Soup": f"Salt is put into it.\n{PLAIN}",
        "Sea": f"It is full of salt. No road crosses it.\n{PLAIN}",
    }
    assert {one.title for one in begin(a_shelf_book(pages), "salt road").found} == {"Salt road", "Inn"}


@pytest.mark.parametrize(
    ("focus", "first"), [("metal", "Mercury (metal)"), ("god of trade", "Mercury (god)"), ("Sun", "Mercury (planet)")]
)
def test_the_focus_decides_between_senses(focus: str, first: str) -> None:
    """The targets of a page of senses are scored against the topic and the user's hint (R76)."""
    book = a_shelf_book(SENSES)
    start = begin(book, "Mercury", focus)
    assert start.seeds[0].title == first
    assert start.seeds[0].score > max(other.score for other in (*start.seeds[1:], *start.passed_over))
    assert taken(steps_of(CrawlPlan([book], "Mercury", focus, settings=settings(max_pages=1)))) == [first]


def test_a_topic_that_names_two_things_begins_with_both() -> None:
    """'Drought and the mule train' is about two pages, and both are seeds."""
    pages = {
        "Drought": f"A time without rain.\n{TEXT}",
        "Mule train": f"A line of mules.\n{TEXT}",
        "Barn": f"In a drought, hay is dear.\n{TEXT}",
        **{f"Other {number}": TEXT for number in range(20)},
    }
    found = seeds(begin(a_shelf_book(pages), "drought and the mule train"))
    assert found == {"Mule train": "its title is part of the topic", "Drought": "its title is part of the topic"}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_there_are_no_more_seeds_than_asked_for(most: int) -> None:
    """The number of seeds is a setting, and those beyond it are listed (R77)."""
    things = ("Drought", "Hail", "Flood", "Locusts")
    pages = {thing: f"{thing} came over the land.\n{TEXT}" for thing in things}
    pages |= {f"Other {number}": TEXT for number in range(20)}
    start = begin(a_shelf_book(pages), "drought, hail, flood and locusts", max_seeds=most)
    assert len(start.seeds) == most
    assert set(seeds(start)) <= set(things)
    why = "one starting page is enough" if most == 1 else f"{most} starting pages are enough"
    assert {page.why for page in start.passed_over if page.title in things} == {why}


def test_seeds_are_visited_first_at_depth_0() -> None:
    """All seeds are taken before any other page, in their order, and have depth 0 (R91)."""
    book = a_shelf_book(SENSES)
    steps = steps_of(CrawlPlan([book], "Mercury"))
    start = start_step(steps)
    first: list[VisitStep] = visits(steps)[: len(start.seeds)]
    assert [(step.title, step.depth) for step in first] == [(seed.title, 0) for seed in start.seeds]
    assert all(step.reason == f"starting page: {seed.why}" for step, seed in zip(first, start.seeds, strict=True))
    assert all(step.depth > 0 for step in visits(steps)[len(start.seeds) :])


def test_a_page_of_senses_without_targets_is_not_a_seed() -> None:
    """If the topic is only the name of a page of senses, and the book has none of them, there is no seed (R74)."""
    pages = {"Mercury": "Mercury may refer to:\n* [[Planet]]\n* [[Metal]]", "Barn": TEXT}
    start = begin(a_shelf_book(pages), "Mercury")
    assert start.seeds == ()
    assert [(page.title, page.why) for page in start.passed_over] == [("Mercury", "it only lists meanings")]


def test_pages_that_were_passed_over_are_listed_with_a_reason(salt_book: OpenBook) -> None:
    """Pages that were found and are not seeds are named, each with its score and why not (R55)."""
    start = begin(salt_book, "salt road")
    values = {page.title: page.why for page in start.passed_over}
    assert values["Mule train"].startswith("its score is ")
    assert values["Talk:Salt road"] == "not an article"
    assert all(page.score > 0 for page in start.passed_over if page.title != "Talk:Salt road")
    assert "Salt road" not in values


def test_every_message_that_says_why_a_page_was_considered_can_be_translated(salt_book: OpenBook) -> None:
    """The reason for a seed is a message with a kind; that for a page passed over, only in the log, is plain text."""
    start = step_from_record(plain(step_record(begin(salt_book, "salt road"))))
    assert isinstance(start, StartStep)
    choices = (*start.seeds, *start.passed_over)
    assert [bool(message_record(choice.why)) for choice in choices] == [
        isinstance(choice.why, Message) for choice in choices
    ]
    assert start.seeds
    assert start.passed_over


def test_pages_that_the_search_found_are_candidates(salt_book: OpenBook) -> None:
    """Pages that speak of the topic need no link to be met; they lie one step from the seeds (R73, R91)."""
    pages = {"Salt road": TEXT, "Inn": f"An inn of the salt road.\n{TEXT}"}
    steps = steps_of(CrawlPlan([a_shelf_book(pages)], "salt road"))
    assert {step.title: step.depth for step in visits(steps)} == {"Salt road": 0, "Inn": 1}
    assert [found.title for found in start_step(steps).found] == ["Salt road", "Inn"]


def test_pages_beyond_the_best_hits_that_name_the_topic_are_candidates() -> None:
    """A page far down the list that has the topic's words together is found as well (R73)."""
    roads = {f"Road {number:03}": f"Salt, and far from it a road.\n{TEXT}" for number in range(100)}
    pages = {"Salt road": TEXT, **dict(list(roads.items())[:35]), "Zoo": f"Near the salt road.\n{TEXT}", **roads}
    found = {one.title: one for one in begin(a_shelf_book(pages), "salt road").found}
    assert len(found) < len(pages)
    assert found["Zoo"].search_share == 0.0
    assert found["Zoo"].name_share > 0.5


def test_a_filtered_page_is_a_seed_only_by_its_very_title(salt_book: OpenBook) -> None:
    """A year is where a crawl about that year begins; a page that is merely found is left out (R85)."""
    assert list(seeds(begin(salt_book, "1275"))) == ["1275"]
    assert "1275" not in seeds(begin(salt_book, "early snow in a year"))


@pytest.mark.parametrize("topic", ["xyzzyplugh", "", "   ", "???", "\x00\n\t", "q" * 10_000])
def test_without_a_seed_the_crawl_ends(salt_book: OpenBook, topic: str) -> None:
    """A topic that no page answers gives no seeds and no pages, and the end says so."""
    steps = steps_of(CrawlPlan([salt_book], topic, settings=settings(max_pages=5)))
    assert start_step(steps).seeds == ()
    assert (len(steps), end_step(steps).why) == (2, "no page was found to start from")


def test_without_books_the_crawl_ends() -> None:
    """Where there is no book there is nothing to begin with."""
    steps = steps_of(CrawlPlan([], "salt road"))
    assert (start_step(steps).seeds, end_step(steps).why) == ((), "no page was found to start from")


def test_the_log_says_how_the_book_was_searched(salt_book: OpenBook) -> None:
    """The words that were searched, those the book does not have, and how many pages were found are kept (R55)."""
    start = begin(salt_book, "salt road dragons", "tax")
    (searched,) = start.searched
    assert [word for word, _ in searched.words] == ["salt", "road", "dragons", "tax"]
    assert searched.unknown_words == ("dragons", "tax")
    assert searched.found_pages == len(start.found) > 0
    whole = begin(salt_book, "salt road")
    assert whole.searched[0].naming_pages == sum(found.is_named for found in whole.found) > 1


def test_a_mistyped_topic_is_read_as_meant(salt_book: OpenBook, tmp_path: Path) -> None:
    """A word that no book knows is repaired, and the crawl goes on with what was meant."""
    file = titles_file(tmp_path, salt_book.book)
    build_titles(salt_book.archive, file)
    titles = open_titles(file, salt_book.book)
    assert titles is not None
    with closing(titles):
        crawl = CrawlPlan([OpenBook(salt_book.archive, titles)], "salt raod", settings=settings(max_pages=4))
        steps = steps_of(crawl)
    assert start_step(steps).searched[0].corrected == "salt road"
    assert taken(steps)[0] == "Salt road"
    assert visit(steps, "Salt road").relevance == 1.0
    assert "names the topic" in lines(visits(steps)[1])
