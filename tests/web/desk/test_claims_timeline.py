"""The timeline of a run: drawn and listed alike, within the years that are asked for."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun
from tests.web.desk.page_text import first, texts_of

from kiwiresearch.messages import catalogue_in
from kiwiresearch.web.desk.timeline import without_date
from kiwiresearch.web.desk.translations import date_text


@pytest.fixture(scope="module")
def moments(a_run: ARun) -> list[dict[str, Any]]:
    return list(json.loads((a_run.path / "brief.json").read_text(encoding="utf-8"))["timeline"])


def shown(browser: httpx2.Client, run: str, **query: Any) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{run}/timeline", params=query)
    assert reply.status_code == 200, reply.text
    return LexborHTMLParser(reply.text)


def test_the_moments_of_the_brief_are_listed(
    browser: httpx2.Client, a_run: ARun, moments: list[dict[str, Any]]
) -> None:
    """In the order of time, each with its date, its statement, its page at the quote, and the quote."""
    tree = shown(browser, a_run.id)
    assert texts_of(tree, ".moments .when") == [one["when"] for one in moments]
    shown_texts = texts_of(tree, ".moments li > p > span[dir]")
    for text, one in zip(shown_texts, moments, strict=True):
        assert " ".join(one["statement"]["text"].split()).casefold().endswith(text.casefold())
    for row in tree.css(".moments > li"):
        assert "&mark=" in str(first(row, "cite a").attributes["href"])
        assert first(row, "details blockquote").text().strip()


DATED = [
    ("In 1961, scientists began to agree.", "1961", "Scientists began to agree."),
    ("During the 20th century, maps improved.", "20th century", "Maps improved."),
    ("By the late 1920s, seismologists saw it.", "By the late 1920s", "Seismologists saw it."),
    ("Since 1961, scientists agree.", "1961", "Since 1961, scientists agree."),
    ("In 1961 scientists agreed.", "1961", "In 1961 scientists agreed."),
    ("Scientists agreed.", "", "Scientists agreed."),
]


@pytest.mark.parametrize(("text", "when", "rest"), DATED)
def test_a_date_is_not_said_twice(text: str, when: str, rest: str) -> None:
    """A sentence after its date does not begin with it again, unless it would lose something."""
    assert without_date(text, when) == rest


def test_months_have_a_dash_between_them() -> None:
    """A hyphen between two months becomes a dash; within a word it stays."""
    words = catalogue_in("en")
    assert date_text("January-February 2006", words) == "January\N{EN DASH}February 2006"
    assert date_text("mid-June 2006", words) == "mid-June 2006"


def test_the_picture_leads_to_the_list(browser: httpx2.Client, a_run: ARun) -> None:
    """Every label leads to a line that is there, and nothing in the picture needs a style of its own."""
    reply = browser.get(f"/runs/{a_run.id}/timeline")
    tree = LexborHTMLParser(reply.text)
    links = [str(node.attributes["href"]) for node in tree.css("svg.timeline a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= {node.attributes["id"] for node in tree.css(".moments > li")}
    assert re.findall(r"\sstyle=", reply.text) == []


YEARS = [({"from": -1150}, -1150, None), ({"to": -1200}, None, -1200), ({"from": -1210, "to": -1190}, -1210, -1190)]


@pytest.mark.parametrize(("query", "since", "until"), YEARS)
def test_years_are_chosen(
    browser: httpx2.Client,
    a_run: ARun,
    moments: list[dict[str, Any]],
    query: dict[str, int],
    since: int | None,
    until: int | None,
) -> None:
    """What touches the years stays, what lies wholly before or after them goes; years BC are negative."""

    def day(year: int) -> float:
        return 1721060 + (year + 1) * 365.25

    wanted = [
        one["when"]
        for one in moments
        if (since is None or one["latest"] >= day(since)) and (until is None or one["earliest"] < day(until + 1))
    ]
    assert 0 < len(wanted) < len(moments)
    tree = shown(browser, a_run.id, **query)
    assert texts_of(tree, ".moments .when") == wanted
    assert (first(tree, "#from").attributes["value"] or "") == ("" if since is None else str(since))


def test_empty_years_are_none(browser: httpx2.Client, a_run: ARun, moments: list[dict[str, Any]]) -> None:
    """A form that was sent without years shows all of them."""
    tree = shown(browser, a_run.id, **{"from": "", "to": " "})
    assert len(tree.css(".moments > li")) == len(moments)


def test_every_dated_claim_is_there_on_demand(
    browser: httpx2.Client, a_run: ARun, moments: list[dict[str, Any]]
) -> None:
    """All that the pages date, in the order of time, in parts; the picture has those that are listed."""
    rows = [json.loads(line) for line in (a_run.path / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    dated = [row for row in rows if row["dates"]]
    assert len(dated) > len(moments)
    tree = shown(browser, a_run.id, which="all")
    assert texts_of(tree, "main p[role=status]") == [f"{len(dated)} dated statements"]
    earliest = sorted(row["dates"][0]["earliest"] for row in dated)
    found = {" ".join(row["claim"].split()): row["dates"][0]["earliest"] for row in dated}
    listed = [found[text] for text in texts_of(tree, ".moments li > p > span[dir]")]
    assert listed == earliest[: len(listed)]
    drawn = len(tree.css("svg .moment, svg .span, svg .unlabelled"))
    assert drawn == len(listed)


PARTS = [("centuries", 1000), ("decades", 100), ("years", 10)]


@pytest.mark.parametrize(("zoom", "years"), PARTS)
def test_a_part_has_round_years(
    browser: httpx2.Client, a_run: ARun, moments: list[dict[str, Any]], zoom: str, years: int
) -> None:
    """It has every moment that touches its years, listed and drawn, and steps lead to those before and after."""
    listed: list[str] = []
    address = f"/runs/{a_run.id}/timeline?zoom={zoom}"
    while True:  # to the first part
        tree = LexborHTMLParser(browser.get(address).text)
        if not (earlier := tree.css_first("[data-view=earlier]")):
            break
        address = str(earlier.attributes["href"])
    for _ in moments:
        since, until = (
            int(number.replace(",", "")) * (-1 if era else 1)
            for number, era in re.findall(r"([\d,]+)( BC)?", first(tree, "p[role=status] b").text())
        )
        assert until - since in (years - 1, years), "a part that ends in AD has no year 0"
        when = texts_of(tree, ".moments .when")
        assert len(tree.css("svg .moment, svg .span, svg .unlabelled")) == len(when) > 0
        listed += when
        if not (later := tree.css_first("[data-view=later]")):
            break
        tree = LexborHTMLParser(browser.get(str(later.attributes["href"])).text)
    assert set(listed) == {one["when"] for one in moments}


@pytest.mark.parametrize("group", ["period", "page", "kind"])
def test_a_timeline_in_groups_has_the_same_moments(
    browser: httpx2.Client, a_run: ARun, moments: list[dict[str, Any]], group: str
) -> None:
    """Each group has its heading once, and in time; what is drawn leads to the right entry."""
    tree = shown(browser, a_run.id, group=group)
    assert sorted(texts_of(tree, ".moments .when")) == sorted(one["when"] for one in moments)
    heads = texts_of(tree, "#timeline > h3")
    assert len(heads) == len(set(heads)) == len(tree.css(".moments")) > 0
    when = {f"#{node.attributes['id']}": first(node, ".when").text() for node in tree.css(".moments > li")}
    for link in tree.css("svg.timeline a"):
        assert first(link, "title").text().startswith(when[str(link.attributes["href"])])
    if group != "period":
        assert [one for one in texts_of(tree, "svg text.head") if one not in heads] == []


def test_years_without_anything_say_what_to_do(browser: httpx2.Client, a_run: ARun) -> None:
    """The page says to widen the years, and has a link that removes them."""
    tree = shown(browser, a_run.id, **{"from": 3000})
    assert texts_of(tree, "p.note") == [
        "Nothing was found for these years. Try a wider range, or show all claims from the pages."
    ]
    assert first(tree, "p[role=status] a").attributes["href"] == f"/runs/{a_run.id}/timeline"


@pytest.mark.parametrize(
    "query",
    [{"from": "soon"}, {"from": 10**12}, {"to": "1.5"}, {"which": "none"}, {"zoom": "days"}, {"group": "x"}],
    ids=str,
)
def test_an_invalid_year_is_refused(browser: httpx2.Client, a_run: ARun, query: dict[str, Any]) -> None:
    """A value that no form sends is an invalid request."""
    assert browser.get(f"/runs/{a_run.id}/timeline", params=query).status_code == 422
