"""Which links are not followed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.crawl.trails import TEXT, a_shelf_book, lines, looks, settings, start_step, steps_of, taken, visit

from kiwiresearch.crawl.links import LinkFilter, asks_for_timeline
from kiwiresearch.crawl.settings import LinkFilters
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep
from kiwiresearch.search.open_book import OpenBook


def crawled(book: OpenBook, topic: str = "salt road", **filters: Any) -> list[CrawlStep]:
    return steps_of(CrawlPlan([book], topic, settings=settings(max_pages=60, filters=filters)))


def test_each_refusal_is_counted(salt_book: OpenBook) -> None:
    """A page says why its links were not followed, and how many for each reason (R14, R16, R82, R83, R85)."""
    page = visit(crawled(salt_book, lists="exclude"), "Salt road")
    assert dict(page.refused) == {
        "excluded": 1,
        "list page": 1,
        "not an article": 4,
        "not in the book": 1,
        "only a year": 2,
        "outside the text": 3,
        "start page": 1,
        "the page itself": 1,
    }


@pytest.mark.parametrize(
    ("switch", "reason", "followed"),
    [
        ({"main_articles_only": False}, "not an article", {"Talk:Salt road", "File:Map.jpg", "Category:Roads"}),
        ({"exclude": ()}, "excluded", {"ISBN 0-00"}),
        ({"years": False}, "only a year", {"1275", "13th century"}),
        ({"outside_text": False}, "outside the text", {"Harbour"}),
        ({"self_links": False}, "the page itself", {"Salt road"}),
        ({"lists": "include"}, "list page", {"List of roads"}),
    ],
)
def test_each_filter_can_be_switched_off(
    salt_book: OpenBook, switch: dict[str, Any], reason: str, followed: set[str]
) -> None:
    """What a filter refuses is offered when it is switched off, and nothing is counted for it (R14, R16, R83, R84)."""
    strict = visit(crawled(salt_book, lists="exclude"), "Salt road")
    loose = visit(crawled(salt_book, **{"lists": "exclude", **switch}), "Salt road")
    assert reason in dict(strict.refused)
    assert reason not in dict(loose.refused)
    assert followed <= {offer.title for offer in loose.offers}
    assert followed.isdisjoint(offer.title for offer in strict.offers)


def test_refused_pages_are_not_taken(salt_book: OpenBook) -> None:
    """No talk page, file, category, help page, number, year or start page becomes part of the corpus (R82, R85)."""
    refused = {"Talk:Salt road", "File:Map.jpg", "Category:Roads", "Help:Reading", "ISBN 0-00", "1275", "Welcome"}
    assert refused.isdisjoint(taken(crawled(salt_book)))
    followed = crawled(salt_book, main_articles_only=False, exclude=(), years=False)
    assert refused - {"Welcome"} <= set(taken(followed))


def test_pages_refused_as_links_are_not_taken_from_the_search(salt_book: OpenBook) -> None:
    """A year whose page speaks of the topic is found by the search, and stays out all the same (R85)."""
    pages = {"Salt road": f"The salt road began in [[1275]].\n{TEXT}", "1275": f"The salt road is built.\n{TEXT}"}
    book = a_shelf_book(pages)
    assert taken(crawled(book)) == ["Salt road"]
    assert taken(crawled(book, years=False)) == ["Salt road", "1275"]


def test_a_page_is_taken_once_though_it_links_to_itself(salt_book: OpenBook) -> None:
    """Links of a page to itself, straight or by another name, lead nowhere (R83)."""
    pages = {"Salt road": f"The [[Salt road]], or [[White way]], is a road with a [[Toll]].\n{TEXT}", "Toll": TEXT}
    book = a_shelf_book(pages, {"White way": "Salt road"})
    steps = crawled(book)
    assert taken(steps) == ["Salt road", "Toll"]
    assert [offer.title for offer in visit(steps, "Salt road").offers] == ["Toll"]
    assert taken(crawled(book, self_links=False)) == ["Salt road", "Toll"]


@pytest.mark.parametrize(
    ("lists", "is_taken", "signal"), [("exclude", False, False), ("penalty", True, True), ("include", True, False)]
)
def test_lists_are_left_out_or_worth_less_or_as_any_page(
    salt_book: OpenBook, lists: str, is_taken: bool, signal: bool
) -> None:
    """A list page is filtered out, or loses points, or neither, as the settings say (R84)."""
    steps = crawled(salt_book, lists=lists)
    assert ("List of roads" in taken(steps)) is is_taken
    if is_taken:
        assert (lines(visit(steps, "List of roads")).get("list page", 0) < 0) is signal


def test_a_list_is_known_by_its_content() -> None:
    """A page that is nothing but a long list is left when it is read, though its title does not say so (R84)."""
    items = "\n".join(f"* A tower by the name of number {number}" for number in range(40))
    book = a_shelf_book({"Salt road": f"The salt road had [[Towers]].\n{TEXT}", "Towers": items})
    assert taken(crawled(book, lists="exclude")) == ["Salt road"]
    (look,) = looks(crawled(book, lists="exclude"))
    assert (look.title, look.why, look.is_dropped) == ("Towers", "it is a list page", True)
    assert lines(visit(crawled(book), "Towers"))["list page"] < 0
    assert "list page" not in lines(visit(crawled(book, lists="include"), "Towers"))


def test_a_page_of_senses_is_left_and_what_it_lists_is_offered(salt_book: OpenBook) -> None:
    """A page that only lists senses is not taken; what it lists takes its place (R15)."""
    steps = crawled(salt_book)
    (look,) = [look for look in looks(steps) if look.title == "Pass"]
    assert look.is_dropped
    assert "Pass" not in taken(steps)
    assert visit(steps, "Letter of pass").depth == 1
    assert "“Pass” links to it" in visit(steps, "Letter of pass").reason


def test_a_page_that_was_left_is_not_offered_again() -> None:
    """A page of senses that was left stays left, though pages visited later link to it as well (R15)."""
    pages = {
        "Salt road": f"The salt road had an [[Abbey]] and a [[Toll]].\n{TEXT}",
        "Abbey": "Abbey may refer to:\n* [[Inn]]\n* [[Mill]]",
        "Toll": f"It was paid at the [[Abbey]].\n{TEXT}",
        "Inn": TEXT,
        "Mill": TEXT,
    }
    steps = crawled(a_shelf_book(pages))
    assert sorted(taken(steps)) == ["Inn", "Mill", "Salt road", "Toll"]
    assert [look.title for look in looks(steps) if look.is_dropped] == ["Abbey"]
    assert {offer.title: offer.is_new for offer in visit(steps, "Toll").offers} == {"Abbey": False}


def test_a_page_of_senses_is_taken_where_the_filter_is_off(salt_book: OpenBook) -> None:
    """With the filter off it is a page as any other, for fewer points (R15)."""
    chosen = settings(max_pages=60, strategy="bfs", filters={"disambiguation": False})
    steps = steps_of(CrawlPlan([salt_book], "salt road", settings=chosen))
    assert lines(visit(steps, "Pass"))["disambiguation page"] < 0
    assert visit(steps, "Letter of pass").depth == 2


def test_years_stay_where_the_topic_is_a_timeline(salt_book: OpenBook) -> None:
    """A topic that asks for a timeline has years among its pages (R85)."""
    steps = crawled(salt_book, "timeline of the salt road")
    assert start_step(steps).timeline
    assert {"1275", "13th century"} <= set(taken(steps))
    assert not start_step(crawled(salt_book)).timeline


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("timeline of the salt road", True),
        ("Chronology of Varn", True),
        ("1275", True),
        ("the 1920s", True),
        ("the year 79 AD", True),
        ("13th century", True),
        ("salt road", False),
        ("the winter of 1275", False),
        ("timelines in films", True),
        ("a timeless road", False),
        ("", False),
    ],
)
def test_topics_that_are_about_time(topic: str, expected: bool) -> None:
    """A topic is a timeline if it says so or is itself a year, decade or century (R85)."""
    assert asks_for_timeline(topic, "eng") is expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Salt road", ""),
        ("Talk:Salt road", "not an article"),
        ("talk:salt road", "not an article"),
        ("User talk:Ann", "not an article"),
        ("Template_talk:Box", "not an article"),
        ("File:Map.jpg", "not an article"),
        ("Image:Map.jpg", "not an article"),
        ("Category:Roads", "not an article"),
        ("Portal:Roads", "not an article"),
        ("Kategorie:Straßen", "not an article"),
        ("Catégorie:Routes", "not an article"),
        ("Salt: a history", ""),
        ("Category", ""),
        ("Category:", ""),
        ("Files: how to keep them", ""),
        ("ISBN", "excluded"),
        ("ISBN 0-00", "excluded"),
        ("isbn 0-00", "excluded"),
        ("1275", "only a year"),
        ("1270s", "only a year"),
        ("79 AD", "only a year"),
        ("AD 79", "only a year"),
        ("1177 BC", "only a year"),
        ("1280s BC", "only a year"),
        ("13th century", "only a year"),
        ("1st century BC", "only a year"),
        ("2nd millennium", "only a year"),
        ("1275 in poetry", ""),
        ("Winter of 1275", ""),
        ("12345", ""),
        ("13th century roads", ""),
        ("List of roads", ""),
    ],
)
def test_titles_that_are_refused(title: str, expected: str) -> None:
    """Other namespaces, excluded titles and years are known by their names (R14, R16, R82, R85)."""
    assert LinkFilter(LinkFilters()).refusal(title.replace(" ", "_"), title) == expected


def test_excluded_titles_are_those_that_begin_so() -> None:
    """The list of the user is compared with how a title begins, in any case; an empty entry says nothing (R16)."""
    judge = LinkFilter(LinkFilters(exclude=("salt MINE", "", "  ")))
    assert [judge.refusal(title, title) for title in ("Salt mines", "Old salt mine", "Salt")] == ["excluded", "", ""]


def test_lists_are_refused_by_their_titles_in_the_books_language() -> None:
    """A title that says 'list' is known in the language of the book (R84)."""
    judge = LinkFilter(LinkFilters(lists="exclude"), "deu")
    assert [judge.refusal(title, title) for title in ("Liste der Straßen", "Lister")] == ["list page", ""]
