"""One claim: its words in context, statements based on it, claims that say the same and those that disagree."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun
from tests.web.desk.page_text import first, plain, texts_of

from kiwiresearch.messages.catalogue import catalogue_in


@pytest.fixture(scope="module")
def brief(a_run: ARun) -> dict[str, Any]:
    return dict(json.loads((a_run.path / "brief.json").read_text(encoding="utf-8")))


def shown(browser: httpx2.Client, run: str, claim: str) -> LexborHTMLParser:
    reply = browser.get(f"/runs/{run}/claims/{claim}")
    assert reply.status_code == 200, reply.text
    return LexborHTMLParser(reply.text)


def test_the_quote_is_shown_among_the_words_of_its_page(
    browser: httpx2.Client, a_run: ARun, brief: dict[str, Any]
) -> None:
    """The quoted words are marked between what the page says before and after them."""
    pages = [json.loads(line) for line in (a_run.path / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {page["path"]: plain(page["plain_text"]) for page in pages}
    for row in brief["claims"][:8]:
        quote = first(shown(browser, a_run.id, row["claim_id"]), "blockquote")
        assert plain(first(quote, "mark").text()) == plain(row["support_snippets"][0])
        assert plain(quote.text()).strip("… ") in texts[row["path"]]
        assert len(plain(quote.text())) > len(plain(row["support_snippets"][0]))


def test_statements_based_on_a_claim_are_shown(browser: httpx2.Client, a_run: ARun, brief: dict[str, Any]) -> None:
    """Each statement of the brief that is based on it is shown, with its part of the brief."""
    stated = {
        "summary": brief["summary"][0],
        "body": brief["body"][0]["statements"][0],
        "timeline": brief["timeline"][0]["statement"],
    }
    for part, statement in stated.items():
        tree = shown(browser, a_run.id, statement["claims"][0])
        resting = tree.css(f'li:has(> a[href="/runs/{a_run.id}#{part}"])')
        assert plain(statement["text"]) in [plain(node.text()) for one in resting for node in one.css("span")]
        assert catalogue_in("en")(f"brief.parts.{part}") in [
            plain(node.text()) for one in resting for node in one.css("a")
        ]


def test_claims_that_say_the_same_are_named(browser: httpx2.Client, a_run: ARun, brief: dict[str, Any]) -> None:
    """If a statement rests on several claims, each leads to the others."""
    body = [one for group in brief["body"] for one in group["statements"]]
    statements = [*brief["summary"], *body, *(one["statement"] for one in brief["timeline"])]
    for statement in statements:
        one, *others = statement["claims"]
        links = {node.attributes["href"] for node in shown(browser, a_run.id, one).css(".evidence a.whole")}
        assert {f"/runs/{a_run.id}/claims/{other}" for other in others} <= links


def test_the_other_side_of_a_dispute_is_shown(browser: httpx2.Client, a_run: ARun, brief: dict[str, Any]) -> None:
    """A claim on one side of a dispute shows all sides, and says which is its own; both may be in one sentence."""
    dispute = next(one for one in brief["disputes"] if len(one["views"]) > 1)
    claims = {row["claim_id"]: row for row in brief["claims"]}
    sides = [view["statement"]["claims"][0] for view in dispute["views"]]
    views = shown(browser, a_run.id, sides[0]).css(".dispute .views > li")
    assert [plain(first(node, "span").text()) for node in views] == [plain(claims[one]["claim"]) for one in sides]
    assert "this" in (views[0].attributes.get("class") or "")
    assert [node.css_first("a.whole") is not None for node in views] == [one != sides[0] for one in sides]


def test_a_claim_can_be_noted_on(browser: httpx2.Client, a_run: ARun, brief: dict[str, Any]) -> None:
    """The form for notes on it is on its page, and leads back to it."""
    claim = brief["claims"][0]["claim_id"]
    form = first(shown(browser, a_run.id, claim), f'form[action="/runs/{a_run.id}/notes"]')
    sent = {node.attributes["name"]: node.attributes.get("value") for node in form.css("input[type=hidden]")}
    assert (sent["kind"], sent["target"], sent["back"]) == ("claim", claim, f"/runs/{a_run.id}/claims/{claim}")


def test_confidence_is_explained_on_demand(browser: httpx2.Client, a_run: ARun, brief: dict[str, Any]) -> None:
    """The terms of the sum are there, folded away."""
    row, english = brief["claims"][0], catalogue_in("en")
    terms = shown(browser, a_run.id, row["claim_id"]).css("details .terms li")
    assert [plain(node.text()) for node in terms] == [
        f"{english.named('claims.signals', line['signal'])} {line['points']:+g}" for line in row["confidence_terms"]
    ]


def test_a_claim_that_does_not_exist_is_reported(browser: httpx2.Client, a_run: ARun) -> None:
    """The page says that the run has no claim with that id."""
    reply = browser.get(f"/runs/{a_run.id}/claims/sha256:00000000000000000000000000000000")
    assert reply.status_code == 404
    assert "has no claim" in reply.text
    tree = LexborHTMLParser(reply.text)
    assert texts_of(tree, "h1") == ["Not found in this brief"]
    assert tree.css_first(f"main a[href='/runs/{a_run.id}']") is not None


@pytest.mark.parametrize(("language", "word"), [("fr", "définition"), ("es", "definición")])
def test_a_claim_is_described_in_the_readers_language(
    browser: httpx2.Client, a_run: ARun, brief: dict[str, Any], language: str, word: str
) -> None:
    """Names of types are translated; what the book says is not."""
    row = next(one for one in brief["claims"] if one["claim_type"] == "definition")
    place = f"/runs/{a_run.id}/claims/{row['claim_id']}"
    tree = LexborHTMLParser(browser.get(place, headers={"Accept-Language": language}).text)
    assert plain(first(tree, "h2.says").text()) == plain(row["claim"])
    assert word in [plain(node.text()) for node in tree.css(".tag")]


def test_the_hedging_of_a_claim_is_named_as_such(browser: httpx2.Client, a_run: ARun) -> None:
    """Beside its type it says 'hedged: some'; in the table, where the column says it, only 'some'."""
    table = LexborHTMLParser(browser.get(f"/runs/{a_run.id}/claims", params={"hedging": "some"}).text)
    assert "some" in [plain(node.text()) for node in table.css(".of-hedging .tag")]
    rows = [row for row in table.css("tbody tr") if "some" in texts_of(row, ".of-hedging .tag")]
    place = str(first(rows[0], "a[href*='/claims/']").attributes["href"])
    tree = LexborHTMLParser(browser.get(place).text)
    assert "hedged: some" in [plain(node.text()) for node in tree.css(".tag")]
