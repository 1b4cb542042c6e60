"""Pages of books as a browser may show them: nothing in them does anything, and their links arrive."""

from __future__ import annotations

import re
from html import escape, unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.page.pages import a_page

from kiwiresearch.page.addresses import PageAddresses, cleaned_style
from kiwiresearch.page.alignment import Extent
from kiwiresearch.page.display import DisplayOptions, display_page

ROOT = "/read/book/"


def shown(content: str, *, path: str = "Page", scripts: bool = False) -> str:
    """The whole page that a browser gets."""
    result = display_page(
        content.encode("utf-8", "replace"), a_page(content, path=path), DisplayOptions(ROOT, scripts=scripts)
    )
    return result.before + result.after


def link(href: str, *, path: str = "Page") -> str:
    """Where a link of the page at a path leads, as a browser reads it; empty where it leads nowhere."""
    found = re.search(r'<a href="([^"]*)"', shown(f'<a href="{escape(href)}">x</a>', path=path))
    return unescape(found[1]) if found else ""


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<SCRIPT SRC='https://evil.example/x.js'></SCRIPT>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><script>alert(1)</script></svg>",
        "<body onload=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href=' jAva\nscript:alert(1)'>x</a>",
        "<a href='&#1;javascript:alert(1)'>x</a>",
        "<a href='vbscript:alert(1)'>x</a>",
        "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
        "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
        "<svg><animate attributeName=href values='javascript:alert(1)'/></svg>",
        "<svg><use href='https://evil.example/x.svg#a'/></svg>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
        "<form action='https://evil.example/'><input name=a><button formaction='javascript:alert(1)'>b</button></form>",
        "<iframe src='https://evil.example/'></iframe><iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<object data='x.swf'></object><embed src='x.swf'><applet code=x></applet>",
        "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
        "<base href='https://evil.example/'>",
        "<link rel=preload href='https://evil.example/x' as=script><link rel=import href=x>",
        "<link rel=stylesheet href='https://evil.example/x.css'>",
        "<a ping='https://evil.example/' target=_top href=x>x</a>",
        "<img src='https://evil.example/x.png' srcset='//evil.example/y.png 2x'>",
        "<video poster='https://evil.example/x.png' src='//evil.example/v'></video>",
        "<table background='https://evil.example/x.png'></table>",
        "<style>@import 'https://evil.example/x.css'; p{background:url(https://evil.example/x.png)}</style>",
        "<style>p{background:u\\72 l('https://evil.example/x')} a{b:image-set('https://evil.example/y' 1x)}</style>",
        "<p style=\"background:url('//evil.example/x')\">x</p>",
        "<style></style><style>a{}</sty</style><script>alert(1)</script>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "<template><script>alert(1)</script></template><textarea><script>alert(1)</script></textarea>",
        "<xmp><script>alert(1)</script></xmp><plaintext><script>alert(1)</script>",
        "<title></title><img src=x onerror=alert(1)></title>",
        "<style-x><script>alert(1)</script></style-x>",
        "<portal src='https://evil.example/'></portal><frameset><frame src='https://evil.example/'></frameset>",
    ],
)
def test_nothing_in_a_page_does_anything(hostile: str) -> None:
    """Code, frames, forms, and everything that would load from elsewhere are taken out."""
    page = shown(f"<p>Before</p>{hostile}<p>After</p>")
    assert not faults(page), page
    assert "evil.example" not in page


MARKUP = st.lists(
    st.sampled_from([*"<>/=\"' -!&;x", "<script>", "</script>", "<style>", "</style>", "<svg>", "</svg>", "<math>",
                     "<mtext>", " onclick=", " href=", "javascript:", "<title>", "</title>", "<!--", "-->", "]]>",
                     "<![CDATA[", "<a", "<img", " src=", "<noscript>", "</noscript>", "<textarea>", "</textarea>",
                     "<table>", "<p>", "<svg><style>", "<xmp>", "<template>", "<select>", "<mglyph>", "&lt;", "\0"]),
    max_size=25,
).map("".join)  # fmt: skip


@given(content=MARKUP)
def test_no_markup_gets_code_through(content: str) -> None:
    """Whatever the markup is, a parser that reads the page again finds nothing that does anything."""
    page = shown(content)
    assert not faults(page), page


