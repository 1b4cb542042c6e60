"""The claims of a run as a table: filters in the address, an order, parts, and links to pages and claims."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun
from tests.web.desk.page_text import first, texts_of


@pytest.fixture(scope="module")
def rows(a_run: ARun) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (a_run.path / "claims.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def a_copy(a_run: ARun) -> Iterator[Path]:
    """The run under another name, for tests that change it."""
    copy = a_run.path.with_name("a-copy-with-other-claims")
    shutil.copytree(a_run.path, copy)
    yield copy
    shutil.rmtree(copy)


def table(browser: httpx2.Client, run: str, **query: Any) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{run}/claims", params=query)
    assert reply.status_code == 200, reply.text
    return LexborHTMLParser(reply.text)


def all_claims(browser: httpx2.Client, run: str, **query: Any) -> list[str]:
    """The claims of all parts of the table."""
    found: list[str] = []
    tree = table(browser, run, **query)
    while True:
        found += [" ".join(node.text().split()) for node in tree.css("tbody .of-claim > span")]
        later = tree.css_first("a[rel=next]")
        if later is None:
            return found
        tree = LexborHTMLParser(browser.get(str(later.attributes["href"])).text)


def text(row: dict[str, Any]) -> str:
    return " ".join(row["claim"].split())


def test_every_claim_is_in_the_table_once(browser: httpx2.Client, a_run: ARun, rows: list[dict[str, Any]]) -> None:
    """Each part has fifty claims, in the order of the pages, and the parts together have them all."""
    top = table(browser, a_run.id)
    assert len(top.css("tbody tr")) == min(50, len(rows))
    assert texts_of(top, "#count") == [f"{len(rows)} claims"]
    assert all_claims(browser, a_run.id) == [text(row) for row in rows]


FILTERS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "timeline"}, lambda row: row["claim_type"] == "timeline"),
    ({"hedging": "none"}, lambda row: not row["hedging"]),
    ({"hedging": "any"}, lambda row: bool(row["hedging"])),
    ({"hedging": "some"}, lambda row: row["hedging_flags"]["some"]),
    ({"least": 75}, lambda row: row["confidence"] >= 0.75),
    ({"page": "Bronze"}, lambda row: row["path"] == "Bronze"),
    ({"page": "BRONZE"}, lambda row: row["path"] == "Bronze"),
    ({"words": "Egypt"}, lambda row: "egypt" in f"{row['claim']} {row['subject']} {row['support_snippets']}".lower()),
    (
        {"type": "timeline", "hedging": "none", "least": 60, "words": "bc"},
        lambda row: row["claim_type"] == "timeline" and not row["hedging"] and row["confidence"] >= 0.6
        and "bc" in f"{row['claim']} {row['subject']} {row['support_snippets']}".lower(),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("query", "fits"), FILTERS, ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_a_filter_keeps_what_fits_and_nothing_else(
    browser: httpx2.Client, a_run: ARun, rows: list[dict[str, Any]], query: dict[str, Any], fits: Any
) -> None:
    """Type, page by path or title, hedging, confidence and words, alone and together; the count is shown."""
    wanted = [text(row) for row in rows if fits(row)]
    assert 0 < len(wanted) < len(rows)
    assert all_claims(browser, a_run.id, **query) == wanted
    count = texts_of(table(browser, a_run.id, **query), "#count")[0]
    assert count == f"{len(wanted)} of {len(rows)} claims"


def test_the_form_shows_what_the_address_asks_for(browser: httpx2.Client, a_run: ARun) -> None:
    """A reload, a bookmark or a link to the table shows the same filters and the same claims."""
    query = {"type": "timeline", "page": "Bronze", "hedging": "none", "least": 70, "words": 'the "people"'}
    tree = table(browser, a_run.id, **query)
    assert [str(node.attributes["value"]) for node in tree.css("form[data-swap] option[selected]")] == [
        "timeline", "Bronze", "none", "70",
    ]  # fmt: skip
    assert first(tree, "#words").attributes["value"] == 'the "people"'


@pytest.mark.parametrize("column", ["type", "page", "hedging", "confidence"])
def test_the_table_is_sorted_by_links(browser: httpx2.Client, a_run: ARun, column: str) -> None:
    """A column's heading sorts by it, once more the other way round, says which way it is, and keeps the filters."""
    tree = table(browser, a_run.id, least=50)
    head = first(tree, f'thead a[href*="sort={column}"], thead a[href*="sort=-{column}"]')
    once = LexborHTMLParser(browser.get(str(head.attributes["href"])).text)
    (way,) = [node.attributes["aria-sort"] for node in once.css("th[aria-sort]")]
    assert way == ("descending" if column == "confidence" else "ascending")
    cells = texts_of(once, f"tbody .of-{column}")
    if column == "confidence":
        assert [int(cell.rstrip("%")) for cell in cells] == sorted((int(c.rstrip("%")) for c in cells), reverse=True)
    again = LexborHTMLParser(browser.get(str(first(once, "th[aria-sort] a").attributes["href"])).text)
    assert first(again, "th[aria-sort]").attributes["aria-sort"] != way
    assert texts_of(again, "#count") == texts_of(tree, "#count")


