"""The reader: pages of books that are not trusted, shown safely, with their files, links and marks."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urljoin

import httpx2
import pytest
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.page.parser import open_page
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.reader import STYLE, style_for
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, plain_png, write_book

GREEN = (0x2D, 0x6A, 0x4F)
MAX_PICTURES = 5
"""A busy machine may take its picture before a frame has come to its mark; a frame that never does is found out."""
YELLOW = (0xFF, 0xE4, 0x5C)
DESK_YELLOW = (0xFF, 0xE2, 0x7A)
BLUE = (0x12, 0x34, 0x56)

MAIN = """<!doctype html><html><head><title>Main</title><link rel="stylesheet" href="/-/style.css">
<meta name="viewport" content="width=device-width"></head><body>
<p>The <b>quick</b> brown fox<sup class="reference">[1]</sup> jumps over the lazy dog.</p>
<h2>Early life</h2><p>It was a <i>dark</i> and stormy night.</p>
<img src="I/green.png" width="48" height="48"><a href="What%3F">What</a> <a href="/A/Main">Main</a>
<a href="folder/AC/DC">band</a> <a href="Caf%C3%A9">cafe</a> <a href="Category:Rivers">rivers</a>
<a href="Old">old</a> <a href="https://example.org/">out</a>
<script>document.body.innerHTML = 'taken over'</script>
<p onclick="alert(1)">Click</p><form action="/api/ask"><input name="q"></form>
<iframe src="/api/health"></iframe></body></html>"""

PAGES = {
    "Main": MAIN,
    "What?": "<p>A question.</p>",
    "folder/AC/DC": '<p>A band. <a href="../../Main">back</a> <img src="../../I/green.png"></p>',
    "Café": "<p>Coffee.</p>",
    "Category:Rivers": "<p>Rivers.</p>",
    "Claims": "<p>Jupiter is the <b>largest planet</b> of the Solar System. It has 95 moons and was seen in 1610.</p>",
    "Leads": '<head><meta http-equiv="refresh" content="0;URL=\'./Main#Early_life\'"></head>',
    "Round": '<head><meta http-equiv="refresh" content="0;URL=\'./About\'"></head>',
    "About": '<head><meta http-equiv="refresh" content="0;URL=\'./Round\'"></head>',
    "Long": f'<link rel="stylesheet" href="/-/style.css"><p>{"word </p><p>" * 900}</p>',
}
FILES = {
    "-/style.css": ("text/css", b"body{background:#123456 url(https://evil.example/x.png)}p{color:white}"),
    "I/green.png": ("image/png", plain_png(48)),
    "evil.svg": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"><text id="t">calm</text><script>'
                 b"document.getElementById('t').textContent='ran'</script></svg>"),
    "film.webm": ("video/webm", bytes(range(256)) * 4),
    "letters.woff2": ("font/woff2", b"wOF2"),
    "notes.txt": ("text/plain", b"First line.\nThe second <line>."),
    "book.pdf": ("application/pdf", b"%PDF-1.4"),
    "odd.bin": ("text/x\nSet-Cookie: a=b", b"odd"),
}  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book that tries things."""
    target = tmp_path_factory.mktemp("hostile") / "hostile.zim"
    pages = [NewPage(path, path, text.encode()) for path, text in PAGES.items()]
    files = [NewPage(path, path, data, mimetype=kind, is_article=False) for path, (kind, data) in FILES.items()]
    metadata = {"Name": "hostile_en", "Title": "Hostile <book>", "Language": "eng", "Date": "2026-01-01"}
    redirects = [NewRedirect("Old", "Old", "Main")]
    write_book(target, [*pages, *files], redirects, metadata=metadata, main_path="Main", index=False)
    return target


