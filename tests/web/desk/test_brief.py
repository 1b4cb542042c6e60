"""The brief of a run: all its parts, every statement open to its proof, and what others made shown as text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.web.desk.conftest import TOPIC, ARun, TwoRuns, first_of

from kiwiresearch.claims.record import claim_of
from kiwiresearch.web.desk.retold import retold
from kiwiresearch.web.desk.words import words_in

HOSTILE = '<script>alert(1)</script>" onload="x'


@pytest.fixture(scope="module")
def tree(a_run: ARun, browser: httpx2.Client) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{a_run.id}")
    assert reply.status_code == 200
    return LexborHTMLParser(reply.text)


@pytest.fixture(scope="module")
def brief(a_run: ARun) -> dict[str, Any]:
    return dict(json.loads((a_run.path / "brief.json").read_text(encoding="utf-8")))


def said(node: LexborNode) -> str:
    return " ".join(node.text().split())


def statements_of(brief: dict[str, Any]) -> list[dict[str, Any]]:
    found = [*brief["lead"], *brief["summary"]]
    for part in ("definitions", "mechanisms", "actors"):
        found += [one for group in brief[part] for one in group["statements"]]
    found += [row["statement"] for part in ("timeline", "numbers") for row in brief[part]]
    return found + [view["statement"] for dispute in brief["disputes"] for view in dispute["views"]]


def test_all_parts_are_there_in_order(tree: LexborHTMLParser) -> None:
    """The contents lead to every part, and every part has its heading."""
    links = [str(node.attributes["href"]) for node in tree.css(".contents a")]
    heads = [f"#{node.attributes['id']}" for node in tree.css(".brief section > h2")]
    assert links == heads
    assert {"#summary", "#definitions", "#mechanisms", "#disputes", "#numbers", "#gaps", "#bibliography"} <= set(links)


def test_every_statement_opens_to_its_claims(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """Each shows type, confidence, quote and page of each claim it rests on."""
    wanted = sorted(" ".join(one["text"].split()) for one in statements_of(brief))
    shown = sorted(said(node) for node in tree.css(".statement summary > span[dir]"))
    assert shown == wanted
    claims = {row["claim_id"]: row for row in brief["claims"]}
    first = first_of(tree, ".lead .statement")
    (row,) = [claims[one] for one in brief["lead"][0]["claims"]]
    (evidence,) = first.css(".evidence > li")
    assert said(first_of(evidence, "blockquote")) == row["support_snippets"][0]
    assert {"definition", f"confidence {round(row['confidence'] * 100)}%"} <= {
        said(tag) for tag in evidence.css(".tag")
    }
    assert evidence.css_first("div[lang=en][dir=ltr]") is not None


def test_proof_is_read_on_its_page(tree: LexborHTMLParser, brief: dict[str, Any], a_run: ARun) -> None:
    """The page opens at the quoted words, within the run; the claim has a page of its own."""
    row = next(one for one in brief["claims"] if one["claim_id"] == brief["lead"][0]["claims"][0])
    links = [str(node.attributes["href"]) for node in tree.css(".lead .evidence a")]
    span = row["spans"][0]
    mark = f"mark={span['start']}-{span['end']}"
    assert f"/page/{row['book']}/{row['path']}?run={a_run.id}&{mark}" in links
    assert f"/runs/{a_run.id}/claims/{row['claim_id']}" in links


def test_the_bibliography_has_every_page(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """Numbers behind statements are those of the pages in it."""
    pages = [said(first_of(node, "a")) for node in tree.css(".bibliography > li")]
    assert pages == [one["title"] for one in brief["sources"]["pages"]]
    numbers = {number for node in tree.css(".stated > .sources") for number in said(node).strip("[]").split(", ")}
    assert numbers <= {str(number) for number in range(1, len(pages) + 1)}
    assert "1" in numbers


def test_only_what_is_unusual_is_marked(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """A statement of one source has no mark, and the page says so once, on paper too."""
    rows = {said(node): node for node in tree.css(".statement summary") if node.css_first("span[dir]")}
    for one in statements_of(brief):
        words = " ".join(one["text"].split())
        found = [row for text, row in rows.items() if words in text]
        assert found, words
        marks = [said(tag) for row in found for tag in row.css(".tag")]
        assert marks == [] if one["sureness"] == "one source" else one["sureness"] in marks
    assert {one["sureness"] for one in statements_of(brief)} > {"one source"}
    (legend,) = [node for node in tree.css(".brief > .hint") if "without a mark" in said(node)]
    assert "no-print" not in str(legend.attributes["class"])


def test_numbers_lead_to_the_bibliography(tree: LexborHTMLParser) -> None:
    """Each number beside a statement is a link to its entry, which is on the same page."""
    links = [(said(node), str(node.attributes["href"])) for node in tree.css(".stated > .sources a")]
    assert links
    assert all(href == f"#source-{number}" for number, href in links)
    entries = {f"#{node.attributes['id']}" for node in tree.css(".bibliography > li")}
    assert {href for _, href in links} <= entries


def test_the_brief_speaks_the_reader_s_language(a_run: ARun, browser: httpx2.Client) -> None:
    """Headings are in the language of the reader; what pages say stays as it is."""
    for language, heading in (("fr", "Bibliographie"), ("es", "Bibliografía")):
        page = LexborHTMLParser(browser.get(f"/runs/{a_run.id}", headers={"Accept-Language": language}).text)
        assert said(first_of(page, "#bibliography")) == heading
        assert page.css_first(".statement summary > span[lang=en]") is not None


def test_the_pages_of_a_run_are_in_order(a_run: ARun, browser: httpx2.Client, brief: dict[str, Any]) -> None:
    """Each with its reason, its score and its claims."""
    page = LexborHTMLParser(browser.get(f"/runs/{a_run.id}/pages").text)
    assert [said(node) for node in page.css(".taken h3")] == [one["title"] for one in brief["sources"]["pages"]]
    first = said(first_of(page, ".taken > li"))
    assert "where it began" in first
    assert "because" not in first
    assert retold(brief["sources"]["pages"][0]["why"], words_in("en")).striptags() in first
    assert "no pages this far" in browser.get(f"/runs/{a_run.id}/pages?page=7").text


def test_a_run_leads_to_others(two_runs: TwoRuns, tree: LexborHTMLParser, browser: httpx2.Client) -> None:
    """To a comparison in which the other run is to be chosen, and to the form as it was filled in."""
    choice = browser.get(str(first_of(tree, ".run-head a[href^='/compare']").attributes["href"]))
    assert choice.status_code == 200
    page = LexborHTMLParser(choice.text)
    assert first_of(page, "#new option[selected]").attributes["value"] == two_runs.old
    assert page.css_first("[role=alert]") is None
    form = LexborHTMLParser(browser.get(str(first_of(tree, "#gathering ~ p a").attributes["href"])).text)
    filled = {name: first_of(form, f"#{name}").attributes["value"] for name in ("topic", "max_pages", "depth")}
    assert filled == {"topic": TOPIC, "max_pages": "6", "depth": "2"}


@pytest.fixture
def copied(a_run: ARun) -> Iterator[Path]:
    """A copy of the run in the server's folder, to be spoiled."""
    folder = Path(shutil.copytree(a_run.path, a_run.runs / "copied in"))
    yield folder
    shutil.rmtree(folder)


