"""The desk against those who mean it ill: other sites, and books and readers that write markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from tests.web.desk.app_routes import Address, addresses_of, look_at
from tests.web.desk.conftest import ARun, finished
from tests.web.guarded_server import TOKEN, room_with
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.identity import PUBLIC_PATHS
from kiwiresearch.web.guard.requests import FORM, MULTIPART, UPLOAD
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.zim.book_writer import NewPage, write_book

FROM_ELSEWHERE = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Referer": "http://evil.example/"},
    {},
]
EVIL = """<evil-tag onclick="alert(1)">"'><script>alert(1)</script>"""


@pytest.fixture(scope="session")
def walked(context: ServerContext) -> list[Address]:
    """Every address of the desk, those of a server with a token too."""
    found = addresses_of(make_app(room_with(context, ServeSettings(token=TOKEN))))
    assert len(found) > 40
    return found


@pytest.fixture(scope="session")
def values(a_run: ARun) -> dict[str, str]:
    """Fields of addresses, with values that lead somewhere where there is something."""
    claims = a_run.client.get(f"/api/runs/{a_run.id}/claims", params={"limit": 1}).json()["claims"]
    book = str(a_run.context.shelf.books[0].id)
    return {"run": a_run.id, "run_id": a_run.id, "job": a_run.id, "job_id": a_run.id, "book": book, "path": "Bronze",
            "claim": claims[0]["claim_id"], "claim_id": claims[0]["claim_id"], "name": "css/base.css"}  # fmt: skip


def test_no_form_is_taken_from_elsewhere(walked: list[Address], values: dict[str, str], server: str) -> None:
    """Every form of the desk is refused unless a page of this server sent it, before anything is read or done."""
    forms = [one for one in walked if one.method not in ("GET", "HEAD")]
    assert len(forms) > 10
    with http_client(server) as client:
        for one in forms:
            path = one.filled(values)
            kind = MULTIPART + "; boundary=x" if UPLOAD.fullmatch(path) else FORM
            for headers in FROM_ELSEWHERE:
                answer = client.request(one.method, path, headers=headers | {"Content-Type": kind}, content=b"a=b")
                assert answer.status_code == 403, f"{one} with {headers}"