@pytest.fixture(scope="module")
def reading(hostile: Path, tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[ServerContext]:
    """A shelf with that book and the sample book."""
    with server_context(tmp_path_factory.mktemp("reader"), str(hostile), str(sample_zim)) as context:
        yield context


@pytest.fixture(scope="module")
def address(reading: ServerContext) -> Iterator[str]:
    """Where that shelf is served."""
    with running_server(reading, make_app) as address:
        yield address


@pytest.fixture(scope="module")
def web(address: str) -> Iterator[httpx2.Client]:
    """A client of that server."""
    with http_client(address) as client:
        yield client


@pytest.fixture(scope="module")
def root(reading: ServerContext) -> str:
    """Where the hostile book begins."""
    return f"/read/{reading.shelf.books[0].id}/"


def test_a_page_comes_with_a_policy_that_lets_it_do_nothing(web: httpx2.Client, root: str) -> None:
    """A page runs no scripts, sends no forms and loads from nowhere but its server (R243)."""
    answer = web.get(f"{root}Main")
    policy = answer.headers["content-security-policy"].split("; ")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert {"default-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert policy[0] == "sandbox allow-downloads allow-same-origin"
    assert not [part for part in policy if part.startswith("script-src") or "allow-scripts" in part]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    for gone in ("<script", "onclick", "<form", "<input", "<iframe"):
        assert gone not in answer.text


def test_every_file_of_a_book_has_the_policy(web: httpx2.Client, root: str) -> None:
    """Whatever a browser might run, opened by itself, is as shut off as a page."""
    for path in FILES:
        answer = web.get(root + path)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith("sandbox")
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("I/green.png", "image/png"),
        ("-/style.css", "text/css; charset=utf-8"),
        ("evil.svg", "image/svg+xml"),
        ("film.webm", "video/webm"),
        ("letters.woff2", "font/woff2"),
        ("notes.txt", "text/plain; charset=utf-8"),
        ("odd.bin", "application/octet-stream"),
    ],
)
def test_files_have_their_types(web: httpx2.Client, root: str, path: str, kind: str) -> None:
    """A file is sent as what it is; a type that makes no sense is only bytes."""
    answer = web.get(root + path)
    assert (answer.headers["content-type"], "set-cookie" in answer.headers) == (kind, False)


def test_a_file_that_browsers_cannot_show_is_a_download(web: httpx2.Client, root: str) -> None:
    """A document that only another program shows is offered as a download."""
    assert web.get(f"{root}book.pdf").headers["content-disposition"] == "attachment"
    assert "content-disposition" not in web.get(f"{root}I/green.png").headers


def test_other_sites_cannot_find_out_what_is_in_a_book(web: httpx2.Client, root: str) -> None:
    """No page of another site can load a file, or see whether there is one: all are refused alike."""
    for path in ("I/green.png", "letters.woff2", "Main"):
        answer = web.get(root + path)
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
    for site, kind in (("cross-site", "image"), ("same-site", "font"), ("cross-site", "iframe")):
        asked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": kind}
        there, not_there = (web.get(root + path, headers=asked) for path in ("I/green.png", "I/nothing.png"))
        assert (there.status_code, there.text.replace("green", "nothing")) == (403, not_there.text)


def test_styles_load_nothing_from_outside(web: httpx2.Client, root: str) -> None:
    """Addresses of other hosts are taken out of style sheets."""
    assert web.get(f"{root}-/style.css").text == "body{background:#123456 url()}p{color:white}"


@pytest.mark.parametrize(
    ("asked", "status", "content_range", "start", "end"),
    [
        ("bytes=0-9", 206, "bytes 0-9/1024", 0, 10),
        ("bytes=1000-", 206, "bytes 1000-1023/1024", 1000, 1024),
        ("bytes=-24", 206, "bytes 1000-1023/1024", 1000, 1024),
        ("bytes=1000-9999", 206, "bytes 1000-1023/1024", 1000, 1024),
        ("bytes=1024-", 416, "bytes */1024", 0, 0),
        ("bytes=-0", 416, "bytes */1024", 0, 0),
        ("bytes=9-2", 200, None, 0, 1024),
        ("bytes=0-1,5-6", 200, None, 0, 1024),
        ("lines=1-2", 200, None, 0, 1024),
    ],
)
def test_parts_of_a_film_can_be_asked_for(
    web: httpx2.Client, root: str, asked: str, status: int, content_range: str | None, start: int, end: int
) -> None:
    """A player gets the range it asks for; an invalid range is ignored."""
    answer = web.get(f"{root}film.webm", headers={"Range": asked})
    assert (answer.status_code, answer.headers.get("content-range")) == (status, content_range)
    assert answer.content == FILES["film.webm"][1][start:end]


