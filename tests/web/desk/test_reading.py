"""The reading view: any page of any book, with its contents, its claims and its place in a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

import httpx2
import pytest
from tests.web.desk.conftest import ARun
from tests.web.servers import browser_client, running_server, server_context

from kiwiresearch.claims.page_claims import claims_of_page
from kiwiresearch.page.parser import open_page
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.page_view import CLAIMS_PER_PAGE, ClaimSelection, PageQuery, claim_list
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, plain_png, write_book

SUBJECT = "Late_Bronze_Age_collapse"


@pytest.fixture(scope="module")
def book(context: ServerContext) -> str:
    """The id of the sample book."""
    return str(context.shelf.books[0].id)


def article_of(page: str) -> str:
    """The markup of the article on a page."""
    return page.partition('<div class="article">')[2].partition("</article>")[0]


def places_of(page: str) -> list[str]:
    """The places on the same page to which contents and claims lead."""
    beside = page.replace(article_of(page), "")
    return [unquote(unescape(place)) for place in re.findall(r'<a href="#((?:at-|kiwi-)[^"]+)"', beside)]


def test_the_article_is_the_page(browser: httpx2.Client, book: str) -> None:
    """The text of an article is part of our page, below its title, without a frame and with the title only once."""
    answer = browser.get(f"/page/{book}/{SUBJECT}")
    page = answer.text
    assert page.count("<h1") == 1
    assert "Late Bronze Age collapse</h1>" in page
    assert "<iframe" not in page
    assert "frame-src 'none'" in answer.headers["content-security-policy"]
    assert "<h2" in article_of(page)
    assert 'href="/research?topic=Late+Bronze+Age+collapse"' in page
    assert f'href="/ask?page={SUBJECT}&amp;book={book}"' in page


def test_links_move_the_whole_page(browser: httpx2.Client, book: str, a_run: ARun) -> None:
    """A link in the article leads to the page of its target at the desk, and stays within the run."""
    for query in ("", f"?run={a_run.id}"):
        address = httpx2.URL(f"/page/{book}/{SUBJECT}{query}")
        links = [unescape(url) for url in re.findall(r'<a href="([^"#]+)"', article_of(browser.get(address).text))]
        inside = [url for url in links if not url.startswith("http")]
        assert inside
        assert all(url.endswith(query) for url in inside)
        reached = browser.get(str(browser.base_url.join(str(address)).join(inside[0])), follow_redirects=True)
        assert (reached.status_code, reached.url.path.startswith(f"/page/{book}/")) == (200, True)
        assert bool(query) == ("run=" in str(reached.url))


def test_the_menu_says_where_a_page_was_opened(browser: httpx2.Client, book: str, a_run: ARun) -> None:
    """A page of research belongs to Research; one that was found by searching belongs to no entry."""
    for query, places in (("", []), (f"?run={a_run.id}", ["/research"])):
        menu = (
            browser.get(f"/page/{book}/{SUBJECT}{query}")
            .text.partition('<nav class="places"')[2]
            .partition("</nav>")[0]
        )
        assert re.findall(r'<a href="([^"]+)" aria-current', menu) == places


def test_the_original_layout_is_one_click_away(browser: httpx2.Client, book: str) -> None:
    """The page of the book itself, with its own styles, is shown shut off, and leads back."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"mark": "40-90"}).text
    (original,) = re.findall(r'<a class="button plain" href="([^"]+)">View original layout</a>', page)
    shown = browser.get(unescape(original))
    assert original.endswith("?mark=40-90#mark")
    assert "sandbox" in shown.headers["content-security-policy"]
    assert f'<a href="/page/{book}/{SUBJECT}" target="_top">' in shown.text


