"""Near-copies, and branches that have enough pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.crawl.trails import PLAIN, TEXT, Directions, a_shelf_book, lines, settings, steps_of, taken, visit, visits

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep, PageFacts, SkipStep, VisitStep

WORDS = [f"word{number}" for number in range(400)]
STORY = " ".join(f"In year {year} the carrier {year + 7} came by." for year in range(100, 140))


def crawled(pages: dict[str, str], *, novelty: float = 1.0, **options: Any) -> list[CrawlStep]:
    """A crawl in which links count so much that no page is left out for a full branch."""
    weights = {"link_context": 2.0, "novelty": novelty}
    return steps_of(CrawlPlan([a_shelf_book(pages)], "salt road", settings=settings(weights=weights, **options)))


def original_of(text: str, known: str) -> str:
    """The page that a text is a near-copy of, where the known text was taken before."""
    pages = {
        "Salt road": f"The salt road is old.\n== Places ==\n[[One]] [[Two]]\n{PLAIN}",
        "One": f"{known}\n{TEXT}",
        "Two": f"{text}\n{TEXT}",
    }
    steps = crawled(pages)
    assert taken(steps)[:2] == ["Salt road", "One"]
    return facts_of(steps, "Two").duplicate_of


def facts_of(steps: list[CrawlStep], title: str) -> PageFacts:
    """What a page showed when it was read, whether it was taken or not."""
    read = [step for step in steps if isinstance(step, VisitStep | SkipStep) and step.title == title]
    assert read[-1].facts is not None
    return read[-1].facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ".join(WORDS), "One"),
        (" ".join([*WORDS[:50], "changed", *WORDS[50:]]), "One"),
        (" ".join(["first", *WORDS]), "One"),
        (" ".join(reversed(WORDS)), ""),
        (" ".join(WORDS[200:] + WORDS[:200]), ""),
        ("Something else.", ""),
    ],
)
def test_texts_that_say_nearly_the_same(text: str, expected: str) -> None:
    """A text is a near-copy if it shares most of its runs of words, not if it only has the same words (R49)."""
    assert original_of(text, " ".join(WORDS)) == expected


@examples(max_examples=40)
@given(st.lists(st.sampled_from(WORDS), min_size=80, max_size=120, unique=True), st.integers(0, 60))
def test_a_text_is_a_near_copy_of_itself_with_a_word_added(words: list[str], place: int) -> None:
    """Whatever the words are, a copy with a word put in anywhere is known for what it is (R49)."""
    assert original_of(" ".join([*words[:place], "added", *words[place:]]), " ".join(words)) == "One"


def test_a_near_copy_is_worth_less_and_goes_last() -> None:
    """Of two pages that say the same, the second loses points once the first is taken, and goes behind others (R49)."""
    pages = {
        "Salt road": f"The salt road is old.\n== Places ==\n[[Abbey]] [[Abbey again]] [[Zinc]]\n{TEXT}",
        "Abbey": f"{STORY}\n{TEXT}",
        "Abbey again": f"{STORY}\n{TEXT} Or so they say.",
        "Zinc": TEXT,
    }
    steps = crawled(pages)
    assert taken(steps) == ["Salt road", "Abbey", "Zinc", "Abbey again"]
    assert visit(steps, "Abbey again").facts.duplicate_of == "Abbey"
    assert lines(visit(steps, "Abbey again"))["near-duplicate"] < 0
    assert "near-duplicate" not in lines(visit(steps, "Abbey"))
    unbothered = crawled(pages, novelty=0.0)
    assert taken(unbothered) == ["Salt road", "Abbey", "Abbey again", "Zinc"]


def test_the_same_article_in_another_book_is_a_near_copy() -> None:
    """An article that two books have is taken from one of them, and is a near-copy in the other (R49)."""
    pages = {"Salt road": f"The salt road is old. {STORY}\n{TEXT}"}
    books = [a_shelf_book(pages, name="One"), a_shelf_book(pages | {"Inn": TEXT}, name="Two")]
    steps = steps_of(CrawlPlan(books, "salt road"))
    read = [step for step in steps if isinstance(step, VisitStep | SkipStep)]
    assert {step.book for step in read} == {book.id for book in books}
    assert [step.facts.duplicate_of for step in read if step.facts] == ["", "Salt road"]


MANY = [f"Mine {letter}" for letter in "ABCDEFGHIJ"]
FEW = ["Yard", "Zoo"]


def two_branches(mine: str, other: str) -> dict[str, str]:
    """Ten pages of one branch and two of another, all linked alike; the longer ones, which come first, go first."""
    links = " ".join(f"The salt road had [[{title}]]." for title in (*MANY, *FEW))
    texts = [mine] * len(MANY) + [other] * len(FEW)
    pages = {title: f"{text}\n{PLAIN} {long_text(title)}" for title, text in zip((*MANY, *FEW), texts, strict=True)}
    return {"Salt road": f"{links}\n{PLAIN}", **pages}


def long_text(title: str) -> str:
    """The more, the nearer its last or first letter is to 'A': no two pages have the same points."""
    letter = title[-1] if title[-2] == " " else title[0]
    return "It is told at length. " * (100 - 4 * (ord(letter) - ord("A")))


def places_of_few(steps: list[CrawlStep]) -> list[int]:
    return [taken(steps).index(title) for title in FEW]


def test_a_full_category_goes_behind_others() -> None:
    """When a category has its share of pages, those of others go first, and the rest of it last (R87, R88)."""
    pages = two_branches("A mine.\ncategories: Mines", "A place.\ncategories: Places")
    steps = crawled(pages, max_pages=20, branch_share=0.25)
    assert taken(steps) == ["Salt road", *MANY[:5], *FEW, *MANY[5:]]
    assert ["full branch" in lines(step) for step in visits(steps)] == [False] * 8 + [True] * 5
    assert {step.branch for step in visits(steps)} == {"Salt road", "Mines", "Places"}


def test_without_novelty_a_branch_is_never_full() -> None:
    """The weight of novelty decides whether branches are kept apart (R18, R87)."""
    pages = two_branches("A mine.\ncategories: Mines", "A place.\ncategories: Places")
    steps = crawled(pages, max_pages=20, novelty=0.0)
    assert taken(steps) == ["Salt road", *MANY, *FEW]


@pytest.mark.parametrize(("share", "first"), [(0.25, 5), (0.4, 8), (1.0, 10)])
def test_the_share_of_a_branch_can_be_set(share: float, first: int) -> None:
    """Of so many pages, that share may be of one category before others go first (R87, R88)."""
    pages = two_branches("A mine.\ncategories: Mines", "A place.\ncategories: Places")
    steps = crawled(pages, max_pages=20, branch_share=share)
    assert taken(steps)[: first + 1] == ["Salt road", *MANY[:first]]
    assert min(places_of_few(steps)) == first + 1


def test_a_page_of_several_categories_is_of_the_one_with_room() -> None:
    """A page that is also in a category with few pages is not blocked by one that is full (R87, R88)."""
    pages = two_branches("A mine.\ncategories: Mines", "A place.\ncategories: Places")
    pages["Mine J"] = f"A mine and a museum.\n{PLAIN}\ncategories: Mines, Museums"
    steps = crawled(pages, max_pages=20)
    assert taken(steps).index("Mine J") < taken(steps).index("Mine F")
    assert "full branch" not in lines(visit(steps, "Mine J"))


def test_without_categories_vectors_distinguish_branches() -> None:
    """Pages whose vectors are near are one branch, and when it is full others go first (R87, R88, R157)."""
    pages = two_branches("Of mining, and mining.", "Of cooking.")
    crawl = CrawlPlan(
        [a_shelf_book(pages)],
        "salt road",
        settings=settings(max_pages=20, weights={"link_context": 2.0}),
        embedder=Directions("mining", "cooking"),
    )
    steps = steps_of(crawl)
    assert sorted(places_of_few(steps)) == [6, 7]
    assert len({step.branch for step in visits(steps) if step.title in MANY}) == 1
    assert len({step.branch for step in visits(steps) if step.title in FEW}) == 1
    assert "full branch" in lines(visits(steps)[-1])


def test_without_both_a_branch_is_what_one_page_led_to() -> None:
    """In a book without categories and a crawl without vectors, what one side page links to is one branch (R87)."""
    huts = [f"Hut {letter}" for letter in "ABCDEFGHIJ"]
    pages = {
        "Salt road": f"The salt road has a [[Village]] and a [[Wood]].\n{TEXT}",
        "Village": "The salt road passes here.\n== Huts ==\n" + " ".join(f"The salt road: [[{hut}]]." for hut in huts),
        "Wood": f"The salt road.\n== Trees ==\n* [[Yew]]\n* [[Zelkova]]\n{TEXT}",
        **{title: f"{PLAIN} {long_text(title)}" for title in (*huts, "Yew", "Zelkova")},
    }
    steps = crawled(pages, max_pages=16)
    order = taken(steps)
    assert {visit(steps, hut).branch for hut in huts} == {"Village"}
    assert max(order.index("Yew"), order.index("Zelkova")) < order.index("Hut J")
    assert "full branch" in lines(visit(steps, "Hut J"))
    assert len(order) == 15


def test_the_branch_of_the_topic_itself_is_never_full() -> None:
    """Pages of a category that a seed is in are what the crawl is for, and are not blocked (R87)."""
    pages = two_branches("A mine.\ncategories: Mines", "A place.\ncategories: Places")
    pages["Salt road"] += "\ncategories: Mines"
    steps = crawled(pages, max_pages=20)
    assert taken(steps) == ["Salt road", *MANY, *FEW]
    assert all("full branch" not in lines(step) for step in visits(steps))