def test_a_file_is_sent_once(web: httpx2.Client, root: str) -> None:
    """A browser that has a file gets "not modified"; a HEAD request gets no body."""
    first = web.get(f"{root}I/green.png")
    again = web.get(f"{root}I/green.png", headers={"If-None-Match": first.headers["etag"]})
    head = web.head(f"{root}I/green.png")
    assert (again.status_code, again.content) == (304, b"")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(first.content)))


@pytest.mark.parametrize(
    ("asked", "leads"),
    [
        ("", "Main"),
        ("Old", "Main"),
        ("Old?mark=4-9", "Main?mark=4-9"),
        ("A/Main", "Main"),
        ("/Main", "Main"),
        ("I/green.png%3Fv=3", "I/green.png"),
        ("Leads", "Main#Early_life"),
    ],
)
def test_other_spellings_lead_to_the_page(web: httpx2.Client, root: str, asked: str, leads: str) -> None:
    """The first page, redirects of both kinds and old spellings lead to the one address of a page."""
    answer = web.get(root + asked)
    assert (answer.status_code, answer.headers["location"]) == (302, root + leads)


def test_a_book_goes_by_its_name_too(web: httpx2.Client, root: str) -> None:
    """The name of a book leads to its UUID, with all that was asked for."""
    answer = web.get("/read/hostile_en/What%3F?mark=0-1")
    assert (answer.status_code, answer.headers["location"]) == (302, f"{root}What%3F?mark=0-1")


@pytest.mark.parametrize(
    "path",
    [
        "Nowhere",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/x",
        "..%5c..%5cx",
        "Main%00",
        "%ff%fe",
        "M/Title",
        "%ED%A0%80",
    ],
)
def test_an_address_that_is_not_a_page_is_a_problem(address: str, root: str, path: str) -> None:
    """Only pages and files of the book can be read, however the address is spelled."""
    line = HTTPConnection(address.removeprefix("http://"))  # which sends the path unchanged
    line.request("GET", root + path)
    answer = line.getresponse()
    answer.read()
    line.close()
    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")


def test_pages_that_lead_in_a_circle_are_a_problem(web: httpx2.Client, root: str) -> None:
    """A browser is not sent round and round."""
    assert web.get(f"{root}Round").json()["type"] == "urn:kiwiresearch:problem:page-leads-only-to-itself"


def test_a_page_of_another_book_is_not_in_this_one(web: httpx2.Client, reading: ServerContext, root: str) -> None:
    """A book's address does not open another book, and an unknown book is a problem."""
    other = reading.shelf.books[1].id
    assert web.get(f"{root}{other}/Sunset").status_code == 404
    assert web.get(f"{root}../{other}/Nowhere").status_code == 404
    assert web.get("/read/ee80f6b6-0000-0000-0000-000000000000/Main").status_code == 404


def test_all_links_of_a_page_arrive(web: httpx2.Client, address: str, root: str) -> None:
    """Every link and picture that a browser finds on the pages leads to something in the book (R243)."""
    for path in ("Main", "folder/AC/DC"):
        base = f"{address}{root}{quote(path)}"
        page = web.get(base).text
        found = [unescape(url) for url in re.findall(r'(?:href|src)="([^"]*)"', page)]
        inside = [urljoin(base, url) for url in found if not url.startswith(("https:", "#"))]
        assert len(inside) > 3
        for url in inside:
            answer = web.get(url, follow_redirects=True)
            assert answer.status_code == 200, url


def test_marked_words_are_where_the_citation_says(web: httpx2.Client, reading: ServerContext) -> None:
    """The address of a citation opens its page with exactly the quoted words marked (R243)."""
    with reading.locked_finder() as finder:
        page = open_page(finder.books[0].archive, "Main")
    start = page.text.index("quick brown fox jumps")
    url = reading.page_url(page.ref, span=(start, start + 21))
    assert url.endswith("#mark")
    marks = re.findall(r'<mark(?: id="mark")? class="kiwi-mark">([^<]*)</mark>', web.get(url).text)
    assert marks == ["quick", "brown fox", "jumps"]