def test_paper_says_where_the_text_is_from(browser: httpx2.Client, book: str) -> None:
    """On paper the article has its title and its book with its date; no address that only this computer can open."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"claims": "true"}).text
    assert "reading-address" not in page
    assert '<p class="small quiet">' in page.partition('<header class="reading-head">')[2]


@pytest.mark.parametrize("query", ["", "?claims=true"])
def test_contents_and_claims_lead_to_places_in_the_article(browser: httpx2.Client, book: str, query: str) -> None:
    """Every place that contents and marked claims lead to is there; other claims lead to their words, marked."""
    page = browser.get(f"/page/{book}/{SUBJECT}{query}").text
    places = places_of(page)
    assert len(places) > (40 if query else 5)
    article = article_of(page)
    for place in places:
        assert f'id="{escape(place)}"' in article, place
    if not query:
        claim = re.findall(r'<a href="(/page/[^"]+#mark)"', page)[3]
        led = browser.get(unescape(claim))
        assert '<mark id="mark" class="kiwi-mark">' in article_of(led.text)
        assert re.search(r'<details id="beside" class="reading-drawer" open>', led.text)
        assert len(re.findall(r'#mark" aria-current="true"', led.text)) >= 1


def test_the_claims_of_a_page_are_marked_in_its_text(browser: httpx2.Client, context: ServerContext, book: str) -> None:
    """Each claim has an anchor where its words start, and no mark is inside another."""
    with context.locked_finder() as finder:
        page = open_page(finder.books[0].archive, SUBJECT)
    text = browser.get(f"/read/{book}/{SUBJECT}", params={"claims": "true", "mark": "40-90"}).text
    numbers = [int(number) for number in re.findall(r'<span id="kiwi-claim-(\d+)" class="kiwi-claim"></span>', text)]
    assert sorted(numbers) == list(range(1, len(claims_of_page(page).claims) + 1))
    assert text.count('<mark id="mark" class="kiwi-mark">') == 1
    depth = 0
    for tag in re.findall(r"<(/?)mark\b", text):
        depth += -1 if tag else 1
        assert depth in (0, 1)
    marked = "".join(re.findall(r"<mark[^>]*>([^<]*)</mark>", text))
    assert len(marked) > len(page.text) / 3


def test_a_citation_opens_at_its_words(browser: httpx2.Client, book: str) -> None:
    """The words of the address are marked, the first with the anchor of citations; a section is led to."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"mark": ["40-90", "100-120"]}).text
    assert re.findall(r'<mark id="(mark[^"]*)"', article_of(page)) == ["mark", "mark-2"]
    heading = browser.get(f"/page/{book}/{SUBJECT}", params={"section": "syria, cyprus and canaan", "run": "x"})
    path, _, anchor = heading.headers["location"].partition("#")
    assert (heading.status_code, path) == (302, f"/page/{book}/{SUBJECT}?run=x")
    assert f'id="{unquote(anchor)}"' in article_of(browser.get(path).text)
    none = browser.get(f"/page/{book}/{SUBJECT}", params={"section": "Cooking <b>"})
    assert (none.status_code, "no section named “Cooking &lt;b&gt;”" in none.text) == (200, True)


def test_missing_words_are_reported(browser: httpx2.Client, book: str) -> None:
    """Offsets beyond the text mark nothing, and the page says so."""
    for mark in ("9000000-9000010", "9-4"):
        page = browser.get(f"/page/{book}/{SUBJECT}", params={"mark": mark}).text
        assert "<mark" not in article_of(page)
        assert "The quoted text could not be highlighted" in page


def test_the_text_size_is_remembered(browser: httpx2.Client, book: str) -> None:
    """A form sets it, also without script; a size that there is not changes nothing."""
    place = f"/page/{book}/{SUBJECT}"
    assert 'class="reading size-normal"' in browser.get(place).text
    chosen = browser.post("/text-size", data={"size": "large", "back": place})
    assert (chosen.status_code, chosen.headers["location"]) == (303, place)
    cookie = chosen.headers["set-cookie"].partition(";")[0]
    assert 'class="reading size-large"' in browser.get(place, headers={"Cookie": cookie}).text
    other = browser.post("/text-size", data={"size": "<b>", "back": "//evil.example/"})
    assert ("set-cookie" in other.headers, other.headers["location"]) == (False, "/")
    browser.cookies.clear()


