"""The brief of a run: all its parts, every statement open to its proof, and what others made shown as text."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.web.desk.conftest import TOPIC, ARun, TwoRuns, first_of

from kiwiresearch.claims.claim import claim_from_record
from kiwiresearch.messages.catalogue import catalogue_in
from kiwiresearch.messages.message import message_from_record
from kiwiresearch.web.desk.translations import translated

HOSTILE = '<script>alert(1)</script>" onload="x'


@pytest.fixture(scope="module")
def tree(a_run: ARun, browser: httpx2.Client) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{a_run.id}")
    assert reply.status_code == 200
    return LexborHTMLParser(reply.text)


@pytest.fixture(scope="module")
def brief(a_run: ARun) -> dict[str, Any]:
    return dict(json.loads((a_run.path / "brief.json").read_text(encoding="utf-8")))


@pytest.fixture
def copied(a_run: ARun) -> Iterator[Path]:
    """A copy of the run in the server's folder, to be spoiled."""
    folder = Path(shutil.copytree(a_run.path, a_run.runs / "copied in"))
    yield folder
    shutil.rmtree(folder)


def said(node: LexborNode) -> str:
    return " ".join(node.text().split())


def running_in(brief: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of the running text, in reading order."""
    return [*brief["summary"], *(one for group in brief["body"] for one in group["statements"])]


def statements_of(brief: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements that are not part of running text."""
    found: list[dict[str, Any]] = []
    for part in ("definitions", "mechanisms", "actors"):
        found += [one for group in brief[part] for one in group["statements"]]
    found += [row["statement"] for part in ("timeline", "numbers") for row in brief[part]]
    return found + [view["statement"] for dispute in brief["disputes"] for view in dispute["views"]]


def test_all_parts_are_there_in_order(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """The contents lead to every part with its heading; a line at the end names the parts without content."""
    links = [str(node.attributes["href"]) for node in tree.css(".contents details > ul > li > a")]
    heads = [f"#{node.attributes['id']}" for node in tree.css(".brief section > h2")]
    assert links == heads
    assert links[:2] == ["#summary", "#body"]
    parts = ("definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "gaps")
    assert [name for name in parts if f"#{name}" in links] == [name for name in parts if brief[name]]
    assert brief["numbers"] == [], "else the next line shows nothing"
    last = said(first_of(tree, "[aria-labelledby=gathering]"))
    assert re.search(r"Nothing was found for these parts: [^.]*Numbers", last)


def test_a_brief_from_one_article_says_so_at_the_top(
    copied: Path, browser: httpx2.Client, brief: dict[str, Any]
) -> None:
    """If all claims are from one page, a note above the summary names and links it."""
    page = brief["sources"]["pages"][0]
    claims = [one for one in brief["claims"] if one["page_title"] == page["title"]]
    empty = dict.fromkeys(
        ("summary", "body", "definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "gaps"), ()
    )
    (copied / "brief.json").write_text(json.dumps(brief | empty | {"claims": claims}), encoding="utf-8")
    shown = LexborHTMLParser(browser.get("/runs/copied in").text)
    assert f"Based on one article: {page['title']}" in [said(node) for node in shown.css(".brief > .note")]


def test_every_statement_opens_to_its_claims(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """Each shows type, confidence, quote and page of each claim it rests on."""
    wanted = sorted(" ".join(one["text"].split()) for one in statements_of(brief))
    shown = sorted(said(node) for node in tree.css(".stated > .sentence"))
    assert shown == wanted
    first = first_of(tree, ".stated")
    (one,) = [one for one in statements_of(brief) if one["text"] == said(first_of(first, ".sentence"))]
    is_shown_by(brief, one["claims"], first)


def is_shown_by(brief: dict[str, Any], ids: list[str], node: LexborNode) -> None:
    """Each claim has its quote, in the language of its page, and a link to its own page, which has the rest."""
    claims = {row["claim_id"]: row for row in brief["claims"]}
    for row, evidence in zip([claims[one] for one in ids], node.css(".evidence > li"), strict=True):
        quote = evidence.css_first("blockquote mark") or first_of(evidence, "blockquote")
        assert said(quote) == " ".join(row["support_snippets"][0].split())
        assert evidence.css('.about a[href*="/claims/"]')
        assert evidence.css_first("div[lang=en][dir=ltr]") is not None


def test_a_quote_is_marked_in_its_place_on_the_page(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """A statement opens to its quotes with the sentences before and after each of them; rows of boxes have none."""
    quotes = {row["claim_id"]: row["support_snippets"][0] for row in brief["claims"]}
    whole = {f"{one['before']}{quotes[claim]}{one['after']}" for claim, one in brief["context"].items()}
    shown = [node.text() for node in tree.css(".stated blockquote.around")]
    assert shown
    assert any(words in whole for words in shown)
    assert all(any(words in one for one in whole) for words in shown)
    assert {node.text() for node in tree.css("blockquote.around > mark")} <= set(quotes.values())
    rows = [row["claim_id"] for row in brief["claims"] if row["section"] == "infobox"]
    assert not set(rows) & set(brief["context"])


def test_summary_and_findings_are_running_text(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """Their sentences follow each other in paragraphs, under the headings of the pages; none is in a list."""
    shown = [said(node) for node in tree.css(".running > .sentence")]
    assert shown == [" ".join(one["text"].split()) for one in running_in(brief)]
    for part in ("summary", "body"):
        section = first_of(tree, f"section[aria-labelledby={part}]")
        assert section.css(".running > .sentence")
        assert not section.css(".stated, .running ~ ul, section > ul")
    heads = [said(node) for node in tree.css("section[aria-labelledby=body] > h3")]
    assert heads == [group["heading"] for group in brief["body"]] != []


def test_running_text_is_cited_where_its_place_changes(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """Sentences of one section are cited once, at their end, with the claims of all of them; a page is a paragraph."""
    claims = {row["claim_id"]: row for row in brief["claims"]}
    numbers = {said(first_of(node, "a")): str(at) for at, node in enumerate(tree.css("ol.bibliography > li"), 1)}

    def places(one: dict[str, Any]) -> list[tuple[str, str]]:
        return list(dict.fromkeys((claims[it]["path"], claims[it]["section"]) for it in one["claims"]))

    text = {" ".join(one["text"].split()): one for one in running_in(brief)}
    runs = 0
    for paragraph in tree.css(".running"):
        together: list[dict[str, Any]] = []
        last: list[tuple[str, str]] = []
        pages: set[str] = set()
        for node in paragraph.iter():
            if "sentence" in str(node.attributes.get("class")):
                together.append(text[said(node)])
                pages.add(claims[together[-1]["claims"][0]]["path"])
            elif node.tag == "details":
                (here,) = {tuple(places(one)) for one in together}
                assert list(here) != last
                ids = list(dict.fromkeys(it for one in together for it in one["claims"]))
                is_shown_by(brief, ids, node)
                cited = {numbers[claims[it]["page_title"]] for it in ids}
                assert set(re.findall(r"\d+", said(first_of(node, "summary")))) == cited
                assert {f"#source-{one}" for one in cited} == {
                    str(link.attributes["href"]) for link in node.css("a[href^='#']")
                }
                together, last, runs = [], list(here), runs + 1
        assert (together, len(pages)) == ([], 1)
    assert 0 < runs < len(text)


def test_proof_is_read_on_its_page(tree: LexborHTMLParser, brief: dict[str, Any], a_run: ARun) -> None:
    """The page opens at the quoted words, within the run; the claim has a page of its own."""
    row = next(one for one in brief["claims"] if one["claim_id"] == brief["summary"][0]["claims"][0])
    links = [str(node.attributes["href"]) for node in tree.css(".lead .evidence a")]
    span = row["spans"][0]
    mark = f"mark={span['start']}-{span['end']}"
    assert f"/page/{row['book']}/{row['path']}?run={a_run.id}&{mark}#mark" in links
    assert f"/runs/{a_run.id}/claims/{row['claim_id']}" in links


def test_the_bibliography_has_every_page(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """Those that are cited come first, with their numbers; the others are folded, and have none."""
    cited = {(row["book"], row["path"]) for row in brief["claims"]}
    rows = [(one["title"], (one["ref"]["book"], one["ref"]["path"]) in cited) for one in brief["sources"]["pages"]]
    pages = [said(first_of(node, "a")) for node in tree.css("ol.bibliography > li")]
    assert pages == [title for title, is_cited in rows if is_cited] != []
    others = [said(first_of(node, "a")) for node in tree.css("details:not([open]) > ul.bibliography > li")]
    assert others == [title for title, is_cited in rows if not is_cited]
    assert tree.css_first("ul.bibliography > li[id]") is None
    cited_by = [said(node).rpartition("[")[2].strip("]") for node in tree.css(".stated > .proof > summary")]
    numbers = {number for one in cited_by for number in one.split(", ")}
    assert numbers <= {str(number) for number in range(1, len(pages) + 1)}
    assert "1" in numbers


def test_only_what_is_unusual_is_marked(tree: LexborHTMLParser, brief: dict[str, Any]) -> None:
    """All but what one source says has a note; the page says so once, on paper too. A dispute is one step away."""
    sure = catalogue_in("en")
    sentences = {said(node): node for node in tree.css(".sentence")}
    rows = [*running_in(brief), *statements_of(brief)]
    for one in rows:
        note = sentences[" ".join(one["text"].split())].next
        while note is not None and note.tag == "-text":
            note = note.next
        assert note is not None
        is_noted = "notes" in str(note.attributes.get("class"))
        assert is_noted == (one["sureness"] != "one source")
        if is_noted:
            assert said(note).startswith(sure.named("claims.sureness", one["sureness"]))
    assert {one["sureness"] for one in rows} > {"one source"}
    ids = {f"#{node.attributes['id']}" for node in tree.css("[id]")}
    assert {str(node.attributes["href"]) for node in tree.css(".notes a")} <= ids
    (legend,) = [node for node in tree.css(".brief > .hint") if "without a label" in said(node)]
    assert "no-print" not in str(legend.attributes["class"])


def test_a_passage_highlights_a_quote_only_within_its_text(tree: LexborHTMLParser) -> None:
    """A quote on its own needs no mark, and no passage has a percentage: confidence is on the page of the claim."""
    quotes = tree.css(".passage blockquote")
    assert any(node.css("mark") for node in quotes)
    assert any(not node.css("mark") for node in quotes)
    for node in quotes:
        assert not node.css("mark") or said(node) != said(first_of(node, "mark"))
    assert all("%" not in said(node) for node in tree.css(".passage .evidence .about"))


def test_numbers_lead_to_the_bibliography(tree: LexborHTMLParser) -> None:
    """Each passage links to the entries of its pages, which are on the same page."""
    links = [(said(node), str(node.attributes["href"])) for node in tree.css(".stated .passage > .about a")]
    assert links
    assert all(href == f"#source-{number}" for number, href in links)
    entries = {f"#{node.attributes['id']}" for node in tree.css("ol.bibliography > li")}
    assert {href for _, href in links} <= entries


def test_the_brief_speaks_the_reader_s_language(a_run: ARun, browser: httpx2.Client) -> None:
    """Headings are in the language of the reader; what pages say stays as it is."""
    for language, heading in (("fr", "Bibliographie"), ("es", "Bibliografía")):
        page = LexborHTMLParser(browser.get(f"/runs/{a_run.id}", headers={"Accept-Language": language}).text)
        assert said(first_of(page, "#bibliography")) == heading
        assert page.css_first(".stated > span[lang=en]") is not None
        assert page.css_first(".running > .sentence[lang=en]") is not None


@pytest.mark.parametrize(
    ("language", "book"),
    [
        ("en", "Tin, tin, 1 May 2007, flavour maxi, 14,655 articles"),
        ("fr", "Tin, tin, 1er mai 2007, variante maxi, 14 655 articles"),
        ("es", "Tin, tin, 1 de mayo de 2007, variante maxi, 14 655 artículos"),
    ],
)
def test_a_book_of_the_settings_is_written_in_the_reader_s_language(
    copied: Path, browser: httpx2.Client, language: str, book: str
) -> None:
    """Its date and the number of its articles are formatted, although the settings have them as text."""
    brief = json.loads((copied / "brief.json").read_text())
    brief["sources"]["books"][0] |= {
        "title": "Tin", "name": "tin", "date": "2007-05-01", "flavour": "maxi", "articles": 14_655,
    }  # fmt: skip
    (copied / "brief.json").write_text(json.dumps(brief))
    page = LexborHTMLParser(browser.get("/runs/copied%20in", headers={"Accept-Language": language}).text)
    assert book in [said(node) for node in page.css("[aria-labelledby=gathering] dd")]


def test_a_brief_says_how_its_topic_was_understood(copied: Path, browser: httpx2.Client) -> None:
    """The topic and its aspect are at the top, and each other sense links to research of its own."""
    brief = json.loads((copied / "brief.json").read_text())
    brief |= {"head": "Mercury", "aspect": "orbit", "senses": ["Mercury (element)", HOSTILE]}
    (copied / "brief.json").write_text(json.dumps(brief))
    page = LexborHTMLParser(browser.get("/runs/copied%20in").text)
    assert said(first_of(page, ".brief > .understood")) == "Understood as: Mercury: orbit"
    assert said(first_of(page, ".brief > .senses")) == " ".join(f"Other meanings: Mercury (element), {HOSTILE}".split())
    links = [str(node.attributes["href"]) for node in page.css(".senses a")]
    for link, topic in zip(links, brief["senses"], strict=True):
        form = LexborHTMLParser(browser.get(link).text)
        assert first_of(form, "#topic").attributes["value"] == topic
    french = browser.get("/runs/copied%20in", headers={"Accept-Language": "fr"}).text
    assert "Interprété comme\xa0:" in french
    brief |= {"aspect": "", "senses": []}
    (copied / "brief.json").write_text(json.dumps(brief))
    page = LexborHTMLParser(browser.get("/runs/copied%20in").text)
    assert said(first_of(page, ".brief > .understood")) == "Understood as: Mercury", "which is not the topic's name"
    brief |= {"head": TOPIC}
    (copied / "brief.json").write_text(json.dumps(brief))
    page = LexborHTMLParser(browser.get("/runs/copied%20in").text)
    assert not page.css(".understood, .senses")


def test_the_pages_of_a_run_are_in_order(a_run: ARun, browser: httpx2.Client, brief: dict[str, Any]) -> None:
    """Each with its reason and its claims."""
    page = LexborHTMLParser(browser.get(f"/runs/{a_run.id}/pages").text)
    assert [said(node) for node in page.css(".taken h3")] == [one["title"] for one in brief["sources"]["pages"]]
    first = said(first_of(page, ".taken > li"))
    assert "starting page" in first
    assert "because" not in first
    seed = brief["sources"]["pages"][0]
    why = message_from_record(seed["why"], seed["why_message"])
    assert translated(why, catalogue_in("en")).striptags() in first
    beyond = LexborHTMLParser(browser.get(f"/runs/{a_run.id}/pages?page=7").text)
    assert said(first_of(beyond, ".taken > li")) == first


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


def test_a_run_of_a_book_that_is_not_here_is_read(copied: Path, browser: httpx2.Client) -> None:
    """Everything is shown, quotes too; no link leads to a page that cannot be opened."""
    for name in ("brief.json", "manifest.json"):
        text = (copied / name).read_text(encoding="utf-8").replace("e6d1ee30-ad6e", "ffffffff-ad6e")
        for row in json.loads(text)["claims"] if name == "brief.json" else ():
            text = text.replace(row["claim_id"], claim_from_record(row).id)
        (copied / name).write_text(text, encoding="utf-8")
    page = browser.get("/runs/copied%20in").text
    assert "not in your library" in page
    assert "/page/" not in page
