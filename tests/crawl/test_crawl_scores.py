"""What speaks for a page and against it, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.crawl.trails import (
    PLAIN,
    TEXT,
    Directions,
    a_shelf_book,
    lines,
    settings,
    state_after,
    steps_of,
    taken,
    total,
    visit,
    visits,
)

from kiwiresearch.crawl.score import POINTS
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep
from kiwiresearch.embed.embedder import Vectors
from kiwiresearch.search.open_book import OpenBook

LONG = " ".join(f"Of year {year} much is told." for year in range(100, 250))
GROUPS = {
    "relevance": {"found by search", "names the topic", "topic words on the page", "topic words in links", "keywords"},
    "link_context": {"links from relevant pages"},
    "page_signals": {"list page", "stub"},
    "novelty": {"depth", "near-duplicate"},
    "authority": {"linked from visited pages", "length", "references"},
}
"""The lines of a score, by the weight that multiplies them."""


def crawled(pages: dict[str, str], focus: str = "", **options: Any) -> list[CrawlStep]:
    return steps_of(CrawlPlan([a_shelf_book(pages)], "salt road", focus, settings=settings(**options)))


def linked(*titles: str, **texts: str) -> dict[str, str]:
    """A page that links to some pages in the same way, and these pages, which have to do with the topic."""
    names = " ".join(f"There is [[{title}]]." for title in titles)
    return {"Salt road": f"The salt road is old.\n== Places ==\n{names}\n", **dict.fromkeys(titles, TEXT), **texts}


def signals(steps: list[CrawlStep]) -> set[str]:
    return {signal for step in visits(steps) for signal in lines(step)}


def test_every_candidate_has_a_score(salt_book: OpenBook) -> None:
    """Pages taken and pages that wait all have a score, which is the sum of its lines (R44, R50, R86)."""
    crawl = CrawlPlan([salt_book], "salt road", settings=settings(max_pages=8))
    steps = steps_of(crawl)
    state = state_after(crawl, steps)
    waiting = state.frontier.in_order()
    assert waiting
    assert all(state.scoring.score(candidate).terms for candidate in waiting)
    assert [state.scoring.points(candidate) for candidate in waiting] == [
        state.scoring.score(one).total for one in waiting
    ]
    assert all(step.terms for step in visits(steps))


def test_all_parts_of_a_score_are_at_work(salt_book: OpenBook) -> None:
    """Words, links, signals, novelty and authority each have their lines (R17, R18, R19, R44)."""
    copy = {"Twin": f"The salt road. {LONG}\n{TEXT}", "Copy": f"The salt road. {LONG}\n{TEXT}"}
    reference = '<p>It is so.<sup class="reference"><a href="#cite_note-1">[1]</a></sup></p>'
    found = signals(steps_of(CrawlPlan([salt_book], "salt road", settings=settings(max_pages=40))))
    found |= signals(crawled(linked("Twin", "Copy", **copy)))
    found |= signals(crawled(linked("Inn", Inn=f"An inn.\n{reference}\n{TEXT}")))
    assert found >= {signal for group in GROUPS.values() for signal in group}


@pytest.mark.parametrize("factor", [0.0, 2.0])
@pytest.mark.parametrize("group", sorted(GROUPS))
def test_weights_multiply(salt_book: OpenBook, group: str, factor: float) -> None:
    """Twice the weight gives a line twice its points, none switches it off; other lines stay (R17, R18, R19)."""
    crawl = CrawlPlan([salt_book], "salt road", settings=settings(max_pages=16))
    steps = steps_of(crawl)
    other = CrawlPlan([salt_book], "salt road", settings=settings(max_pages=16, weights={group: factor}))
    before, after = scored(crawl, steps), scored(other, steps)
    assert any(signal in GROUPS[group] and abs(value) > 0.5 for (*_, signal), value in before.items())
    for key, value in before.items():
        expected = factor * value if key[-1] in GROUPS[group] else value
        assert after.get(key, 0.0) == pytest.approx(expected, abs=0.02), key
    assert factor or not any(key[-1] in GROUPS[group] for key in after)


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_a_part_without_weight_is_in_no_score(salt_book: OpenBook, group: str) -> None:
    """With weight 0 no page that is taken has a line of that part (R17, R18, R19)."""
    steps = steps_of(CrawlPlan([salt_book], "salt road", settings=settings(max_pages=40, weights={group: 0.0})))
    assert taken(steps)
    assert signals(steps) & GROUPS[group] == set()


def scored(crawl: CrawlPlan, steps: list[CrawlStep]) -> dict[tuple[int, str, str], float]:
    """The lines of all candidates after each step."""
    found: dict[tuple[int, str, str], float] = {}
    for number in range(len(steps)):
        state = state_after(crawl, steps[:number])
        for candidate in state.frontier.in_order():
            found |= {
                (number, candidate.title, term.signal): term.points for term in state.scoring.score(candidate).terms
            }
    return found


def test_words_of_the_topic_on_a_page_speak_for_it() -> None:
    """Of two pages linked alike, the one that names the topic goes first (R45)."""
    steps = crawled(linked("Abbey", "Zinc", Abbey=PLAIN, Zinc=f"It came over the salt road.\n{PLAIN}"))
    assert taken(steps) == ["Salt road", "Zinc", "Abbey"]
    result = lines(visit(steps, "Zinc"))
    assert result["names the topic"] > 0
    assert result["topic words on the page"] > 0
    assert not {"names the topic", "topic words on the page"} & lines(visit(steps, "Abbey")).keys()


def test_words_far_apart_do_not_name_the_topic() -> None:
    """The topic's words together say more than the same words in different places (R45)."""
    apart = f"There is salt. {LONG} There is a road.\n{PLAIN}"
    together = f"There is a salt road. {LONG} There is more.\n{PLAIN}"
    steps = crawled(linked("Abbey", "Zinc", Abbey=apart, Zinc=together))
    assert taken(steps) == ["Salt road", "Zinc", "Abbey"]
    assert "names the topic" not in lines(visit(steps, "Abbey"))