class _Faults(HTMLParser):
    """Collects what must not be on a page. Styles are read as text, as browsers do."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.found.append(tag)
        for name, value in attrs:
            address = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or name in ("ping", "target", "srcdoc", "action", "formaction", "http-equiv"):
                self.found.append(name)
            if name in ("href", "src", "xlink:href") and address.startswith(("javascript:", "vbscript:", "data:text")):
                self.found.append(address)


FORBIDDEN = frozenset(
    ["script", "iframe", "object", "embed", "base", "form", "input", "button", "textarea", "animate", "frame", "portal"]
)


def faults(page: str) -> list[str]:
    parser = _Faults()
    parser.feed(page)
    parser.close()
    return parser.found


@pytest.mark.parametrize(
    ("path", "href", "leads"),
    [
        ("Page", "Soul_music", "Soul_music"),
        ("Page", "Soul_music#Roots", "Soul_music#Roots"),
        ("Page", "#Roots", "#Roots"),
        ("A/Page", "../I/x.png", "/read/book/I/x.png"),
        ("Page", "../../../api/health", "/read/book/api/health"),
        ("Page", "%2e%2e/%2e%2e/api/health", "/read/book/api/health"),
        ("Page", "/A/Other page", "/read/book/A/Other%20page"),
        ("Page", "What%3F#Reply", "/read/book/What%3F#Reply"),
        ("site.org/a/", "b?page=2", "/read/book/site.org/a/b%3Fpage=2"),
        ("Page", "Category:Rivers", "/read/book/Category:Rivers"),
        ("Page", "100%25", "/read/book/100%25"),
        ("Page", "Zoë", "Zoë"),
        ("Page", "a b", "/read/book/a%20b"),
        ("Page", "\\\\evil.example\\x", "/read/book/%5C%5Cevil.example%5Cx"),
        ("Page", "/\\evil.example/x", "/read/book/%5Cevil.example/x"),
        ("Page", "http:/api/health", "/read/book/http:/api/health"),
        ("Page", "https:evil.example", "/read/book/https:evil.example"),
        ("Page", "//example.org/x", "https://example.org/x"),
        ("Page", "https://example.org/?a=1&b=2", "https://example.org/?a=1&b=2"),
        ("Page", "mailto:a@example.org", "mailto:a@example.org"),
    ],
)
def test_links_lead_where_the_book_means(path: str, href: str, leads: str) -> None:
    """A link leads to its page of the same book whatever its spelling, or visibly outside, or nowhere."""
    assert link(href, path=path) == leads


def test_links_to_the_outside_are_distinguished() -> None:
    """A link that leads out of the book says so to people and to browsers."""
    page = shown("<a class='big' rel='opener' href='https://example.org/'>x</a><a href='Inside'>y</a>")
    assert '<a href="https://example.org/" class="big kiwi-outside" rel="noopener noreferrer nofollow">' in page
    assert '<a href="Inside">' in page


def test_a_removed_base_still_resolves_links() -> None:
    """If a page says that its addresses count from another folder, they do."""
    page = shown("<head><base href='../lib/'></head><a href='x.html'>x</a>", path="docs/Page")
    assert ("<base" in page, '<a href="/read/book/lib/x.html">' in page) == (False, True)


def test_pictures_and_styles_of_the_book_stay() -> None:
    """What makes a page look as it should is kept, with addresses that arrive."""
    page = shown(
        "<head><link rel='stylesheet' href='/-/s/style.css' media='print'></head><body class='skin' style='color:red'>"
        "<img src='../I/a b.png' srcset='/I/c.png 2x, I/d.png 3x' width=9><details><summary>s</summary>t</details>"
        "<svg viewBox='0 0 1 1'><path d='M0 0' fill='url(#a)'/></svg><my-box>z</my-box>",
        path="A/Page",
    )
    for part in (
        '<link rel="stylesheet" href="/read/book/-/s/style.css" media="print">',
        '<body class="skin" style="color:red">',
        '<img src="/read/book/I/a%20b.png" srcset="/read/book/I/c.png 2x, I/d.png 3x" width="9">',
        "<details open>",
        '<svg viewbox="0 0 1 1"><path d="M0 0" fill="url(&quot;#a&quot;)"></path></svg>',
        "<my-box>",
    ):
        assert part in page


def test_with_scripts_only_scripts_are_back() -> None:
    """A user who lets books run their scripts still gets no forms, frames or foreign addresses."""
    page = shown("<script src='/-/a.js'></script><p onclick='go()'>x</p><form></form><iframe></iframe>", scripts=True)
    assert faults(page) == ["script", "onclick"]
    assert '<script src="/read/book/-/a.js"></script>' in page


@pytest.mark.parametrize(
    ("content", "anchor"),
    [
        ("<h2>Early life</h2><p>x</p>", "Early_life"),
        ("<h2><b name='early'>Early life</b></h2><p>x</p>", "early"),
        ('<h2>A "quoted" one</h2><p>x</p>', "A_&quot;quoted&quot;_one"),
    ],
)
def test_sections_without_ids_get_anchors(content: str, anchor: str) -> None:
    """If a scraper lost the id of a heading, its section can still be linked to (N8)."""
    assert f'<span id="{anchor}"></span>' in shown(content)


def test_sections_with_ids_keep_them() -> None:
    """Anchors that work are left alone (N8)."""
    for content in (
        '<h2 id="x">Early life</h2>',
        '<h2><span id="x">Early</span></h2>',
        '<a name="x"></a><h2>Life</h2>',
    ):
        page = shown(f"{content}<p>words</p>")
        assert page.count('"x"') == 1
        assert '<span id="' not in page.replace('<span id="x">Early', "")


@pytest.mark.parametrize(
    ("css", "cleaned"),
    [
        ("p{color:red}", "p{color:red}"),
        ("p{background:url(x.png)}", 'p{background:url("x.png")}'),
        ("p{background:url('/I/x.png')}", 'p{background:url("/read/book/I/x.png")}'),
        ("p{background:url(https://evil.example/x)}", "p{background:url()}"),
        ("@import 'more.css';", '@import url("more.css");'),
        ("@import url(//evil.example/x.css);", "@import url();"),
        ("p{background:\\75\\72\\6c(https://evil.example/x)}", "p{background:url()}"),
        ("p{background:url(data:image/png;base64,AA)}", 'p{background:url("data:image/png;base64,AA")}'),
        ("p{behavior:url(x.htc)}", "p{}"),
        ("a::after{content:'\\201C'}", "a::after{content:'\\201C'}"),
        ("p{}</style><script>", "p{}\\3c /style>\\3c script>"),
    ],
)
def test_styles_reach_only_into_the_book(css: str, cleaned: str) -> None:
    """What a style sheet loads comes from its book or from nowhere."""
    assert cleaned_style(css, PageAddresses(ROOT, "css/style.css")) == cleaned


MARKED = (
    '<p>The <b>quick brown</b> fox &amp; the <a href="Dog">lazy dog</a> of 1999.</p>'
    "<h2>More</h2><p>It was <i>so</i>.</p>"
)
SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 30)).map(lambda pair: Extent(pair[0], sum(pair))), max_size=6
)


@given(marks=SPANS, claims=SPANS)
def test_marks_change_nothing_but_themselves(marks: list[Extent], claims: list[Extent]) -> None:
    """Whatever is marked, without its marks and anchors the page is as before; no mark is in another."""
    page = a_page(MARKED)
    spans = [[span for span in some if span.end <= len(page.text)] for some in (marks, claims)]
    result = display_page(MARKED.encode(), page, DisplayOptions(ROOT, spans[0], claims=spans[1]))
    text = result.before + result.after
    anchors = r'<span id="(?:kiwi-claim-\d+" class="kiwi-claim|mark(?:-\d+)?)"></span>'
    bare = re.sub(rf"</?mark\b[^>]*>|{anchors}", "", text)
    assert bare == shown(MARKED)
    depth = 0
    for closing in re.findall(r"<(/?)mark\b", text):
        depth += -1 if closing else 1
        assert depth in (0, 1)
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert ("mark" in ids) == any(span not in result.unmarked for span in spans[0])


def test_links_to_the_outside_leave_a_frame() -> None:
    """In a frame, links out of the book open a window of their own; those within stay in the frame."""
    content = '<p><a href="https://example.org/" target="_top">out</a> <a href="Dog" target="_top">in</a></p>'
    result = display_page(content.encode(), a_page(content), DisplayOptions(ROOT, is_framed=True))
    assert re.findall(r'target="([^"]*)"', result.before + result.after) == ["_blank"]
    assert "target" not in shown(content)