def test_a_quote_is_found_and_marked(web: httpx2.Client, root: str) -> None:
    """Words can be given instead of their place; white space may differ."""
    text = web.get(f"{root}Main", params={"quote": "dark and\n stormy"}).text
    assert '<mark id="mark" class="kiwi-mark">dark</mark></i> <mark class="kiwi-mark">and stormy</mark>' in text
    assert "could not be highlighted" not in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"quote": "No <b>such</b> words"}, "could not be highlighted: “No &lt;b&gt;such&lt;/b&gt; words”"),
        ({"mark": "90000-90010"}, "could not be highlighted."),
    ],
)
def test_words_that_are_not_there_are_shown_all_the_same(
    web: httpx2.Client, root: str, query: dict[str, str], expected: str
) -> None:
    """If nothing can be marked, the page is shown and says so, with the words."""
    answer = web.get(f"{root}Main", params=query)
    assert (answer.status_code, expected in answer.text, "<mark" in answer.text) == (200, True, False)


@pytest.mark.parametrize("mark", ["x", "5", "9-2", "4-4", "-1-5", "1-99999999999"])
def test_a_mark_that_makes_no_sense_is_refused(web: httpx2.Client, root: str, mark: str) -> None:
    """Offsets that are not part of the text are an invalid request."""
    answer = web.get(f"{root}Main", params={"mark": mark})
    assert (answer.status_code, "for example mark=120-180" in answer.json()["remedy"]) == (400, True)


def test_claims_are_marked_around_the_words_asked_for(web: httpx2.Client, root: str) -> None:
    """What a page claims is marked less than the words of a citation, which keep their mark; each has an anchor."""
    text = web.get(f"{root}Claims", params={"claims": "true", "mark": "15-24"}).text
    assert '<span id="kiwi-claim-1" class="kiwi-claim"></span><mark class="kiwi-claimed">' in text
    assert '<mark id="mark" class="kiwi-mark">largest p</mark>' in text
    assert "</mark><mark" in text
    assert "<mark" not in web.get(f"{root}Claims").text


def test_words_of_a_plain_text_are_marked(web: httpx2.Client, root: str) -> None:
    """A text without markup is shown as a page when words of it are to be marked."""
    text = web.get(f"{root}notes.txt", params={"quote": "second <line>"}).text
    assert '<mark id="mark" class="kiwi-mark">second &lt;line&gt;</mark>' in text


def test_a_page_says_which_book_it_is_of(web: httpx2.Client, root: str) -> None:
    """At the top of each page are the title and date of its book, and a link back."""
    text = web.get(f"{root}Main").text
    assert f'<a href="{root}">Hostile &lt;book&gt;</a></bdi>, 1\xa0January 2026' in text


@pytest.mark.parametrize(
    ("path", "expected"), [("Main", "width=device-width"), ("What%3F", "width=device-width, initial-scale=1")]
)
def test_pages_are_made_for_phones_too(web: httpx2.Client, root: str, path: str, expected: str) -> None:
    """A page that names no width is shown as wide as the screen; one that does has its way."""
    text = web.get(f"{root}{path}").text
    head, _, body = text.partition("</head>")
    assert re.findall(r'<meta name="viewport" content="([^"]*)">', head) == [expected]
    assert "viewport" not in body


def test_a_page_without_a_style_is_good_to_read(web: httpx2.Client, root: str) -> None:
    """It is set in lines of a length that eyes follow; a page that has a style keeps it."""
    assert "body{max-width" in web.get(f"{root}What%3F").text
    assert "body{max-width" not in web.get(f"{root}Main").text


@pytest.mark.parametrize(
    ("content", "is_styled"),
    [
        (b"<p>text</p>", False),
        (b"<p>on style and stylesheets</p>", False),
        (b'<p style="color:red">text</p>', False),
        (b"<STYLE type='text/css'>p{}</STYLE>", True),
        (b'<link href="a.css" rel="stylesheet">', True),
        (b"<link rel=stylesheet href=a.css>", True),
        (b'<link rel="alternate stylesheet" href="a.css">', True),
    ],
)
def test_a_style_of_a_page_is_noticed(content: bytes, is_styled: bool) -> None:
    """Style sheets and style elements count; a style of one line, and words about styles, do not."""
    assert (style_for(content) == STYLE) == is_styled


