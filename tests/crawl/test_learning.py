"""What visited pages teach about the topic."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.crawl.trails import TEXT, a_shelf_book, lines, settings, state_after, steps_of, taken, visit

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep, LearnStep


def of_its_own(title: str) -> str:
    """Words that no other page has, so that pages are not copies of each other."""
    return " ".join(f"{title[-1]}{number}" for number in range(60))


INNS = ("Inn A", "Inn B", "Inn C")
PAGES = {
    "Salt road": "The salt road is old.\n== Places ==\nThere is [[Abbey]]. There is [[Zinc of the caravan]].\n",
    **{
        inn: f"Each caravan of the salt road, and each caravan of its houses.\n{TEXT} {of_its_own(inn)}" for inn in INNS
    },
    "Abbey": TEXT,
    "Zinc of the caravan": TEXT,
    **{f"Other {number}": f"Nothing of note.\n{TEXT}" for number in range(20)},
}


def crawl_of(pages: dict[str, str], topic: str = "salt road", **options: Any) -> CrawlPlan:
    return CrawlPlan([a_shelf_book(pages)], topic, settings=settings(**options))


def lessons(steps: list[CrawlStep]) -> list[LearnStep]:
    return [step for step in steps if isinstance(step, LearnStep)]


def test_words_of_visited_pages_move_a_candidate_ahead() -> None:
    """A page that the first page's links alone would have put last goes first, for words learned since (R45, R86)."""
    crawl = crawl_of(PAGES)
    steps = steps_of(crawl)
    place = next(number for number, step in enumerate(steps) if isinstance(step, LearnStep))
    before, after = (
        [candidate.title for candidate in state_after(crawl, steps[:end]).frontier.in_order()]
        for end in (place, place + 1)
    )
    assert before == ["Abbey", "Zinc of the caravan"]
    assert after == ["Zinc of the caravan", "Abbey"]
    assert taken(steps)[-2:] == after
    assert lines(visit(steps, "Zinc of the caravan"))["keywords"] > 0
    assert "keywords" not in lines(visit(steps, "Abbey"))


def test_learned_words_are_logged() -> None:
    """A lesson names its words as people write them, the most telling first with full weight (R55)."""
    lesson = lessons(steps_of(crawl_of(PAGES)))[0]
    assert lesson.words[0] == "caravan"
    assert lesson.keywords[0] == ("caravan", 1.0)
    assert [weight for _, weight in lesson.keywords] == sorted((w for _, w in lesson.keywords), reverse=True)
    assert len(lesson.words) == len(lesson.keywords)


def test_the_topics_own_words_are_not_learned() -> None:
    """Words of the topic, of the focus, and those that say nothing are not keywords."""
    steps = steps_of(CrawlPlan([a_shelf_book(PAGES)], "salt road", "house"))
    stems = {stem for lesson in lessons(steps) for stem, _ in lesson.keywords}
    assert stems
    assert not stems & {"salt", "road", "hous", "the", "and", "each"}


def test_a_word_of_a_single_page_is_not_learned() -> None:
    """What only one page says is about that page."""
    pages = PAGES | {"Inn A": f"{PAGES['Inn A']}\nThe salt road zebra zebra zebra."}
    assert all("zebra" not in lesson.words for lesson in lessons(steps_of(crawl_of(pages))))
    both = pages | {"Inn B": f"{PAGES['Inn B']}\nThe salt road zebra zebra zebra."}
    assert any("zebra" in lesson.words for lesson in lessons(steps_of(crawl_of(both))))


def test_rare_words_count_more() -> None:
    """Of two words that visited pages use alike, one that the book has everywhere says less, if anything (R45)."""
    common = {title: f"{text} barley" if title.startswith("Other") else text for title, text in PAGES.items()}
    pages = common | {inn: f"The salt road with caravan and barley.\n{TEXT} {of_its_own(inn)}" for inn in INNS}
    lesson = lessons(steps_of(crawl_of(pages)))[0]
    assert "barley" not in lesson.words[: lesson.words.index("caravan") + 1]


def test_lessons_come_ever_more_seldom() -> None:
    """Keywords are learned after a few pages and each time their number has doubled."""
    pages = {"Salt road": TEXT} | {f"Inn {number:02}": f"On the salt road.\n{TEXT}" for number in range(40)}
    steps = steps_of(crawl_of(pages, max_pages=40))
    learned = [len(taken(steps[:number])) for number, step in enumerate(steps) if isinstance(step, LearnStep)]
    assert len(learned) >= 3
    assert [later / earlier for earlier, later in pairwise(learned)] == [2.0] * (len(learned) - 1)


def test_relevance_off_keywords_off() -> None:
    """Keywords are part of relevance: with weight 0 they move nothing (R17)."""
    steps = steps_of(crawl_of(PAGES, weights={"relevance": 0.0}))
    assert taken(steps).index("Abbey") < taken(steps).index("Zinc of the caravan")
