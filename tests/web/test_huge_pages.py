"""Pages that are far too large: read as far as the bound allows, without taking the server from others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection

import httpx2
import pytest
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.claims import MAX_CLAIM_CHARS, PageClaims, claims_of_page
from kiwiresearch.errors import Interrupted
from kiwiresearch.page import MAX_PAGE_BYTES, PageDoc
from kiwiresearch.system import ABANDONED
from kiwiresearch.web import book_pages
from kiwiresearch.web.app import make_app
from kiwiresearch.zim.book_writer import NewPage, write_book

SENTENCE = "<p>Town {n} was founded in {year} and has {towers} towers.</p>"
SAID = {
    "en": "This page is too large to be shown whole.",
    "fr": "Cette page est trop grande pour être affichée en entier.",
    "es": "Esta página es demasiado grande para mostrarla entera.",
}


def sentences(size: int) -> str:
    """A page with about this many characters."""
    one = "".join(SENTENCE.format(n=n, year=1000 + n % 900, towers=n % 97) for n in range(2_000))
    return f"<html><body>{one * (size // len(one) + 1)}</body></html>"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a book with a page that is far too large."""
    home = tmp_path_factory.mktemp("huge")
    pages = [
        NewPage("Huge", "Huge", sentences(3 * MAX_PAGE_BYTES).encode()),
        NewPage("Long", "Long", sentences(2 * MAX_CLAIM_CHARS).encode()),
        NewPage("Small", "Small", b"<p>Small is a town in Kent. Small was founded in 1850 by 20 people.</p>"),
    ]
    names = {"Name": "huge_en", "Title": "Huge", "Language": "eng", "Date": "2026-01-01"}
    write_book(home / "huge.zim", pages, [], metadata=names, main_path="Small", index=False)
    with server_context(home, str(home / "huge.zim")) as context, running_server(context, make_app) as address:
        yield address


@pytest.fixture
def web(address: str) -> Iterator[httpx2.Client]:
    with http_client(address) as client:
        yield client


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_the_beginning_of_a_huge_page_is_shown(web: httpx2.Client, language: str) -> None:
    """A page beyond the bound is shown as far as the bound allows, and says so in its reader's language."""
    answer = web.get("/read/huge_en/Huge", headers={"Accept-Language": language}, follow_redirects=True)
    assert SAID[language] in answer.text
    assert MAX_PAGE_BYTES / 2 < len(answer.content) < 1.5 * MAX_PAGE_BYTES
    assert SAID[language] not in web.get("/read/huge_en/Small", headers={"Accept-Language": language}).text


def test_programs_are_told_that_a_page_was_cut(web: httpx2.Client) -> None:
    """The API says whether only the beginning of a page was read."""
    huge, small = (web.get("/api/page", params={"title": title}).json() for title in ("Huge", "Small"))
    assert (huge["is_cut"], small["is_cut"]) == (True, False)
    assert sum(len(section["text"]) for section in huge["sections"]) < MAX_PAGE_BYTES


def test_claims_are_taken_from_the_beginning_of_a_long_page(
    web: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims come from as much text as an article can have; a longer page says that its end was left out."""
    monkeypatch.setattr("kiwiresearch.claims.sentence.MAX_CLAIM_CHARS", 20_000)
    found = web.get("/api/claims", params={"title": "Long"}).json()
    assert found["is_cut"]
    assert 200 < len(found["claims"]) < 1_000
    assert not web.get("/api/claims", params={"title": "Small"}).json()["is_cut"]


def test_work_for_a_client_that_has_left_ends(
    address: str, web: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a client hangs up, the claims of its page are not read to the end, and others get theirs."""
    read_to_the_end: list[str] = []

    def noting(page: PageDoc, book: str) -> PageClaims:
        found = claims_of_page(page, book)
        read_to_the_end.append(page.ref.path)
        return found

    monkeypatch.setattr(book_pages, "claims_of_page", noting)
    line = HTTPConnection(address.removeprefix("http://"))
    with closing(line):
        line.request("GET", "/api/claims?title=Long")
        wait_until(book_pages.LONG_TEXT_TURN.locked)
        # Others need not wait for it.
        assert web.get("/api/claims", params={"title": "Small"}).json()["claims"]
        assert book_pages.LONG_TEXT_TURN.locked()
    wait_until(lambda: not book_pages.LONG_TEXT_TURN.locked())
    assert read_to_the_end == ["Small"]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that happens soon on an idle machine."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_work_that_nobody_waits_for_stops() -> None:
    """The rule that ends it: the event of the request."""
    from kiwiresearch.claims import claims_of_text

    abandoned = threading.Event()
    mark = ABANDONED.set(abandoned)
    try:
        assert claims_of_text("Rome was founded in 753 BC.", "Rome").claims
        abandoned.set()
        with pytest.raises(Interrupted):
            claims_of_text("Rome was founded in 753 BC.", "Rome")
    finally:
        ABANDONED.reset(mark)