def test_a_claim_leads_to_its_words_and_to_all_about_it(
    browser: httpx2.Client, a_run: ARun, rows: list[dict[str, Any]]
) -> None:
    """The page opens at the quoted words, within the run; the claim has a page of its own."""
    line, row = first(table(browser, a_run.id), "tbody tr"), rows[0]
    place = row["spans"][0]
    link = str(first(line, ".of-page a").attributes["href"])
    assert link == f"/page/{row['book']}/{row['path']}?run={a_run.id}&mark={place['start']}-{place['end']}#mark"
    assert first(line, "a.whole").attributes["href"] == f"/runs/{a_run.id}/claims/{row['claim_id']}"
    assert first(line, ".of-claim > span").attributes["lang"] == "en"


def test_nothing_found_says_what_to_do(browser: httpx2.Client, a_run: ARun) -> None:
    """Filters that fit nothing leave a sentence and a way to take them away."""
    tree = table(browser, a_run.id, words="no page says this")
    assert texts_of(tree, "#found .note") == ["No claims match. Remove a filter, or search for fewer words."]
    assert f"/runs/{a_run.id}/claims" in [node.attributes["href"] for node in tree.css("#found a")]


def test_a_part_behind_the_last_is_the_last(browser: httpx2.Client, a_run: ARun, rows: list[dict[str, Any]]) -> None:
    """An old address still shows something."""
    tree = table(browser, a_run.id, n=999)
    assert tree.css_first("a[rel=next]") is None
    assert texts_of(tree, "tbody .of-claim > span")[-1] == text(rows[-1])


@pytest.mark.parametrize(
    "query",
    [{"type": "nonsense"}, {"least": 101}, {"least": "x"}, {"n": 0}, {"words": "x" * 201}, {"sort": "sha"}],
    ids=str,
)
def test_invalid_filters_are_refused(browser: httpx2.Client, a_run: ARun, query: dict[str, Any]) -> None:
    """A value that no form sends is an invalid request, not an internal error."""
    assert browser.get(f"/runs/{a_run.id}/claims", params=query).status_code == 422


@pytest.mark.parametrize("part", ["", "claims", "claims/sha256:0", "timeline", "numbers", "graph", "graph/links"])
def test_a_run_that_does_not_exist_is_reported(browser: httpx2.Client, part: str) -> None:
    """Every page of a run that is gone says so."""
    reply = browser.get(f"/runs/no-such-run/{part}".rstrip("/"))
    assert reply.status_code == 404
    assert "no-such-run" in reply.text


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("brief.json", ""),
        ("claims.jsonl", "claims"),
        ("brief.json", "timeline"),
        ("brief.json", "numbers"),
        ("graph.json", "graph"),
        ("graph.json", "graph/links"),
    ],
)
def test_a_damaged_file_is_named(browser: httpx2.Client, a_copy: Path, file: str, part: str) -> None:
    """The page says which file of which run it is and what to do, and not in which folder it is."""
    (a_copy / file).write_text('{"nodes": 1}\n', encoding="utf-8")
    reply = browser.get(f"/runs/{a_copy.name}/{part}".rstrip("/"))
    assert reply.status_code >= 400
    assert file in reply.text
    assert "research the topic again" in reply.text
    assert "Traceback" not in reply.text
    assert str(a_copy.parent) not in reply.text


def test_books_from_right_to_left_are_shown_so(browser: httpx2.Client, a_copy: Path) -> None:
    """Words of an Arabic book carry its language and direction; the page around them keeps its own."""
    manifest = a_copy / "manifest.json"
    data = json.loads(manifest.read_text(encoding="utf-8"))
    data["books"] = [book | {"language": "ara"} for book in data["books"]]
    manifest.write_text(json.dumps(data), encoding="utf-8")
    tree = table(browser, a_copy.name)
    assert {(n.attributes["lang"], n.attributes["dir"]) for n in tree.css(".of-claim > span")} == {("ar", "rtl")}
    assert first(tree, "html").attributes["dir"] == "ltr"


def test_halves_of_letters_are_shown_as_such(browser: httpx2.Client, a_copy: Path) -> None:
    """A claim with an invalid character, as a damaged or hostile run may have, does not break the page."""
    file = a_copy / "claims.jsonl"
    first_row, *rest = file.read_text(encoding="utf-8").splitlines()
    row = json.loads(first_row) | {"claim": "Half \ud800 of a letter", "section": "\udfff", "hedging": []}
    row |= {"measures": [], "dates": []}
    file.write_text("\n".join([json.dumps(row), *rest]) + "\n", encoding="utf-8")
    tree = table(browser, a_copy.name)
    assert texts_of(tree, "tbody .of-claim > span")[0] == "Half ? of a letter"
    assert browser.get(str(first(tree, "a.whole").attributes["href"])).status_code == 200
