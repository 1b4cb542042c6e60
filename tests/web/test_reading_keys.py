"""The key in the address of a book whose pages run scripts: it opens that book, to that browser, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from tests.web.server_with_users import UserServer, user_server
from tests.web.servers import http_client

from kiwiresearch.web.guard.identity import CURRENT_VISITOR, Visitor
from kiwiresearch.web.guard.reading_keys import PERIOD_S, ReadingKeys

PAGE = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Accept": "text/html", "User-Agent": "Browser 1"}
FRAME = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Mode": "navigate", "Accept": "text/html", "User-Agent": "Browser 1"}
PICTURE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image", "User-Agent": "Browser 1"}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserServer]:
    """A server with users whose books run scripts."""
    with user_server(tmp_path_factory.mktemp("keys"), KIWIRESEARCH_SERVE_SCRIPTS="true") as people:
        yield people


def framed(people: UserServer, browser: httpx2.Client, headers: Mapping[str, str]) -> str:
    """The address of the frame with a page in its original layout, as this browser gets it."""
    text = browser.get(f"/page/{people.context.shelf.books[0].id}/Sunset?layout=original", headers=headers).text
    found = re.search(r'<iframe[^>]* src="([^"]*)"', text)
    assert found is not None, text
    return found[1]


def frame_of(people: UserServer, name: str) -> str:
    """The address of that frame for a user."""
    with people.browser(name) as browser:
        return framed(people, browser, PAGE)


def test_a_key_opens_one_book_for_one_browser(people: UserServer) -> None:
    """With the key, the page and its files need no cookie; another browser or book and the API are refused."""
    address = frame_of(people, "rita")
    key = address.split("~")[1].split("/")[0]
    book = people.context.shelf.books[0].id
    with http_client(people.address) as client:
        page = client.get(address, headers=FRAME | {"Sec-Fetch-Site": "cross-site"})
        assert (page.status_code, page.headers["content-security-policy"].split(";")[0]) == (
            200,
            "sandbox allow-scripts",
        )
        assert f"/read/{book}~{key}/" in page.text  # its links carry it on
        assert client.get(address, headers=PICTURE).status_code == 200
        for headers in (
            PICTURE | {"User-Agent": "Browser 2"},
            PICTURE | {"Accept-Language": "fr"},
            PICTURE | {"Sec-Fetch-Dest": "empty"},
            {"User-Agent": "Browser 1"},
            {"User-Agent": "curl/8"},
        ):
            assert client.get(address, headers=headers).status_code == 403, headers
        for changed in (key[::-1], "0" * 90, "0" * 32, people.ids["olga"] + key[16:]):
            assert client.get(address.replace(key, changed), headers=PICTURE).status_code == 403
        assert client.get(address.replace(book, "0" + book[1:]), headers=PICTURE).status_code == 403
        assert client.get(f"/api~{key}/search?q=sunset", headers=PICTURE).status_code in (401, 403)
        assert client.get("/api/books", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_a_page_opened_by_itself_has_no_key(people: UserServer) -> None:
    """A browser that opens an address with a key, valid or not, is led to the one without, and so to the sign-in."""
    address = frame_of(people, "rita")
    key = address.split("~")[1].split("/")[0]
    with http_client(people.address) as client:
        for asked in (address, address.replace(key, "0" * 32)):
            led = client.get(f"{asked}?mark=1-2", headers=PAGE)
            assert (led.status_code, led.headers["location"]) == (303, address.replace(f"~{key}", "") + "?mark=1-2")
        assert client.get(led.headers["location"], headers=PAGE).headers["location"].startswith("/login")


def test_a_key_ends_with_the_sign_in_of_its_user(people: UserServer) -> None:
    """A user who is removed leaves no key behind."""
    people.register.add("guest", "reader")
    token = people.register.new_token("guest")
    with people.browser("rita") as browser:
        browser.cookies.clear()
        browser.post("/login", data={"token": token.text})
        address = framed(people, browser, PAGE)
    with http_client(people.address) as client:
        assert client.get(address, headers=PICTURE).status_code == 200
        people.register.remove("guest")
        assert client.get(address, headers=PICTURE).status_code == 401


def test_a_browser_that_does_not_say_what_is_a_frame_runs_no_scripts(people: UserServer) -> None:
    """Without Sec-Fetch-Dest, as over plain HTTP from another machine, the frame has no key and no scripts."""
    with people.browser("rita") as browser:
        frame = framed(people, browser, {})
        assert "~" not in frame
        assert "allow-scripts" not in browser.get(frame).headers["content-security-policy"]


def test_answers_give_addresses_without_a_key(people: UserServer) -> None:
    """A link in an answer can be given to others, and lets in only those who may read here."""
    with people.client("rita") as client:
        url = client.get("/api/search?q=sunset").json()["hits"][0]["url"]
    assert "~" not in url
    with people.client() as client, people.browser("remy") as browser:
        assert client.get(url).status_code == 401
        assert browser.get(url).status_code == 200


def test_a_page_does_not_use_up_the_requests_of_its_reader(tmp_path: Path) -> None:
    """What scripts of a book load is counted apart from what the user asks for."""
    settings = {"KIWIRESEARCH_SERVE_SCRIPTS": "true", "KIWIRESEARCH_LIMITS_READER_REQUESTS_A_MINUTE": "3"}
    with user_server(tmp_path, **settings) as people:
        address = frame_of(people, "rita")
        with people.client("rita") as rita, http_client(people.address) as client:
            assert [client.get(address, headers=PICTURE).status_code for _ in range(4)] == [200, 200, 200, 429]
            assert rita.get("/api/books").status_code == 200


def test_a_key_ends_after_some_hours() -> None:
    """A key is the same for hours, so that browsers can cache files, and then ends."""
    scope = {"type": "http", "headers": [], "client": ("192.0.2.7", 1)}
    now = ["2026-11-19T00:00:00+00:00"]
    keys = ReadingKeys(b"secret", lambda: now[0])
    CURRENT_VISITOR.set(Visitor())
    key = keys.key_for("book", Request(scope))
    now[0] = "2026-11-19T11:59:59+00:00"
    assert keys.key_for("book", Request(scope)) == key
    assert keys.credential_of("book", key, scope) is not None
    assert keys.credential_of("other", key, scope) is None
    assert keys.credential_of("book", key, scope | {"client": ("192.0.2.8", 1)}) is None
    now[0] = "2026-11-20T00:00:00+00:00"
    assert PERIOD_S == 12 * 3_600
    assert keys.credential_of("book", key, scope) is None
