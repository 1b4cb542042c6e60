"""The reading view: any page of any book, with its contents, its claims and its place in a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from urllib.parse import unquote

import httpx2
import pytest
from tests.web.desk.conftest import ARun
from tests.web.running import a_browser, a_room, running

from kiwiresearch.claims.page_claims import claims_of_page
from kiwiresearch.page.parser import open_page
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.page_view import CLAIMS_PER_PAGE, ClaimSelection, PageQuery, claim_list
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, plain_png, write_book

SUBJECT = "Late_Bronze_Age_collapse"


@pytest.fixture(scope="module")
def book(room: ServerContext) -> str:
    """The id of the sample book."""
    return str(room.shelf.books[0].id)


def frame_of(page: str) -> str:
    """What the frame of a page shows first."""
    found = re.search(r'<iframe name="page" title="[^"]+" src="([^"]+)"', page)
    assert found, "no frame"
    return unescape(found[1])


def into_frame(page: str) -> list[str]:
    """Where the links lead that change what the frame shows."""
    return [unescape(url) for url in re.findall(r'<a href="([^"]+)" target="page"', page)]


def test_a_page_is_read_in_a_frame_beside_its_contents(browser: httpx2.Client, book: str) -> None:
    """The page stands in a frame with a title of its own, below what it is called and the book and its date."""
    page = browser.get(f"/page/{book}/{SUBJECT}").text
    assert "<h1" in page
    assert "Late Bronze Age collapse</h1>" in page
    shown = browser.get(frame_of(page))
    assert (shown.status_code, "kiwi-bar" in shown.text) == (200, True)
    assert 'href="/research?topic=Late+Bronze+Age+collapse"' in page
    assert f'href="/ask?page={SUBJECT}&amp;book={book}"' in page


def test_paper_says_where_the_text_is_printed(browser: httpx2.Client, book: str) -> None:
    """The frame is not printed; the button that it names leads to the page of the book itself."""
    page = browser.get(f"/page/{book}/{SUBJECT}").text
    (told,) = re.findall(r'<p class="note reading-paper">([^<]+)</p>', page)
    assert "“Open alone or print”" in told
    (alone,) = re.findall(r'<a class="button plain" href="([^"]+)">Open alone or print</a>', page)
    assert "<h1" in browser.get(unescape(alone)).text


@pytest.mark.parametrize("query", ["", "?claims=true"])
def test_contents_and_claims_lead_to_places_in_the_frame(browser: httpx2.Client, book: str, query: str) -> None:
    """Every link beside the frame opens its page at a place that is there; with claims marked, without loading it."""
    page = browser.get(f"/page/{book}/{SUBJECT}{query}").text
    links = into_frame(page)
    assert len(links) > 40
    first = frame_of(page).partition("#")[0]
    texts: dict[str, str] = {}
    for url in links[1:]:
        place, _, anchor = url.partition("#")
        if place not in texts:
            texts[place] = browser.get(place).text
        assert f'id="{escape(unquote(anchor))}"' in texts[place], url
        assert not query or place == first


def test_the_claims_of_a_page_are_marked_in_its_text(browser: httpx2.Client, room: ServerContext, book: str) -> None:
    """Each claim has an anchor where its words begin, and no mark stands in another."""
    with room.locked_finder() as finder:
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
    """Marks of the address are those of the frame, which opens at the first; a section is opened at its heading."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"mark": ["40-90", "100-120"]}).text
    assert frame_of(page).endswith(f"/read/{book}.framed/{SUBJECT}?mark=40-90&mark=100-120#mark")
    heading = browser.get(f"/page/{book}/{SUBJECT}", params={"section": "syria, cyprus and canaan"}).text
    anchor = unquote(frame_of(heading).partition("#")[2])
    assert f'id="{anchor}"' in browser.get(frame_of(heading)).text
    none = browser.get(f"/page/{book}/{SUBJECT}", params={"section": "Cooking <b>"})
    assert (none.status_code, "no section “Cooking &lt;b&gt;”" in none.text) == (200, True)