def test_a_run_of_a_book_that_is_not_here_is_read(copied: Path, browser: httpx2.Client) -> None:
    """Everything is shown, quotes too; no link leads to a page that cannot be opened."""
    for name in ("brief.json", "manifest.json"):
        text = (copied / name).read_text(encoding="utf-8").replace("e6d1ee30-ad6e", "ffffffff-ad6e")
        for row in json.loads(text)["claims"] if name == "brief.json" else ():
            text = text.replace(row["claim_id"], claim_of(row).id)
        (copied / name).write_text(text, encoding="utf-8")
    page = browser.get("/runs/copied%20in").text
    assert "not on this shelf" in page
    assert "/page/" not in page


def test_what_others_wrote_is_shown_as_text(copied: Path, browser: httpx2.Client) -> None:
    """A run may come from anywhere: nothing in it becomes markup."""
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["topic"] = manifest["focus"] = HOSTILE
    manifest["books"][0] |= {"title": HOSTILE, "language": HOSTILE, "date": HOSTILE}
    (copied / "manifest.json").write_text(json.dumps(manifest))
    brief = json.loads((copied / "brief.json").read_text())
    brief["lead"][0]["text"] = brief["summary"][0]["text"] = HOSTILE
    brief["notes"] = brief["sources"]["story"] = [HOSTILE]
    brief["sources"]["pages"][0] |= {"title": HOSTILE, "why": HOSTILE, "opening": HOSTILE}
    brief["disputes"][0] |= {"about": HOSTILE, "kind": HOSTILE}
    (copied / "brief.json").write_text(json.dumps(brief))
    for address in ("/runs/copied%20in", "/runs/copied%20in/pages", "/research"):
        tree = LexborHTMLParser(browser.get(address).text)
        assert HOSTILE in tree.body.text()  # type: ignore[union-attr]
        assert not tree.css("main script, [onload]")


def test_a_damaged_run_says_what_to_do(copied: Path, browser: httpx2.Client) -> None:
    """No trace of the program, but what is broken and how to mend it."""
    (copied / "brief.json").write_text("{}")
    reply = browser.get("/runs/copied%20in")
    assert reply.status_code == 500
    assert "research the topic again" in reply.text
    assert "Traceback" not in reply.text
    assert browser.get("/runs/nowhere").status_code == 404
