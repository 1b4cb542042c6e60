"""How the pages of a run are linked: drawn, listed, and one page with why it was chosen and where it leads."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun
from tests.web.desk.page_text import first, plain, texts_of

from kiwiresearch.messages.catalogue import catalogue_in
from kiwiresearch.messages.message import message_from_record
from kiwiresearch.web.desk import static_files
from kiwiresearch.web.desk.translations import translated


@pytest.fixture(scope="module")
def graph(a_run: ARun) -> dict[str, Any]:
    return dict(json.loads((a_run.path / "graph.json").read_text(encoding="utf-8")))


def shown(browser: httpx2.Client, run: str, **query: Any) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{run}/graph", params=query)
    assert reply.status_code == 200, reply.text
    return LexborHTMLParser(reply.text)


def reason_of(node: dict[str, Any]) -> str:
    """Why a page was chosen, as the desk says it in English."""
    message = message_from_record(node["reason"], node["reason_message"])
    return plain(translated(message, catalogue_in("en")).striptags())


@pytest.mark.parametrize(("which", "state"), [("read", "visited"), ("left", "left")])
def test_every_page_is_listed_with_why(
    browser: httpx2.Client, a_run: ARun, graph: dict[str, Any], which: str, state: str
) -> None:
    """Those that were read and those that were left, each with its reason and the terms of its points."""
    nodes = [node for node in graph["nodes"] if node["state"] == state]
    tree, english = shown(browser, a_run.id, which=which), catalogue_in("en")
    assert nodes
    assert texts_of(tree, "table.pages tbody th") == [node["title"] for node in nodes]
    for row, node in zip(tree.css("table.pages tbody tr"), nodes, strict=True):
        output = plain(row.css("td")[0].text())
        assert output.startswith(
            plain(
                translated(message_from_record(node["reason"], node["reason_message"]), catalogue_in("en")).striptags()
            )
        )
        assert all(
            f"{english.named('graph.signals', line['signal'])} {line['points']:+g}" in output for line in node["lines"]
        )


def test_the_picture_leads_to_what_is_known_of_a_page(
    browser: httpx2.Client, a_run: ARun, graph: dict[str, Any]
) -> None:
    """Every page of the picture leads to its panel, and nothing in it needs a style of its own."""
    reply = browser.get(f"/runs/{a_run.id}/graph")
    tree = LexborHTMLParser(reply.text)
    links = [str(node.attributes["href"]) for node in tree.css("svg.graph a")]
    assert len(links) == sum(node["state"] == "visited" for node in graph["nodes"])
    for link in links[:3]:
        number = int(re.fullmatch(rf"/runs/{a_run.id}/graph\?page=(\d+)#panel", link)[1])  # type: ignore[index]
        panel = LexborHTMLParser(browser.get(link).text)
        assert texts_of(panel, "#panel-title") == [graph["nodes"][number - 1]["title"]]
    assert re.findall(r"\sstyle=", reply.text) == []


def test_the_panel_shows_a_page_with_its_links_and_claims(
    browser: httpx2.Client, a_run: ARun, graph: dict[str, Any]
) -> None:
    """Why it was chosen, its claims, the pages it links to and those that link to it, and where to read it."""
    rows = [json.loads(line) for line in (a_run.path / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    titles = {node["ref"]: node["title"] for node in graph["nodes"]}
    for number, node in enumerate(graph["nodes"][:3], 1):
        tree = shown(browser, a_run.id, page=number)
        assert plain(
            translated(message_from_record(node["reason"], node["reason_message"]), catalogue_in("en")).striptags()
        ) in texts_of(tree, "#panel p")
        out, into = ([plain(one.text()) for one in ul.css("a")] for ul in tree.css("#panel .neighbours"))
        assert Counter(out) == Counter(titles[e["to"]] for e in graph["edges"] if e["from"] == node["ref"])
        assert Counter(into) == Counter(titles[e["from"]] for e in graph["edges"] if e["to"] == node["ref"])
        own = {plain(row["claim"]) for row in rows if row["path"] == node["path"]}
        claims = texts_of(tree, '#panel li > a[href*="/claims/"]')
        assert claims
        assert set(claims) <= own
        assert first(tree, '#panel a[href^="/page/"]').attributes["href"] == (
            f"/page/{node['book']}/{node['path']}?run={a_run.id}"
        )


def test_paper_asks_nobody_to_choose(browser: httpx2.Client, a_run: ARun) -> None:
    """Without a page the panel is for the screen alone; with one it is printed."""
    classes = [str(first(shown(browser, a_run.id, page=page), "#panel").attributes["class"]) for page in (0, 1)]
    assert ["no-print" in one for one in classes] == [True, False]


def test_a_script_gets_the_panel_alone(browser: httpx2.Client, a_run: ARun) -> None:
    """It is the same as on the whole page."""
    whole = first(shown(browser, a_run.id, page=2), "#panel").html
    alone = shown(browser, a_run.id, page=2, part="panel")
    assert first(alone, "#panel").html == whole
    assert alone.css_first("main") is None


def test_a_script_gets_pages_and_links_as_json(browser: httpx2.Client, a_run: ARun, graph: dict[str, Any]) -> None:
    """All pages by their numbers and all links among them; one link of each page is the one that led to it first."""
    data = browser.get(f"/runs/{a_run.id}/graph/links").json()
    assert [page["title"] for page in data["pages"]] == [node["title"] for node in graph["nodes"]]
    refs = [node["ref"] for node in graph["nodes"]]
    pairs = {(refs[one - 1], refs[to - 1]) for one, to, _ in data["links"]}
    assert pairs == {(edge["from"], edge["to"]) for edge in graph["edges"]}
    led = Counter(to for _, to, is_led in data["links"] if is_led)
    linked = {to for _, to, _ in data["links"] if data["pages"][to - 1]["depth"] > 0}
    assert led == Counter(linked)


@pytest.mark.parametrize("has_package", [True, False])
def test_exploring_is_offered_where_it_is_possible(
    browser: httpx2.Client, a_run: ARun, monkeypatch: pytest.MonkeyPatch, has_package: bool
) -> None:
    """Without the package that draws, the picture and the list are all there is, and no script is loaded."""
    known = dict(static_files.static_files())
    known.pop("vendor/cytoscape.js", None)
    if has_package:
        known["vendor/cytoscape.js"] = static_files.StaticFile(b"export default 1;", static_files.TYPES["js"], "0" * 12)
    monkeypatch.setattr(static_files, "static_files", lambda: known)
    tree = shown(browser, a_run.id)
    assert bool(tree.css("#explorer")) is has_package
    assert bool(tree.css("script[src$='js/graph.js']")) is has_package
    assert tree.css_first("svg.graph") is not None


@pytest.mark.parametrize("page", [13_000, 999_999])
def test_a_page_number_that_does_not_exist_is_reported(browser: httpx2.Client, a_run: ARun, page: int) -> None:
    """The page says that the graph has no page with that number."""
    reply = browser.get(f"/runs/{a_run.id}/graph", params={"page": page})
    assert reply.status_code == 404
    assert f"no page {page}" in reply.text


@pytest.mark.parametrize("query", [{"page": -1}, {"page": "x"}, {"which": "all"}, {"part": "table"}], ids=str)
def test_invalid_parameters_are_refused(browser: httpx2.Client, a_run: ARun, query: dict[str, Any]) -> None:
    """A value that no form sends is an invalid request."""
    assert browser.get(f"/runs/{a_run.id}/graph", params=query).status_code == 422