def test_claims_can_be_read_by_type(browser: httpx2.Client, book: str) -> None:
    """A type leaves only its claims, each numbered as the list goes; the switch for marks keeps the type."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"type": "timeline"}).text
    tags = re.findall(r'<span class="tag">([^<]+)</span>', page)
    assert set(tags) - {"hedged"} == {"date"}
    assert "?type=timeline&amp;claims=true" in page
    assert browser.get(f"/page/{book}/{SUBJECT}", params={"type": "nonsense"}).status_code == 422


def test_many_claims_come_some_at_a_time(context: ServerContext) -> None:
    """No claim is left out and none comes twice, from the first part of the list to the last."""
    with context.locked_finder() as finder:
        pages = [open_page(finder.books[0].archive, path) for path in ("Albert_Einstein", "John_Adams", SUBJECT)]
    claims = [claim for page in pages for claim in claims_of_page(page).claims]
    seen, start = [], 0
    while True:
        part = claim_list(claims, ClaimSelection(start=start), "/read/x", are_marked=False)
        seen += [line.claim for line in part.lines]
        if part.later is None:
            break
        start = part.later
    assert seen == claims
    assert len(claims) > CLAIMS_PER_PAGE
    assert part.earlier == start - CLAIMS_PER_PAGE


def test_a_part_of_the_list_that_is_not_there_is_the_last(context: ServerContext) -> None:
    """Whatever number is in the address, claims are shown, with a link to those before them."""
    with context.locked_finder() as finder:
        claims = claims_of_page(open_page(finder.books[0].archive, SUBJECT)).claims
    part = claim_list(claims, ClaimSelection(start=50_000), "/read/x", are_marked=False)
    assert (part.last, part.later) == (len(claims), None)
    assert part.lines
    none = claim_list((), ClaimSelection(start=50_000), "/read/x", are_marked=False)
    assert (none.earlier, none.later, none.lines) == (None, None, ())


def test_a_person_has_a_way_to_the_family(browser: httpx2.Client, book: str) -> None:
    """The page of a person offers their family, and no other page does."""
    assert 'href="/family?name=Abigail+Adams"' in browser.get(f"/page/{book}/Abigail_Adams").text
    assert 'href="/family?' not in browser.get(f"/page/{book}/Bronze").text


def test_a_page_of_a_run_shows_its_place_in_it(browser: httpx2.Client, a_run: ARun, book: str) -> None:
    """Within a run a page says why it was chosen, which pages link to it, and which of its claims the run has."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"run": a_run.id}).text
    assert "Why this page was chosen" in page
    assert "Pages read for this brief that link here" in page
    back = re.findall(rf'<a href="(/page/{book}/[^"]+\?run={a_run.id})"', page)
    assert back
    assert all(browser.get(unescape(url)).status_code == 200 for url in back[:2])
    claims = re.findall(rf'<a href="(/runs/{a_run.id}/claims/[^"]+)"', page)
    assert len(claims) > 20
    assert browser.get(unescape(claims[0])).status_code == 200
    assert page.index(f'action="/runs/{a_run.id}/notes"') < page.index('id="claims"'), "below a long list nobody looks"


def test_a_page_that_a_run_did_not_take_says_so(browser: httpx2.Client, a_run: ARun, book: str) -> None:
    """A page can be read within a run that has nothing of it."""
    page = browser.get(f"/page/{book}/Freddie_Mercury", params={"run": a_run.id})
    assert (page.status_code, "This page was not read for this brief." in page.text) == (200, True)


def test_a_run_that_is_gone_does_not_hide_the_page(browser: httpx2.Client, book: str) -> None:
    """An address with a run that is not here shows the page, and says what is missing."""
    page = browser.get(f"/page/{book}/Bronze", params={"run": "<gone>"})
    assert (page.status_code, "The brief “&lt;gone&gt;” cannot be shown." in page.text) == (200, True)
    assert "<p>" in article_of(page.text)


def test_a_page_that_is_not_there_offers_those_that_are(browser: httpx2.Client, book: str) -> None:
    """A slip of the finger leads to pages with a title like it, and to a search for the words."""
    page = browser.get(f"/page/{book}/Bronse_Age")
    near = re.findall(rf'<li><a href="(/page/{book}/[^"]+)">', page.text)
    assert (page.status_code, bool(near)) == (404, True)
    assert f"/page/{book}/Bronze_Age" in near
    assert 'name="q" value="Bronse Age"' in page.text
    assert browser.get(f"/page/{book}/<script>x").status_code == 404