def test_sections_of_the_sample_book_can_be_linked_to(web: httpx2.Client, reading: ServerContext) -> None:
    """Every anchor of every section is an id on the served page (N8)."""
    with reading.locked_finder() as finder:
        archive = finder.books[1].archive
        pages = [open_page(archive, path) for path in list(archive.articles())[:8]]
    for page in pages:
        text = web.get(reading.page_url(page.ref)).text
        for section in page.sections[1:]:
            assert f'id="{section.anchor}"' in text


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs a real Chromium without a window, and gives back what it prints."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Chromium is missing: tools/install-programs should have installed it")
        pytest.skip("Chromium is not installed (on Debian: apt install chromium-headless-shell)")
    profiles = {True: tmp_path_factory.mktemp("chromium"), False: tmp_path_factory.mktemp("chromium")}
    (profiles[False] / "Default").mkdir()
    request = {"profile": {"default_content_setting_values": {"javascript": 2}}}
    (profiles[False] / "Default" / "Preferences").write_text(json.dumps(request))

    def run(*options: str, scripts: bool = True) -> str:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   f"--user-data-dir={profiles[scripts]}", "--virtual-time-budget=3000", *options]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    return run


def test_a_browser_shows_the_page_and_runs_nothing(
    chromium: Callable[..., str], address: str, reading: ServerContext, tmp_path: Path
) -> None:
    """Chromium with scripts off shows the marked words, the book's own style and its picture (R243)."""
    picture = tmp_path / "page.png"
    ref = EntryRef(reading.shelf.books[0].id, "Main")
    url = reading.page_url(ref, span=(4, 19))
    chromium(f"--screenshot={picture}", "--window-size=400,260", url, scripts=False)
    colours = _colours(picture.read_bytes())
    assert colours[YELLOW] > 200, "the mark is not to be seen"
    assert colours[GREEN] > 1_000, "the picture is not to be seen"
    assert colours[BLUE] > 20_000, "the style is not to be seen"


def test_a_browser_shows_the_article_with_its_mark(
    chromium: Callable[..., str], address: str, reading: ServerContext, tmp_path: Path
) -> None:
    """Chromium shows the marked words in the reading view, and nothing of the page's own style."""
    picture = tmp_path / "desk.png"
    url = f"{address}/page/{reading.shelf.books[0].id}/Long?mark=10-28"
    for _ in range(MAX_PICTURES):
        chromium(f"--screenshot={picture}", "--window-size=1000,700", url, scripts=False)
        colours = _colours(picture.read_bytes())
        if colours[DESK_YELLOW]:
            break
    assert colours[DESK_YELLOW] > 200, "the mark is not to be seen"
    assert colours[BLUE] < 1_000, "the style of the page is to be seen"


def test_a_browser_runs_no_script_of_a_book(chromium: Callable[..., str], address: str, root: str) -> None:
    """A picture is sent as it is; the policy keeps Chromium from running the script in it."""
    assert ">calm<" in chromium("--dump-dom", f"{address}{root}evil.svg")


def _colours(png: bytes) -> Counter[tuple[int, ...]]:
    """How many points of a picture have each colour."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    size = {2: 3, 6: 4}[kind]
    at, data = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    raw, above, seen = zlib.decompress(data), bytearray(width * size), Counter[tuple[int, ...]]()
    for line in range(height):
        start = line * (width * size + 1)
        row = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + width * size]), above, size)
        seen.update(tuple(row[i : i + 3]) for i in range(0, len(row), size))
        above = row
    return seen


def _unfiltered(kind: int, row: bytearray, above: bytearray, size: int) -> bytearray:
    for i in range(len(row) if kind else 0):
        left, up, corner = (row[i - size], above[i], above[i - size]) if i >= size else (0, above[i], 0)
        if kind == 4:
            guess = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        else:
            guess = (0, left, up, (left + up) // 2)[kind]
        row[i] = (row[i] + guess) & 255
    return row