def test_words_of_the_topic_in_title_or_link_speak_for_a_page() -> None:
    """A page called after the topic, in any form of its words, goes before others that are linked alike (R45, R47)."""
    steps = crawled(linked("Abbey", "Roads"))
    assert taken(steps) == ["Salt road", "Roads", "Abbey"]
    assert lines(visit(steps, "Roads"))["topic words in links"] > 0
    text = "The salt road is old.\n== Places ==\nThere is [[Abbey]]. There is [[Zinc|its salt]].\n"
    called = crawled({"Salt road": text, "Abbey": TEXT, "Zinc": TEXT})
    assert taken(called) == ["Salt road", "Zinc", "Abbey"]


def test_words_of_the_focus_speak_for_a_page() -> None:
    """What the user wants to know decides between pages that are alike otherwise (R45)."""
    pages = linked("Abbey", "Zinc", Abbey=f"On the salt road.\n{TEXT}", Zinc=f"On the salt road, with tax.\n{TEXT}")
    assert taken(crawled(pages)) == ["Salt road", "Abbey", "Zinc"]
    steps = crawled(pages, "tax")
    assert taken(steps) == ["Salt road", "Zinc", "Abbey"]
    assert lines(visit(steps, "Zinc"))["focus"] > 0


@pytest.mark.parametrize(("like", "first", "last"), [("highway", "Abbey", "Zinc"), ("monks", "Zinc", "Abbey")])
def test_meaning_speaks_for_a_page(like: str, first: str, last: str) -> None:
    """Of two pages that share no word with the topic, the one that means the like goes first (R46, R157)."""
    pages = linked("Abbey", "Barn", "Zinc", Abbey="A highway.", Barn=f"It is red.\n{TEXT}", Zinc="Monks sing.")
    steps = steps_of(CrawlPlan([a_shelf_book(pages)], "salt road", embedder=Synonyms(like)))
    assert taken(steps) == ["Salt road", "Barn", first, last]
    assert lines(visit(steps, first))["meaning"] == POINTS["relevance"]["meaning"]
    assert "meaning" not in lines(visit(steps, last))


class Synonyms(Directions):
    """An embedder that knows what a road is, and one more word for it."""

    def __init__(self, synonym: str) -> None:
        super().__init__("road", "red")
        self.synonym = synonym

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed([text.casefold().replace(self.synonym, "road") for text in texts])


def test_a_link_beside_the_topic_speaks_for_a_page() -> None:
    """Of the many links of a section, that whose sentence speaks of the topic counts most (R47)."""
    huts = [f"Hut {number:03}" for number in range(150)]
    pages = linked(*huts, Zinc=TEXT)
    pages["Salt road"] += "On the salt road there is [[Zinc]]."
    steps = crawled(pages, max_pages=3)
    assert taken(steps) == ["Salt road", "Zinc", "Hut 000"]
    rows = [lines(visit(steps, title))["links from relevant pages"] for title in ("Zinc", "Hut 000")]
    assert rows[0] > rows[1]
    blind = crawled(linked(*huts[:5], Zinc=TEXT) | {"Salt road": pages["Salt road"]}, weights={"link_context": 0.0})
    assert taken(blind) == ["Salt road", *huts[:5], "Zinc"]