def test_claims_can_be_read_by_type(browser: httpx2.Client, book: str) -> None:
    """A type leaves only its claims, each numbered as the list goes; the switch for marks keeps the type."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"type": "timeline"}).text
    tags = re.findall(r'<span class="tag">([^<]+)</span>', page)
    assert set(tags) == {"date"}
    assert "?type=timeline&amp;claims=true" in page
    assert browser.get(f"/page/{book}/{SUBJECT}", params={"type": "nonsense"}).status_code == 422


def test_many_claims_come_some_at_a_time(room: ServerContext) -> None:
    """No claim is left out and none comes twice, from the first part of the list to the last."""
    with room.locked_finder() as finder:
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


def test_a_part_of_the_list_that_is_not_there_is_the_last(room: ServerContext) -> None:
    """Whatever number the address holds, claims are shown, and the way leads back to those before them."""
    with room.locked_finder() as finder:
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


def test_a_page_of_a_run_tells_its_place_in_it(browser: httpx2.Client, a_run: ARun, book: str) -> None:
    """Within a run a page says why it was chosen, which pages link to it, and which of its claims the run has."""
    page = browser.get(f"/page/{book}/{SUBJECT}", params={"run": a_run.id}).text
    assert "Why it was chosen" in page
    assert "Pages of the run that link here" in page
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
    assert (page.status_code, "This run did not take this page." in page.text) == (200, True)


def test_a_run_that_is_gone_does_not_hide_the_page(browser: httpx2.Client, book: str) -> None:
    """An address with a run that is not here shows the page, and says what is missing."""
    page = browser.get(f"/page/{book}/Bronze", params={"run": "<gone>"})
    assert (page.status_code, "The run “&lt;gone&gt;” cannot be shown." in page.text) == (200, True)
    assert browser.get(frame_of(page.text)).status_code == 200


def test_a_page_that_is_not_there_offers_those_that_are(browser: httpx2.Client, book: str) -> None:
    """A slip of the finger leads to pages with a title like it, and to a search for the words."""
    page = browser.get(f"/page/{book}/Bronse_Age")
    near = re.findall(rf'<li><a href="(/page/{book}/[^"]+)">', page.text)
    assert (page.status_code, bool(near)) == (404, True)
    assert f"/page/{book}/Bronze_Age" in near
    assert 'name="q" value="Bronse Age"' in page.text
    assert browser.get(f"/page/{book}/<script>x").status_code == 404


@pytest.mark.parametrize("path", ["..%2f..%2fetc%2fpasswd", "%00", "%ff", "a/" * 500, "%ED%A0%80"])
def test_what_can_be_no_page_is_missing(browser: httpx2.Client, book: str, path: str) -> None:
    """Whatever stands in the address, the answer is that there is no such page."""
    assert browser.get(f"/page/{book}/{path}").status_code == 404


def test_a_book_that_is_not_there_is_told(browser: httpx2.Client, book: str) -> None:
    """An unknown book leads to those that are on the shelf."""
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
        a_room(file.parent / "home", str(file)) as room,
        running(room, make_app) as address,
        a_browser(address) as browser,
    ):
        yield browser


def test_books_from_right_to_left_are_shown_so(hebrew: httpx2.Client) -> None:
    """Title and contents say their language and direction, and so does what the page claims."""
    page = hebrew.get("/page/he_test/Main", follow_redirects=True).text
    assert '<h1 lang="he" dir="rtl">ירושלים</h1>' in page
    assert '<ol class="reading-contents small" lang="he" dir="rtl">' in page
    assert '<html lang="en" dir="ltr">' in page


def test_contents_begin_below_the_title(hebrew: httpx2.Client) -> None:
    """A heading that only says the title again is left out, and what stands below it moves up."""
    page = hebrew.get("/page/he_test/Main", follow_redirects=True).text
    contents = page.partition("reading-contents")[2].partition("</ol>")[0]
    assert re.findall(r'<li class="depth-(\d)"><a[^>]+>([^<]+)</a>', contents) == [("0", "היסטוריה")]


def test_a_language_that_is_not_read_whole_is_told(hebrew: httpx2.Client, browser: httpx2.Client, book: str) -> None:
    """Where only the first sentence is read for claims, the page says so, lest a short list seem all there is."""
    said = "only the first sentence of a page is read for claims"
    assert said in hebrew.get("/page/he_test/Main", follow_redirects=True).text
    assert said not in browser.get(f"/page/{book}/{SUBJECT}").text


def test_the_keyboard_need_not_go_through_the_page(browser: httpx2.Client, book: str) -> None:
    """Right before the frame a link leads past all that is in it."""
    page = browser.get(f"/page/{book}/{SUBJECT}").text
    target = re.search(r'<a class="skip" href="#([^"]+)">[^<]+</a>\n<iframe', page)
    assert target
    assert f' id="{target[1]}" tabindex="-1"' in page.partition("</iframe>")[2]


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
    """A picture is led to as it stands; a plain text is a page."""
    picture = hebrew.get("/page/he_test/I/x.png")
    assert (picture.status_code, "/I/x.png" in picture.headers["location"]) == (303, True)
    assert hebrew.get(picture.headers["location"], follow_redirects=True).headers["content-type"] == "image/png"
    assert "<iframe" in hebrew.get("/page/he_test/notes.txt", follow_redirects=True).text


@pytest.mark.parametrize(("name", "headers"), [(".framed", {}), ("", {"Sec-Fetch-Dest": "iframe"})])
def test_what_is_in_a_frame_leaves_it_where_it_must(hebrew: httpx2.Client, name: str, headers: dict[str, str]) -> None:
    """In a frame the line on top leads to this page at the desk and not to pages that no frame may show."""
    book = hebrew.get("/page/he_test/").headers["location"].split("/")[2]
    framed, alone = hebrew.get(f"/read/{book}{name}/Main", headers=headers), hebrew.get(f"/read/{book}/Main")
    assert f'<a href="/page/{book}/Main" target="_top">' in framed.text
    assert 'href="/"' not in framed.text
    assert 'rel="noopener noreferrer nofollow" target="_blank"' in framed.text
    assert "allow-top-navigation-by-user-activation" in framed.headers["content-security-policy"]
    assert 'target="_blank"' not in alone.text
    assert alone.headers["content-security-policy"].startswith("sandbox allow-downloads; ")
    for answer in (framed, alone):
        assert "allow-scripts" not in answer.headers["content-security-policy"]
        assert "allow-same-origin" not in answer.headers["content-security-policy"]


def test_links_in_a_frame_stay_framed(hebrew: httpx2.Client) -> None:
    """What leads from page to page in a frame keeps the word in the address that says so, also over redirects."""
    book = hebrew.get("/page/he_test/").headers["location"].split("/")[2]
    for path in ("", "Old", "Leads", "/Main"):
        location = hebrew.get(f"/read/{book}.framed/{path}").headers["location"]
        assert location.startswith(f"/read/{book}.framed/Main")
    assert hebrew.get("/read/he_test.framed/Main").headers["location"] == f"/read/{book}.framed/Main"
    assert f'<a href="/read/{book}.framed/">' in hebrew.get(f"/read/{book}.framed/Main").text
