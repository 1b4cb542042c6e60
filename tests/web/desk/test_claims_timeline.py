"""The timeline of a run: drawn and listed alike, within the years that are asked for."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun
from tests.web.desk.shown import first, said


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
    assert said(tree, ".moments .when") == [one["when"] for one in moments]
    assert said(tree, ".moments li > p > span[dir]") == [" ".join(o["statement"]["text"].split()) for o in moments]
    for row in tree.css(".moments > li"):
        assert "&mark=" in str(first(row, "cite a").attributes["href"])
        assert first(row, "details blockquote").text().strip()


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
    assert said(tree, ".moments .when") == wanted
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
    assert said(tree, "main p[role=status]") == [f"{len(dated)} dated statements"]
    earliest = sorted(row["dates"][0]["earliest"] for row in dated)
    found = {" ".join(row["claim"].split()): row["dates"][0]["earliest"] for row in dated}
    listed = [found[text] for text in said(tree, ".moments li > p > span[dir]")]
    assert listed == earliest[: len(listed)]
    drawn = len(tree.css("svg .moment, svg .span, svg .unlabelled"))
    assert drawn == len(listed)


def test_years_without_anything_say_what_to_do(browser: httpx2.Client, a_run: ARun) -> None:
    """A reader is told to widen them, and can take them away."""
    tree = shown(browser, a_run.id, **{"from": 3000})
    assert said(tree, "p.note") == ["Nothing falls into these years. Widen them, or show all that the pages say."]
    assert first(tree, "p[role=status] a").attributes["href"] == f"/runs/{a_run.id}/timeline"


@pytest.mark.parametrize("query", [{"from": "soon"}, {"from": 10**12}, {"to": "1.5"}, {"which": "none"}], ids=str)
def test_what_is_no_year_is_refused(browser: httpx2.Client, a_run: ARun, query: dict[str, Any]) -> None:
    """A value that no form sends is told as a mistake of the request."""
    assert browser.get(f"/runs/{a_run.id}/timeline", params=query).status_code == 422