def test_no_page_is_put_into_another_site(walked: list[Address], values: dict[str, str], server: str) -> None:
    """No page of the desk or of a book is given to a frame, a picture or a script of another site; no CORS."""
    cross = {"Sec-Fetch-Site": "cross-site"}
    with http_client(server) as client:
        for one in walked:
            path = one.filled(values)
            if one.method != "GET":
                continue
            for mode, dest in (("navigate", "iframe"), ("no-cors", "image"), ("no-cors", "script"), ("cors", "empty")):
                answer = client.get(path, headers=cross | {"Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest})
                assert answer.status_code == 403, f"{one} as {dest}"
                assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_every_page_carries_its_headers(walked: list[Address], values: dict[str, str], browser: httpx2.Client) -> None:
    """Whatever a page answers, it may not be framed by others, guesses no types, and runs nothing but our files."""
    seen = 0
    for one in walked:
        if one.method != "GET":
            continue
        answer = browser.get(one.filled(values), params={"q": "Bronze Age", "old": values["run"], "new": values["run"]})
        assert answer.status_code < 500, f"{one}: {answer.text[:300]}"
        is_read = one.path.startswith("/read/")
        policy = answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == ("SAMEORIGIN" if is_read else "DENY"), one
        assert f"frame-ancestors {chr(39)}{'self' if is_read else 'none'}{chr(39)}" in policy, one
        assert "default-src 'none'" in policy, one
        assert "script-src 'self' 'unsafe" not in policy, one
        assert answer.headers["x-content-type-options"] == "nosniff", one
        assert answer.headers["referrer-policy"] in ("same-origin", "no-referrer"), one
        assert answer.headers["cross-origin-resource-policy"] == "same-origin", one
        if not is_read and answer.headers.get("content-type", "").startswith("text/html"):
            seen += 1
            assert answer.headers["cache-control"] == "no-store", one
            if "sandbox" not in policy:  # what a run wrote as a whole page is shut off, and styles itself
                assert "unsafe-inline" not in policy, one
                assert look_at(answer.text).forbidden == [], one
    assert seen > 15


def test_nothing_is_shown_without_the_token(
    walked: list[Address], values: dict[str, str], context: ServerContext
) -> None:
    """A server with a token shows nobody else a page: a browser is led to the form, everything else is refused."""
    locked = room_with(context, ServeSettings(token=TOKEN, requests_a_minute=100_000))
    with (
        running_server(locked, make_app) as address,
        http_client(address) as client,
        browser_client(address) as browser,
    ):
        for path in {one.filled(values) for one in walked}:
            if path in PUBLIC_PATHS or path.startswith("/static/"):
                continue
            assert client.get(path).status_code == 401, path
            led = browser.get(path)
            assert (led.status_code, led.headers["location"].startswith("/login?next=")) == (303, True), path


def _hostile_pages() -> Iterator[NewPage]:
    """Pages whose titles, headings and sentences are full of markup, linked to one another."""
    written, tag = escape(EVIL), "&lt;evil-tag onclick=alert(1)&gt;"
    names = [f"Kraken {number}" for number in range(4)]
    for number, name in enumerate(names):
        others = " ".join(f'<a href="{quote(other)}">{other} {written}</a>' for other in names if other != name)
        text = (
            f"<h1>{name}</h1><p>The {name} is a sea monster called {tag} that lives near Norway. {others}. "
            f"The {name} is {number + 2} metres long and larger than the {tag} whale. {written} is from 1{number}80. "
            f"The loss of {number + 3}0 ships in 17{number}0 was caused by the {name} of the {tag} sea.</p>"
            f"<h2>History {written}</h2><p>In 18{number}5 the {name} was seen near {tag} by sailors {written}. "
            f"Some scholars may doubt that the {name} weighs {number + 1}00 tonnes with {tag}.</p>"
        )
        yield NewPage(name, f"{name} {EVIL}", f"<html><body>{text}</body></html>".encode())


RAW = f"""<html><head><base href="https://evil.example/"><meta http-equiv="refresh" content="9; url=https://evil.example/">
<style>.top {{ display: none }}</style><script>alert(1)</script></head><body onload="alert(1)" class="top" id="main">
<p>A lantern is a lamp with a case.</p>{EVIL}<p style="position:fixed" id="beside" class="kiwi-mark">over</p>
<form action="/logout" method="post"><button>x</button></form><iframe srcdoc="<script>alert(1)</script>"></iframe>
<a href="javascript:alert(1)">x</a><svg onload="alert(1)"><style>*{{}}</style></svg><object data="x"></object>
<ul><li><div><form><li>a</li></form></div></li></ul></div></article></main><embed src="x"></body></html>"""
"""A page that is markup itself, as a book may hold it."""


OUR_ICON = re.compile(
    r'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="[^"]+"/></svg>'
)
"""A picture of the page around the article, letter by letter as it is written there."""


def test_an_article_brings_no_markup_of_its_own(hostile: tuple[httpx2.Client, str, str]) -> None:
    """The words of a page are there; its tags, names and classes are not, and ours are where they were."""
    browser, book, _ = hostile
    for query in ("", "?claims=true&mark=0-10"):
        page = browser.get(f"/page/{book}/Lantern{query}").text
        made = look_at(OUR_ICON.sub("", page))
        assert "is a lamp with a case" in re.sub(r"<[^>]+>", "", page)
        assert made.forbidden == []
        assert not {"evil-tag", "iframe", "svg", "object", "embed"} & made.elements
        assert "evil.example" not in page
        article, _, after = page.partition('<div class="article">')[2].partition("</article>")
        assert not re.search(r"<(?:form|button|input|main|h1)\b|kiwi-mark\" id|\b(?:style|onclick)=", article)
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert after.count("</main>") == page.count("<main") == 1


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, str, str]]:
    """A browser at a server with a book of markup, its id, and a run on it with notes that are markup too."""
    folder: Path = tmp_path_factory.mktemp("markup")
    metadata = {"Name": "evil_en", "Title": f"Evil {EVIL}", "Language": "eng", "Date": "2026-01-01",
                "Description": EVIL, "Creator": EVIL}  # fmt: skip
    pages = [*_hostile_pages(), NewPage("Lantern", "Lantern", RAW.encode())]
    write_book(folder / "evil.zim", pages, [], metadata=metadata, main_path="Kraken 0")
    with (
        server_context(folder / "home", str(folder / "evil.zim"), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
        browser_client(address) as browser,
    ):
        run = finished(client, topic=f"Kraken {EVIL}", focus=EVIL, aspect=EVIL, max_pages=4)
        note = {"kind": "run", "target": "", "verdict": "correct", "reason": EVIL, "correction": EVIL, "back": "/"}
        assert browser.post(f"/runs/{run}/notes", data=note).status_code == 303
        yield browser, str(context.shelf.books[0].id), run


PAGES = (
    "/", "/ask", "/find", "/research", "/compare", "/family", "/go",
    "/runs/{run}", "/runs/{run}/claims", "/runs/{run}/timeline", "/runs/{run}/numbers", "/runs/{run}/graph",
    "/runs/{run}/pages", "/runs/{run}/notes", "/runs/{run}/export", "/research/{run}",
    "/page/{book}/Kraken%200", "/page/{book}/Kraken%200?claims=true", "/page/{book}/{evil}", "/page/{evil}/x",
    "/runs/{evil}", "/runs/{evil}/claims", "/runs/{run}/claims/{evil}", "/family/{evil}", "/{evil}",
    "/read/{book}/{evil}",
)  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_markup_is_shown_as_text(hostile: tuple[httpx2.Client, str, str], path: str) -> None:
    """Topics, titles, notes, quotes and addresses with markup are shown as text."""
    browser, book, run = hostile
    asked = dict.fromkeys(("q", "topic", "focus", "aspect", "name", "section", "verdict", "type", "page", "next"), EVIL)
    asked |= {"run": run, "old": run, "new": run}
    address = path.format(book=book, run=run, evil=quote(EVIL, safe=""))
    for params in ({}, asked, {"q": f"Kraken {EVIL}", "run": run}):
        answer = browser.get(httpx2.URL(address).copy_merge_params(params), follow_redirects=True)
        assert answer.status_code < 500, answer.text[:500]
        made = look_at(answer.text)
        assert "evil-tag" not in made.elements, f"{address} {params}"
        assert made.forbidden == [], f"{address} {params}"


def test_a_claim_of_markup_is_shown_as_text(hostile: tuple[httpx2.Client, str, str]) -> None:
    """So is a claim on its own page, whose words come from the book, and the page that it was taken from."""
    browser, _, run = hostile
    claims = browser.get(f"/api/runs/{run}/claims").json()["claims"]
    assert [claim for claim in claims if "<evil-tag" in claim["claim"]]
    for claim in claims[:6]:
        page = browser.get(f"/runs/{run}/claims/{claim['claim_id']}")
        assert page.status_code == 200
        assert "evil-tag" not in look_at(page.text).elements
        assert look_at(page.text).forbidden == []
    read = browser.get(f"/page/{claims[0]['book']}/{quote(claims[0]['path'])}", params={"run": run, "claims": "true"})
    assert re.search(r"<h1[^>]*>Kraken \d &lt;evil-tag", read.text)
    assert "evil-tag" not in look_at(read.text).elements