@pytest.mark.parametrize("path", ["..%2f..%2fetc%2fpasswd", "%00", "%ff", "a/" * 500, "%ED%A0%80"])
def test_an_address_that_cannot_be_a_page_is_not_found(browser: httpx2.Client, book: str, path: str) -> None:
    """Whatever is in the address, the answer is that there is no such page."""
    assert browser.get(f"/page/{book}/{path}").status_code == 404


def test_an_unknown_book_links_to_the_library(browser: httpx2.Client, book: str) -> None:
    """The error for an unknown book links to those that are on the shelf."""
    page = browser.get("/page/nobody/x")
    assert (page.status_code, f'<a href="/page/{book}/">' in page.text) == (404, True)


def test_a_view_keeps_what_it_was_asked_for() -> None:
    """Links to the same view with something changed keep the rest."""
    asked = PageQuery("r & d", ("1-2", "3-4"), "", ClaimSelection("causal", 60), with_claims=True)
    assert asked.query(with_claims=False) == "?run=r+%26+d&type=causal&mark=1-2&mark=3-4"
    assert asked.query(with_claims=True, type=None, start=120) == "?run=r+%26+d&start=120&mark=1-2&mark=3-4&claims=true"


HEBREW = """<!doctype html><html lang="he" dir="rtl"><body><h1>ירושלים</h1><p>ירושלים היא עיר. <a href="https://example.org/">חוץ</a></p>
<h2>היסטוריה</h2><p>בשנת 70 חרב בית המקדש.</p></body></html>"""


@pytest.fixture(scope="module")
def hebrew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A browser at a server with a small book that is written from right to left."""
    file = tmp_path_factory.mktemp("hebrew") / "he.zim"
    pages = [
        NewPage("Main", "ירושלים", HEBREW.encode()),
        NewPage("I/x.png", "x", plain_png(8), mimetype="image/png", is_article=False),
        NewPage("notes.txt", "notes", b"One line.\nTwo.", mimetype="text/plain", is_article=False),
        NewPage("Leads", "Leads", b'<head><meta http-equiv="refresh" content="0;URL=\'./Main#x\'"></head>'),
    ]
    metadata = {"Name": "he_test", "Title": "ספר", "Language": "heb", "Date": "2026-01-01"}
    write_book(file, pages, [NewRedirect("Old", "Old", "Main")], metadata=metadata, main_path="Main", index=False)
    with (
        server_context(file.parent / "home", str(file)) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
    ):
        yield browser


def test_books_from_right_to_left_are_shown_so(hebrew: httpx2.Client) -> None:
    """Title and contents say their language and direction, and so does what the page claims."""
    page = hebrew.get("/page/he_test/Main", follow_redirects=True).text
    assert '<h1 lang="he" dir="rtl">ירושלים</h1>' in page
    assert '<ol class="reading-contents small" lang="he" dir="rtl">' in page
    assert '<article lang="he" dir="rtl">' in page
    assert '<html lang="en" dir="ltr">' in page


def test_contents_start_below_the_title(hebrew: httpx2.Client) -> None:
    """A heading that only repeats the title is left out, and those below it move up."""
    page = hebrew.get("/page/he_test/Main", follow_redirects=True).text
    contents = page.partition("reading-contents")[2].partition("</ol>")[0]
    assert re.findall(r'<li class="depth-(\d)"><a[^>]+>([^<]+)</a>', contents) == [("0", "היסטוריה")]


def test_a_language_with_few_claims_is_explained(hebrew: httpx2.Client, browser: httpx2.Client, book: str) -> None:
    """If only the first sentence is read for claims, the page says so, so that a short list does not seem complete."""
    result = "claims are taken only from the first sentence of a page"
    assert result in hebrew.get("/page/he_test/Main", follow_redirects=True).text
    assert result not in browser.get(f"/page/{book}/{SUBJECT}").text


def test_nothing_is_offered_beside_a_page_without_claims(tmp_path: Path) -> None:
    """An empty list of claims is of no use, so neither it nor the links that lead to it are there."""
    pages = [NewPage("Main", "Main", b"<h1>Main</h1><ul><li>Index</li></ul>")]
    metadata = {"Name": "en_test", "Title": "Book", "Language": "eng", "Date": "2026-01-01"}
    write_book(tmp_path / "en.zim", pages, (), metadata=metadata, main_path="Main", index=False)
    with (
        server_context(tmp_path / "home", str(tmp_path / "en.zim")) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
    ):
        page = browser.get("/page/en_test/Main", follow_redirects=True)
    assert page.status_code == 200
    assert "beside" not in page.text


def test_the_keyboard_need_not_go_through_the_page(browser: httpx2.Client, book: str) -> None:
    """Right before the article a link leads past all that is in it."""
    page = browser.get(f"/page/{book}/{SUBJECT}").text
    target = re.search(r'<a class="skip" href="#([^"]+)">[^<]+</a>\n<article', page)
    assert target
    assert f' id="{target[1]}"' in page.partition("</article>")[2]


@pytest.mark.parametrize(
    ("asked", "leads"),
    [
        ("", "Main"),
        ("Main?run=x&mark=0-4", "Main?run=x&mark=0-4"),
        ("Old?claims=true", "Main?claims=true"),
        ("Leads?mark=0-4", "Main?mark=0-4&section=x"),
    ],
)
def test_a_page_has_one_address(hebrew: httpx2.Client, asked: str, leads: str) -> None:
    """The book's name, its first page and redirects of both kinds lead to one address, with all that was asked for."""
    answer = hebrew.get(f"/page/he_test/{asked}")
    assert answer.status_code == 302
    assert re.fullmatch(rf"/page/[0-9a-f-]{{36}}/{re.escape(leads)}", answer.headers["location"])