def test_links_of_relevant_pages_count_more() -> None:
    """A page that a relevant one links to goes before one that an irrelevant one links to in the same way (R47)."""
    pages = {
        "Salt road": f"The salt road is old.\n== Places ==\n* [[Ore]]\n* [[Toll]]\n{TEXT}",
        "Toll": "Paid on the salt road.\n== Where ==\nAt the [[Zinc]].\n",
        "Ore": "A stone.\n== Where ==\nIn the [[Abbey]].\n",
        "Abbey": TEXT,
        "Zinc": TEXT,
    }
    steps = crawled(pages, strategy="bfs")
    assert visit(steps, "Toll").relevance > visit(steps, "Ore").relevance
    rows = [lines(visit(steps, title))["links from relevant pages"] for title in ("Zinc", "Abbey")]
    assert rows[0] > rows[1]
    assert taken(steps).index("Zinc") < taken(steps).index("Abbey")


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("Short.", "stub"),
        ("Zinc may refer to:\n* a metal\n* a colour", "disambiguation page"),
        ("\n".join(f"* A name of a place, number {number}" for number in range(30)), "list page"),
    ],
)
def test_the_kind_of_a_page_takes_points_off(text: str, signal: str) -> None:
    """Stubs, pages of senses and lists lose the points of the table when they are read, and go behind others (R48)."""
    pages = linked("Abbey", "Barn", Abbey=text, Barn=PLAIN)
    steps = crawled(pages, filters={"disambiguation": False})
    assert taken(steps) == ["Salt road", "Barn", "Abbey"]
    name = signal.removesuffix(" page")
    assert lines(visit(steps, "Abbey"))[signal] == POINTS["page_signals"][name] < 0
    equal = crawled(pages, filters={"disambiguation": False}, weights={"page_signals": 0.0})
    assert signal not in lines(visit(equal, "Abbey"))


def test_length_and_references_speak_for_a_page() -> None:
    """A long page, and one with references, has more authority than a short one without (R19, R48)."""
    reference = '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>'
    pages = linked("Abbey", "Barn", "Cellar", Barn=f"{LONG}\n{TEXT}", Cellar=f"<p>Told.{reference * 9}</p>\n{TEXT}")
    steps = crawled(pages)
    values = {title: lines(visit(steps, title)) for title in ("Abbey", "Barn", "Cellar")}
    assert values["Barn"]["length"] > values["Abbey"].get("length", 0)
    assert values["Cellar"]["references"] > 0
    assert "references" not in values["Abbey"]


def test_pages_that_many_link_to_have_authority() -> None:
    """A second visited page that links to a candidate adds to it (R19)."""
    pages = linked("Abbey", "Barn", Abbey=f"On the salt road, near a [[Barn]].\n{TEXT}")
    assert lines(visit(crawled(pages), "Barn"))["linked from visited pages"] > 0
    assert "linked from visited pages" not in lines(visit(crawled(linked("Abbey", "Barn")), "Barn"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The salt road had an [[Inn]].\n" + TEXT,
            "“Salt road” links to it in its introduction: “The salt road had an Inn.”",
        ),
        ("The salt road.\nbox: Sleep = [[Inn]]\n" + TEXT, "“Salt road” links to it in its infobox: “Sleep Inn”"),
        ("The salt road.\n== Rest ==\nAt an [[Inn]].\n", "“Salt road” links to it under “Rest”: “At an Inn.”"),
        ("The salt road.\n== See also ==\n* [[Inn]]\n", "“Salt road” links to it under “See also”: “Inn”"),
        (
            'The salt road\'s [[Inn]] was "full".\n' + TEXT,
            '“Salt road” links to it in its introduction: “The salt road\'s Inn was "full".”',
        ),
    ],
)
def test_a_page_says_how_the_crawl_came_to_it(text: str, expected: str) -> None:
    """The reason names the page that links there, the part of it, and the sentence (R47, R55)."""
    assert visit(crawled({"Salt road": text, "Inn": TEXT}), "Inn").reason.replace("\t", " ") == expected


def test_seeds_and_search_results_say_so(salt_book: OpenBook) -> None:
    """A seed says why it is one, and a page that the search found says that, beside the best link to it (R55)."""
    steps = steps_of(CrawlPlan([salt_book], "salt road"))
    assert visit(steps, "Salt road").reason == "starting page: its title matches the topic"
    assert visit(steps, "Varn").reason.startswith("found by search; “Salt road” links to it in its infobox")
    lone = a_shelf_book({"Salt road": TEXT, "Inn": f"An inn of the salt road.\n{TEXT}"})
    assert visit(steps_of(CrawlPlan([lone], "salt road")), "Inn").reason == "found by search"


def test_each_choice_names_what_would_have_been_next(salt_book: OpenBook) -> None:
    """A page that was taken is logged with its points and with the next best candidate's (R55)."""
    first, second, third, *_ = visits(steps_of(CrawlPlan([salt_book], "salt road")))
    assert first.runner_up == ""
    name, points_of_next = second.runner_up.rsplit(" ", 1)
    assert name in {offer.title for offer in first.offers}
    assert 0 < float(points_of_next) <= total(second)
    assert name == third.title
