"""Search, titles, books, pages and claims over HTTP: what the command line gives, with addresses to open."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import quote as percent

import httpx2
import pytest
from pydantic import TypeAdapter
from tests.conftest import RunCommand
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.claims.claim import ClaimRecord
from kiwiresearch.page.record import LinkRecord, SectionRecord
from kiwiresearch.web import replies
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.inventory import BookRecord

PROBLEM = "application/problem+json"
TEXT = "Hattusa was burned about 1180 BC. It may have been abandoned before."


@pytest.fixture
def command(context: ServerContext, kiwi: RunCommand, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command line of the same user, and what it prints as JSON."""
    for name in ("KIWIRESEARCH_HOME", "HOME"):
        monkeypatch.setenv(name, str(context.workspace.folders.config))

    def run(*words: str, given: str = "") -> Any:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        code, printed, _ = kiwi(*words, "--json")
        assert code == 0
        return json.loads(printed)

    return run


@pytest.fixture(scope="module")
def two_books(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[httpx2.Client]:
    """A client of a server with two books that have a page of the same name."""
    from kiwiresearch.zim.book_writer import NewPage, write_book

    folder = tmp_path_factory.mktemp("two")
    other = folder / "other.zim"
    metadata = {"Name": "other_en", "Title": "Other book", "Language": "eng", "Date": "2026-01-01"}
    write_book(other, [NewPage("Sunset", "Sunset", b"<p>A village in Utah.</p>")], [], metadata=metadata)
    with (
        server_context(folder / "home", str(sample_zim), str(other)) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        yield client


def without(key: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != key} for row in rows]


def test_a_search_is_what_the_command_gives_with_addresses(
    client: httpx2.Client, command: Callable[..., Any], context: ServerContext
) -> None:
    """A search over HTTP has the hits, scores and senses of `search --json`, and an address for each page."""
    found = client.get("/api/search", params={"q": "mercury", "limit": 3}).json()
    hits, senses = found["hits"], found["senses"]
    assert all(
        row["url"] == f"{context.public_url}/read/{row['book_id']}/{percent(row['path'])}" for row in (*hits, *senses)
    )
    plain = found | {"hits": without("url", hits), "senses": without("url", senses)}
    assert plain == command("search", "mercury", "--limit", "3")


def test_a_search_heeds_its_options(client: httpx2.Client) -> None:
    """Focus decides between senses, `fast` reads no page, `limit` counts."""
    planet = client.get("/api/search", params={"q": "mercury", "focus": "planet", "limit": 1}).json()
    assert [hit["title"] for hit in planet["hits"]] == ["Mercury (planet)"]
    fast = client.get("/api/search", params={"q": "sunset", "fast": "true"}).json()
    assert fast["hits"][0]["title"] == "Sunset"


def test_nothing_found_is_an_empty_list(client: httpx2.Client) -> None:
    """A search that finds no page is not an error."""
    reply = client.get("/api/search", params={"q": "xqzzlwv"})
    assert (reply.status_code, reply.json()["hits"]) == (200, [])


def test_one_book_can_be_searched_alone(two_books: httpx2.Client) -> None:
    """A book is named by its name, title or UUID, and no other book is searched then."""
    for name in ("other_en", "Other Book", two_books.get("/api/books").json()["books"][1]["id"]):
        found = two_books.get("/api/search", params={"q": "sunset", "book": name}).json()
        assert {hit["book"] for hit in found["hits"]} == {"other_en"}
        page = two_books.get("/api/page", params={"title": "Sunset", "book": name}).json()
        assert page["plain_text"] == "A village in Utah."
    both = two_books.get("/api/suggest", params={"q": "sunset"}).json()["suggestions"]
    assert {row["book"] for row in both[:2]} == {"other_en", "kiwiresearch_en_sample"}
    assert {row["book_title"] for row in both[:2]} == {"Other book", "kiwiresearch sample book"}


def test_books_are_listed_without_their_paths(
    client: httpx2.Client, command: Callable[..., Any], context: ServerContext
) -> None:
    """The list of books is that of `books list --json`, and has no path of the machine."""
    reply = client.get("/api/books")
    result = command("books", "list")["books"][0]
    source = result.pop("source")
    assert reply.json()["books"][0] == result | {"url": f"{context.public_url}/read/{result['id']}/"}
    assert source not in reply.text
    assert str(context.workspace.folders.cache) not in reply.text


def test_a_book_that_cannot_be_opened_is_reported(tmp_path: Path, sample_zim: Path) -> None:
    """A book whose file is gone stays in the list as broken, without its path; the others can be used."""
    gone = tmp_path / "gone.zim"
    gone.write_bytes(sample_zim.read_bytes())
    with (
        server_context(tmp_path / "home", str(sample_zim), str(gone)) as context,
        running_server(context, make_app) as address,
    ):
        gone.unlink()
        with http_client(address) as client:
            reply = client.get("/api/books")
            sound, broken = reply.json()["books"]
            assert (sound["problem"], broken["check"]) == (None, "broken")
            assert broken["problem"]
            assert str(tmp_path) not in reply.text
            assert client.get("/api/search", params={"q": "sunset"}).json()["hits"]
            TypeAdapter(replies.BooksReply).validate_python(reply.json())


def test_a_page_is_what_the_command_gives(
    client: httpx2.Client, command: Callable[..., Any], context: ServerContext
) -> None:
    """A page over HTTP is that of `page --json`, by title or by path, with an address that opens it."""
    result = command("page", "Hattusa") | {"url": f"{context.public_url}/read/{_book(client)}/Hattusa"}
    assert client.get("/api/page", params={"title": "hattusa"}).json() == result
    assert client.get("/api/page", params={"path": "Hattusa"}).json() == result


def test_a_section_comes_alone(client: httpx2.Client) -> None:
    """A section is found by its heading or anchor; its address leads to it, and its absence names those there are."""
    page = client.get("/api/page", params={"title": "Hattusa"}).json()
    section = page["sections"][1]
    params = {"title": "Hattusa", "section": section["heading"].upper()}
    alone = client.get("/api/page", params=params).json()
    assert alone["sections"][0] == section
    assert alone["url"].endswith(f"#{section['anchor']}")
    missing = client.get("/api/page", params={"title": "Hattusa", "section": "Nope"})
    assert missing.status_code == 404
    assert repr(section["heading"]) in missing.json()["remedy"]


def test_claims_are_what_the_command_gives(client: httpx2.Client, command: Callable[..., Any]) -> None:
    """The claims of a page and of a text are those of `claims --json`."""
    of_page = client.get("/api/claims", params={"title": "Ugarit"}).json()
    assert of_page.pop("url").endswith("/Ugarit")
    assert of_page == command("claims", "Ugarit")
    of_text = client.post("/api/claims", json={"text": TEXT, "title": "Hattusa"}).json()
    assert of_text.pop("url") == ""
    assert of_text == command("claims", "--text", "-", "--title", "Hattusa", given=TEXT)
    assert of_text["claims"]


def test_claims_of_one_type(client: httpx2.Client) -> None:
    """Claims can be had by type, and an unknown type is refused."""
    found = client.get("/api/claims", params={"title": "Ugarit", "type": "timeline"}).json()["claims"]
    assert found
    assert all("timeline" in (claim["claim_type"], *claim["also"]) for claim in found)
    assert client.get("/api/claims", params={"title": "Ugarit", "type": "rumour"}).status_code == 422


def test_titles_are_completed(client: httpx2.Client) -> None:
    """The first letters of a title bring it up, with an address to open; no letters bring nothing."""
    found = client.get("/api/suggest", params={"q": "suns", "limit": 2}).json()
    assert "Sunset" in [row["title"] for row in found["suggestions"]]
    assert len(found["suggestions"]) <= 2
    assert client.get("/api/suggest", params={"q": ""}).json() == {"query": "", "suggestions": []}


@pytest.mark.parametrize(
    ("path", "kind", "rows"),
    [
        ("/api/search?q=mercury", replies.SearchReply, {"hits": replies.HitReply, "senses": replies.SenseReply}),
        ("/api/suggest?q=sun", replies.SuggestReply, {"suggestions": replies.SuggestionReply}),
        ("/api/books", replies.BooksReply, {"books": BookRecord}),
        ("/api/page?title=Hattusa", replies.PageReply, {"sections": SectionRecord, "links": LinkRecord}),
        ("/api/claims?title=Ugarit", replies.ClaimsReply, {"claims": ClaimRecord}),
    ],
)
def test_the_documented_fields_are_those_that_are_sent(
    client: httpx2.Client, path: str, kind: type[Any], rows: dict[str, type[Any]]
) -> None:
    """The OpenAPI names every field that is sent, and no other but those that say when they are there."""
    record = client.get(path).json()
    TypeAdapter(kind).validate_python(record)
    for sent, entry in ((record, kind), *((record[name][0], row) for name, row in rows.items())):
        seldom = {one.name for one in fields(entry) if one.metadata}
        assert set(sent) | seldom == {one.name for one in fields(entry)}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/search", 422),
        ("/api/search?q=", 400),
        ("/api/search?q=%00%20%3F", 400),
        ("/api/search?q=x&limit=0", 422),
        ("/api/search?q=x&limit=101", 422),
        ("/api/search?q=x&limit=ten", 422),
        ("/api/search?q=x&book=nope", 404),
        ("/api/search?q=x&book=~nobody", 404),
        ("/api/search?q=x&book=/etc/passwd", 404),
        (f"/api/search?q={'x' * 2_001}", 422),
        ("/api/page", 400),
        ("/api/page?title=%20", 400),
        ("/api/page?title=Sunset&path=Sunset", 400),
        ("/api/page?title=Nope", 404),
        ("/api/page?path=../../etc/passwd", 404),
        ("/api/page?path=..%2F..%2Fetc%2Fpasswd%00", 404),
        ("/api/claims", 400),
        ("/api/claims?title=Nope", 404),
        ("/api/suggest", 422),
        ("/api/suggest?q=a&limit=51", 422),
    ],
)
def test_an_invalid_search_is_a_problem(client: httpx2.Client, path: str, status: int) -> None:
    """A request that makes no sense, or for something that does not exist, is refused with a message."""
    reply = client.get(path)
    assert (reply.status_code, reply.headers["content-type"]) == (status, PROBLEM)
    assert reply.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"text": ""}', 422),
        ('{"text": "x", "kind": "y"}', 422),
        (f'{{"text": "{"x" * 200_001}"}}', 422),
        ("{", 422),
        ("[]", 422),
        ('{"text": "\\u0000"}', 200),
        ('{"text": "\\ud800 is 5 km long."}', 200),
        (f'{{"text": "{"may be 5 km. " * 15_000}"}}', 200),
        (f'{{"text": "{"(" * 200_000}"}}', 200),
    ],
)
def test_no_text_breaks_the_claims(client: httpx2.Client, body: str, status: int) -> None:
    """A text of any kind is read or refused, up to the longest that is taken."""
    reply = client.post("/api/claims", content=body.encode(), headers={"Content-Type": "application/json"})
    assert reply.status_code == status


WORDS = ("a%00b", "%ED%A0%80x", "%FF%FE", "%E6%97%A5%E6%9C%AC", "%27%20OR%201=1%20--", "NEAR(a%20b", "%22", "*", "-",
         "%E2%80%AEsunset", "A/../..", "%5C..%5C", "x%20" * 990, "%F0%9F%A6%80" * 400)  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_no_words_break_the_server(client: httpx2.Client, words: str) -> None:
    """Whatever is looked for, the answer is an answer, or a problem of the client's."""
    for path in ("search?q=", "suggest?q=", "page?title=", "page?path=", "claims?title=", "search?q=sunset&focus="):
        assert client.get(f"/api/{path}{words}").status_code in (200, 400, 404, 422)


def _book(client: httpx2.Client) -> str:
    return str(client.get("/api/books").json()["books"][0]["id"])