def test_a_file_of_a_book_is_opened_alone(hebrew: httpx2.Client) -> None:
    """A picture is linked to as a file; a plain text is a page."""
    picture = hebrew.get("/page/he_test/I/x.png")
    assert (picture.status_code, "/I/x.png" in picture.headers["location"]) == (303, True)
    assert hebrew.get(picture.headers["location"], follow_redirects=True).headers["content-type"] == "image/png"
    text = hebrew.get("/page/he_test/notes.txt", follow_redirects=True).text
    assert "<pre>One line.\nTwo.</pre>" in article_of(text)


@pytest.mark.parametrize(("name", "headers"), [(".framed", {}), ("", {"Sec-Fetch-Dest": "iframe"})])
def test_links_in_a_frame_leave_it_where_needed(hebrew: httpx2.Client, name: str, headers: dict[str, str]) -> None:
    """In a frame the line at the top links to this page outside it, and not to pages that no frame may show."""
    book = hebrew.get("/page/he_test/").headers["location"].split("/")[2]
    framed, alone = hebrew.get(f"/read/{book}{name}/Main", headers=headers), hebrew.get(f"/read/{book}/Main")
    assert f'<a href="/page/{book}/Main" target="_top">' in framed.text
    assert 'href="/"' not in framed.text
    assert 'rel="noopener noreferrer nofollow" target="_blank"' in framed.text
    assert "allow-top-navigation-by-user-activation" in framed.headers["content-security-policy"]
    assert 'target="_blank"' not in alone.text
    assert alone.headers["content-security-policy"].startswith("sandbox allow-downloads allow-same-origin; ")
    for answer in (framed, alone):
        assert "allow-scripts" not in answer.headers["content-security-policy"]
        assert "script-src" not in answer.headers["content-security-policy"]


def test_links_in_a_frame_stay_framed(hebrew: httpx2.Client) -> None:
    """What leads from page to page in a frame keeps the word in the address that says so, also over redirects."""
    book = hebrew.get("/page/he_test/").headers["location"].split("/")[2]
    for path in ("", "Old", "Leads", "/Main"):
        location = hebrew.get(f"/read/{book}.framed/{path}").headers["location"]
        assert location.startswith(f"/read/{book}.framed/Main")
    assert hebrew.get("/read/he_test.framed/Main").headers["location"] == f"/read/{book}.framed/Main"
    assert f'<a href="/read/{book}.framed/">' in hebrew.get(f"/read/{book}.framed/Main").text
