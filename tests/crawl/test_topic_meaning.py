"""What a topic is understood as: a thing, a side of it, and what else it names."""

from __future__ import annotations

import pytest
from tests.crawl.trails import PLAIN, a_shelf_book, settings, start_step, steps_of, visit, visits

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import StartStep
from kiwiresearch.crawl.subject import TopicSubject, read_subject
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books

PAGES = {
    "Fenfever": """
        Fenfever is an illness of wet lands. A [[Barn]] is no place for it.
        == Causes ==
        Fenfever is caused by the [[Marsh fly]].
        == Treatment ==
        Fenfever is treated with [[Willow tea]].
        <h3>Rest</h3>
        Those who have fenfever rest on a [[Straw bed]].
    """,
    "Treatment": f"A treatment is what is done against an illness.\n{PLAIN}",
    "Cause": f"A cause is why a thing happens.\n{PLAIN}",
    "Marsh fly": f"A marsh fly is a fly that brings fenfever.\n{PLAIN}",
    "Willow tea": f"Willow tea is a drink, and a treatment of fenfever.\n{PLAIN}",
    "Straw bed": f"A straw bed is a bed for the ill, also for fenfever.\n{PLAIN}",
    "Barn": f"A barn is where hay is kept.\n{PLAIN}",
    "Orba": f"Orba is a world with nine moons.\n{PLAIN}",
    "Moon": f"A moon goes round a world such as Orba.\n{PLAIN}",
    "Anton Berg": f"Anton Berg was a general, known for the invasion of Avonia.\n{PLAIN}",
    "Avonia": f"Avonia is a country with an old religion. Smithing is done in Avonia.\n{PLAIN}",
    "Religion": f"Religion is what people believe, in Avonia as elsewhere.\n{PLAIN}",
    "Smithing": f"Smithing is the working of iron, also in Avonia.\n{PLAIN}",
    "History of Avonia": f"The history of Avonia is long.\n{PLAIN}",
    "Bear": f"A bear is a large animal. The diet of a grey bear is fish.\n{PLAIN}",
    "Orderism": f"Orderism is a faith. Orderist festivals last for days, and an orderist fasts.\n{PLAIN}",
    "Festival": f"A festival is a day on which nobody works.\n{PLAIN}",
    "Pump": f"A pump lifts water. How pumps work is easy to see.\n{PLAIN}",
    "Work (physics)": f"Work is force along a way, as pumps do work.\n{PLAIN}",
    "Marsh War I": f"Marsh War I (MWI), also known as the First Marsh War, was a war about reeds.\n{PLAIN}",
    "First Heron War": f"The First Heron War was a war about eels. The marsh was quiet.\n{PLAIN}",
    "Old mill": f"Sacks were carried by night to the old mill, where lanterns burned.\n{PLAIN}",
}


@pytest.fixture(scope="module")
def book() -> OpenBook:
    return a_shelf_book(PAGES)


def taken_apart(book: OpenBook, topic: str) -> TopicSubject:
    hits = search_books([book], topic, SearchOptions(limit=30, read=30)).hits

    def opening_of(hit: Hit) -> str:
        page = book.text(hit.ref.path)
        return page.lowered[page.lead :] if page else ""

    return read_subject(
        parse_query(topic),
        hits,
        lambda name: search_books([book], name, SearchOptions(limit=5, fast=True)).hits,
        opening_of,
    )


@pytest.mark.parametrize(
    ("topic", "head", "aspect", "heads", "others"),
    [
        ("Fenfever", "Fenfever", "", ["Fenfever"], []),
        ("causes of the First Marsh War", "Marsh War I", "causes", ["Marsh War I"], []),
        ("First Marsh War", "Marsh War I", "", ["Marsh War I"], []),
        ("fenfever treatment", "Fenfever", "treatment", ["Fenfever"], []),
        ("Treatment of fenfever", "Fenfever", "Treatment", ["Fenfever"], []),
        ("Causes of fenfever", "Fenfever", "Causes", ["Fenfever"], []),
        ("causes and treatment of fenfever", "Fenfever", "causes and treatment", ["Fenfever"], []),
        ("Orba's moons", "Orba", "moons", ["Orba"], []),
        ("Orba’s moons", "Orba", "moons", ["Orba"], []),
        ("the moons of Orba", "Orba", "moons", ["Orba"], []),
        ("Berg's invasion of Avonia", "Anton Berg", "invasion of Avonia", ["Anton Berg"], ["Avonia"]),
        ("Religion in Avonia", "Avonia", "Religion", ["Avonia"], []),
        ("Smithing in Avonia", "Avonia", "Smithing", ["Avonia"], ["Smithing"]),
        ("History of Avonia", "History of Avonia", "", ["History of Avonia"], []),
        ("the history of Avonia", "History of Avonia", "", ["History of Avonia"], []),
        ("the grey bear", "grey bear", "", [], ["Bear"]),
        ("diet of the grey bear", "grey bear", "diet", [], ["Bear"]),
        ("diet of bears", "Bear", "diet", ["Bear"], []),
        ("Orderist festivals", "Orderism", "festivals", ["Orderism"], []),
        ("how pumps work", "Pump", "work", ["Pump"], []),
        ("Work", "Work (physics)", "", ["Work (physics)"], []),
        ("religion", "Religion", "", ["Religion"], []),
        ("old mills", "Old mill", "", ["Old mill"], []),
        ("mill", "Old mill", "", ["Old mill"], []),
        ("sacks carried by night", "Old mill", "sacks carried by night", ["Old mill"], []),
    ],
)
def test_a_topic_is_a_thing_and_a_side_of_it(
    book: OpenBook, topic: str, head: str, aspect: str, heads: list[str], others: list[str]
) -> None:
    """The title that is in a topic is the subject, the rest is the aspect; an aspect that is a title is not one."""
    what = taken_apart(book, topic)
    assert (what.head, what.aspect) == (head, aspect)
    assert [hit.title for hit in what.topic_pages] == heads
    assert [hit.title for hit in what.other_pages] == others


