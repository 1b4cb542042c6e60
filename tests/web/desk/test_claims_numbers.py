"""The numbers of a run by subject, and where its pages do not agree: both sides, in their own words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conflicting_book import run_with_conflicts
from tests.web.desk.conftest import ARun
from tests.web.desk.page_text import first, texts_of


@pytest.fixture(scope="module")
def varn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ARun]:
    """A run on pages that give other numbers and dates for the same things."""
    with run_with_conflicts(tmp_path_factory.mktemp("varn")) as run:
        yield run


def shown(browser: httpx2.Client, run: str, part: str = "numbers", **query: Any) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{run}/{part}", params=query)
    assert reply.status_code == 200, reply.text
    return LexborHTMLParser(reply.text)


def test_both_sides_of_a_disagreement_are_shown(varn: ARun) -> None:
    """Another number and another date are side by side, with the values that differ marked, each with its page."""
    tree = shown(varn.client, varn.id)
    pairs = {
        frozenset(" ".join(first(side, "p > span").text().split()) for side in card.css(".sides > div"))
        for card in tree.css(".dispute")
    }
    assert pairs == {
        frozenset({"Varn had 12,000 inhabitants in 1430.", "Varn had 15,000 inhabitants in 1430."}),
        frozenset({"The old wall of Varn was built in 1430.", "The old wall of Varn was built in 1450 by sailors."}),
    }
    assert set(texts_of(tree, ".dispute .tag")) == {"The pages contradict each other."}
    marked = set(texts_of(tree, ".dispute mark"))
    assert {"1450"} < marked
    assert any("12,000" in words for words in marked)
    links = [str(node.attributes["href"]) for node in tree.css(".sides cite a")]
    assert len(links) == 4
    assert all(link.startswith("/page/") and "&mark=" in link for link in links)


def test_a_number_that_another_page_denies_is_marked(varn: ARun) -> None:
    """Its row says so, and leads to both sides; one that nobody denies is not marked."""
    tree = shown(varn.client, varn.id)
    marked = [node for node in tree.css("tbody tr") if node.css_first("a.tag.warn")]
    assert sorted(" ".join(node.css("td")[1].text().split())[:18] for node in marked) == [
        "12,000 inhabitants",
        "15,000 inhabitants",
    ]
    assert {str(first(node, "a.tag.warn").attributes["href"]) for node in marked} == {"#against"}
    assert [row for row in texts_of(tree, "tbody tr") if "12 m" in row and "differs" in row] == []


def test_a_claim_says_what_denies_it(varn: ARun) -> None:
    """The page of a claim whose value another page denies shows that page's words."""
    tree = shown(varn.client, varn.id)
    place = str(first(tree, ".sides a.whole").attributes["href"])
    one = LexborHTMLParser(varn.client.get(place).text)
    assert len(one.css(".dispute .views > li")) == 2
    assert texts_of(one, ".dispute .tag.good") == ["this claim"]


def test_numbers_of_the_brief_come_first_and_all_others_on_demand(browser: httpx2.Client, a_run: ARun) -> None:
    """The brief's numbers are shown; asked for all, every number that measures something is there."""
    brief = json.loads((a_run.path / "brief.json").read_text(encoding="utf-8"))
    tree = shown(browser, a_run.id)
    values = [row.css("th, td")[texts_of(tree, "thead th").index("Value")].text() for row in tree.css("tbody tr")]
    assert sorted(values) == sorted(figure["value"] for figure in brief["numbers"])
    everything = shown(browser, a_run.id, which="all")
    rows = [json.loads(line) for line in (a_run.path / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    measured = sum(bool(one["what"]) for row in rows for one in row["measures"])
    assert measured > len(brief["numbers"])
    assert texts_of(everything, "#count") == [f"{measured} numbers"]


def test_a_column_that_no_number_fills_is_left_out(browser: httpx2.Client, a_run: ARun) -> None:
    """Each column has a value in some row, and each row has a cell for every column."""
    for query in ({"words": "tonnes", "which": "all"}, {"which": "all"}, {}):
        tree = shown(browser, a_run.id, **query)
        rows = [[cell.text().strip() for cell in row.css("th, td")] for row in tree.css("tbody tr")]
        assert {len(row) for row in rows} <= {len(tree.css("thead th"))}
        assert all(any(column) for column in zip(*rows, strict=True))


def test_numbers_of_one_subject_are_together(browser: httpx2.Client, a_run: ARun) -> None:
    """Once the rows have left a subject, they do not come back to it."""
    subjects = [one.lower().removeprefix("the ") for one in texts_of(shown(browser, a_run.id, which="all"), "tbody th")]
    assert len(subjects) > 3
    changes = [one for at, one in enumerate(subjects) if at == 0 or subjects[at - 1] != one]
    assert len(changes) == len(set(changes))


def test_numbers_are_filtered_by_words(browser: httpx2.Client, a_run: ARun) -> None:
    """Only rows that say the words stay; none left says what to do."""
    tree = shown(browser, a_run.id, which="all", words="TONNES")
    assert tree.css("tbody tr")
    assert all("tonne" in row.lower() for row in texts_of(tree, "tbody tr"))
    assert "Search for fewer words" in texts_of(shown(browser, a_run.id, words="nothing says this"), "#found .note")[0]


def test_a_run_without_disagreement_says_so(browser: httpx2.Client, a_run: ARun) -> None:
    """A reader knows that it was looked for."""
    text = first(shown(browser, a_run.id), "section[aria-labelledby=against]").text()
    assert "No conflicting numbers or dates were found." in text


def test_a_run_whose_book_is_not_here_is_read_all_the_same(varn: ARun, a_run: ARun) -> None:
    """Its words are in it: every tab is shown, pages are named without a link, and a claim says how to read them."""
    copy = varn.path.with_name("from-elsewhere")
    shutil.copytree(a_run.path, copy)
    for part in ("claims", "timeline", "numbers", "graph"):
        tree = shown(varn.client, copy.name, part, **({"page": 1} if part == "graph" else {}))
        assert tree.css('a[href^="/page/"]') == []
    place = str(first(shown(varn.client, copy.name, "claims"), "a.whole").attributes["href"])
    assert "This book is not in your library. Add it to read the page." in varn.client.get(place).text