def test_without_hits_the_topic_is_its_own_thing(book: OpenBook) -> None:
    """What no page speaks of is not taken apart."""
    assert taken_apart(book, "xyzzyplugh") == TopicSubject("xyzzyplugh", is_head_in_topic=False)
    assert read_subject(parse_query("what is xyzzyplugh?"), (), lambda _: (), lambda _: "") == TopicSubject(
        "xyzzyplugh", is_head_in_topic=False
    )


def begin(book: OpenBook, topic: str, aspect: str = "") -> StartStep:
    return start_step(steps_of(CrawlPlan([book], topic, settings=settings(max_pages=1), aspect=aspect)))


def test_the_crawl_begins_with_what_the_topic_is_about(book: OpenBook) -> None:
    """The page about the thing is the seed and is marked as that; a page about the side alone is none (R2, R74)."""
    start = begin(book, "fenfever treatment")
    assert (start.topic, start.head, start.aspect) == ("fenfever treatment", "Fenfever", "treatment")
    assert [(seed.title, seed.is_topic_page) for seed in start.seeds] == [("Fenfever", True)]
    assert {one.title for one in start.found} == {"Fenfever", "Marsh fly", "Willow tea", "Straw bed"}


def test_other_titles_in_a_topic_are_seeds_too(book: OpenBook) -> None:
    """Both things that a topic names are seeds, and the reason says so; only one is the thing it is about (R74)."""
    start = begin(book, "Smithing in Avonia")
    assert [(seed.title, seed.is_topic_page) for seed in start.seeds] == [("Avonia", True), ("Smithing", False)]
    assert {seed.why for seed in start.seeds} == {"its title is part of the topic"}


def test_a_wider_page_is_not_the_page_of_a_narrower_thing(book: OpenBook) -> None:
    """A crawl about the grey bear begins with 'Bear', and knows that it is about more than the grey one."""
    start = begin(book, "diet of the grey bear")
    assert (start.head, start.aspect) == ("grey bear", "diet")
    assert [(seed.title, seed.is_topic_page) for seed in start.seeds] == [("Bear", False)]


@pytest.mark.parametrize("topic", ["Fenfever", "fenfever treatment"])
def test_the_side_that_the_user_names_wins(book: OpenBook, topic: str) -> None:
    """With an aspect of the user's the thing is the same, and the side is the user's own."""
    start = begin(book, topic, "causes")
    assert (start.topic, start.head, start.aspect) == (topic, "Fenfever", "causes")
    assert [(seed.title, seed.is_topic_page) for seed in start.seeds] == [("Fenfever", True)]


def worths(book: OpenBook, topic: str, aspect: str = "") -> dict[str, float]:
    steps = steps_of(CrawlPlan([book], topic, settings=settings(max_pages=1), aspect=aspect))
    return {offer.title: offer.worth for offer in visit(steps, "Fenfever").offers}


def test_links_below_a_heading_on_the_aspect_count_more(book: OpenBook) -> None:
    """A link in a section on the side that is asked for, and below it, counts more, any other less (R47, R80)."""
    plain = worths(book, "Fenfever")
    treated = worths(book, "Fenfever", "treatment")
    on = {"Willow tea", "Straw bed"}
    for title in plain:
        one = treated[title] / plain[title]
        assert (one > 1) if title in on else (one < 1), title
    assert set(sorted(treated, key=treated.__getitem__)[-2:]) == on
    caused = worths(book, "causes of fenfever")
    assert max(caused, key=caused.__getitem__) == "Marsh fly"


def test_the_pages_on_the_aspect_are_taken_first(book: OpenBook) -> None:
    """What the section on the treatment links to comes before what the section on causes does (R53)."""
    order = [step.title for step in visits(steps_of(CrawlPlan([book], "fenfever treatment")))]
    assert order[:2] == ["Fenfever", "Willow tea"]
    assert "Marsh fly" not in order or order.index("Willow tea") < order.index("Marsh fly")
