"""Articles in our own page, without a sandbox around them: only markup that we write, and nothing else."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.page.pages import a_page

from kiwiresearch.page.alignment import Extent
from kiwiresearch.page.article import ArticleMarkup, ArticleOptions, write_article
from kiwiresearch.page.article_tags import FORMULA_TAGS, PLAIN_TAGS
from kiwiresearch.page.html import stays_inside

OUR_TAGS = PLAIN_TAGS | FORMULA_TAGS | {"mark", "details", "summary"}
OUR_ATTRIBUTES = frozenset(
    re.findall(
        r"\w+",
        "href src alt id class lang dir rel loading decoding width height colspan rowspan span scope start reversed "
        "type value datetime title controls preload display alttext stretchy fence separator movablelimits form "
        "largeop accent mathvariant columnspan columnalign displaystyle scriptlevel notation linethickness",
    )
)


def article(content: str, *, path: str = "Page", **options: object) -> ArticleMarkup:
    made = ArticleOptions("/page/book/", "/read/book/", **options)  # type: ignore[arg-type]
    return write_article(content.encode("utf-8", "replace"), a_page(content, path=path), made)


def shown(content: str, *, path: str = "Page", **options: object) -> str:
    return article(f"<p>Before</p>{content}<p>After</p>", path=path, **options).markup


class _Faults(HTMLParser):
    """Collects every tag, attribute, class, id and address that is not ours."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in OUR_TAGS:
            self.found.append(tag)
        for name, value in attrs:
            text = value or ""
            if name not in OUR_ATTRIBUTES:
                self.found.append(name)
            if name == "class" and not all(one.startswith(("article-", "kiwi-")) for one in text.split()):
                self.found.append(f"class {text}")
            if name == "id" and not re.match(r"at-|mark(-\d+)?$|kiwi-claim-\d+$", text):
                self.found.append(f"id {text}")
            if name == "src" and not text.startswith(("/read/book/", "data:image/")):
                self.found.append(f"src {text}")
            if name == "href" and not re.match(r"/page/book/|https?:|mailto:|#|[\w(]", text):
                self.found.append(f"href {text}")
            if name == "href" and re.match(r"\s*(?:javascript|data|vbscript):", text, re.IGNORECASE):
                self.found.append(f"href {text}")


def faults(markup: str) -> list[str]:
    reader = _Faults()
    reader.feed(f"{markup}")
    reader.close()
    return reader.found


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<SCRIPT SRC='https://evil.example/x.js'></SCRIPT>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><script>alert(1)</script><a xlink:href='javascript:alert(1)'>x</a></svg>",
        "<svg><foreignObject><p onclick=alert(1)>x</p><iframe src=x></iframe></foreignObject></svg>",
        "<body onload=alert(1) class=top id=main style='position:fixed'>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href=' jAva\nscript:alert(1)'>x</a>",
        "<a href='&#1;javascript:alert(1)'>x</a>",
        "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
        "<math href='javascript:alert(1)'><mi xlink:href='javascript:alert(1)'>x</mi></math>",
        "<math><annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml></math>",
        "<form action='https://evil.example/'><input name=a><button formaction='javascript:alert(1)'>b</button></form>",
        "<iframe src='https://evil.example/'></iframe><iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<object data='x.swf'></object><embed src='x.swf'><applet code=x></applet>",
        "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
        "<base href='https://evil.example/' target=_top>",
        "<link rel=stylesheet href='https://evil.example/x.css'>",
        "<img src='https://evil.example/x.png' srcset='//evil.example/y.png 2x'>",
        "<video poster='https://evil.example/x.png' src='//evil.example/v' autoplay></video>",
        "<style>.top{display:none} @import 'https://evil.example/x.css'</style>",
        "<p style='position:fixed;inset:0;z-index:9' class='kiwi-mark reading-bar top' id='main'>x</p>",
        "<p id=mark>x</p><p id=kiwi-claim-1>y</p><a name=beside>z</a>",
        "<mark class=kiwi-mark id=mark>not a quote</mark>",
        "<dialog open>x</dialog><p popover id=p>y</p><div contenteditable tabindex=1 accesskey=x autofocus>z</div>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "<template><script>alert(1)</script></template><textarea><script>alert(1)</script></textarea>",
        "<xmp><script>alert(1)</script></xmp><plaintext><script>alert(1)</script>",
        "<title></title><img src=x onerror=alert(1)></title>",
        "<evil-tag onclick=alert(1)>x</evil-tag>",
        "<main><header><nav><h1>Ours</h1></nav></header></main>",
        "</div></article></main><p>out</p>",
    ],
)
def test_nothing_of_a_book_does_anything(hostile: str) -> None:
    """Code, frames, forms, styles, names and everything from elsewhere are gone; the text around them stays."""
    made = article(f"<p>Before</p>{hostile}<p>After</p>")
    assert made.is_whole
    assert faults(made.markup) == []
    assert "evil.example" not in made.markup
    assert "alert(1)" not in re.sub(r">[^<]*<", "", made.markup)
    assert "<p>Before</p>" in made.markup


PIECES = ["<li>", "</li>", "<div>", "</div>", "<ul>", "</ul>", "<form>", "</form>", "<section>", "</section>", "<p>",
          "</p>", "<table>", "<tr>", "<td>", "</table>", "<b>", "</b>", "<a href=x>", "</a>", "<dd>", "<dl>", "</dl>",
          "<h1>", "</h1>", "<article>", "</article>", "<button>", "<svg>", "</svg>", "<math>", "<mtext>", "</math>",
          "<script>", "</script>", "<style>", "</style>", "<!--", "-->", "<![CDATA[", "<details>", "<summary>",
          "<div class=navbox>", "<table class=infobox>", "<span style='display:none'>", "</span>", "<center>", "<nobr>",
          " onclick=", "<img src=a>", "x", " ", "<", ">", "&lt;", '"', "'", "\0", "<fieldset>", "<select>", "<pre>",
          "<svg><foreignObject>", "<math><annotation-xml encoding=text/html>", "<main>", "</main>"]  # fmt: skip


@given(content=st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_no_markup_leaves_its_place(content: str) -> None:
    """Whatever the markup is, it has only our tags, and closes nothing around it."""
    made = article(content)
    assert faults(made.markup) == []
    assert stays_inside(made.markup)


def test_markup_that_would_end_our_elements_is_refused() -> None:
    """A list item ends another across a <div>: such markup would close one of our elements, and is not shown."""
    assert not stays_inside("<ul><li><div><li>x</li></div></li></ul>")
    assert not stays_inside("</div>")
    assert not stays_inside("<b>x")
    assert stays_inside("<ul><li><section><ul><li>x</li></ul></section></li></ul>")


@pytest.mark.parametrize(
    ("href", "path", "leads"),
    [
        ("Rome", "Page", "Rome"),
        ("Rome#History", "Page", "Rome#at-History"),
        ("../Rome", "A/Page", "/page/book/Rome"),
        ("../../../api/x", "A/Page", "/page/book/api/x"),
        ("/logout", "Page", "/page/book/logout"),
        ("What%3F.html", "Page", "/page/book/What%3F.html"),
        ("#note-1", "Page", "#at-note-1"),
        ("#", "Page", "#main"),
        ("https://example.org/", "Page", "https://example.org/"),
        ("//example.org/x", "Page", "https://example.org/x"),
    ],
)
def test_links_arrive(href: str, path: str, leads: str) -> None:
    """Links within the book lead to its pages in the web interface, jumps to our own anchors, others outside."""
    found = re.search(r'<a href="([^"]*)"([^>]*)>', shown(f'<a href="{href}">x</a>', path=path))
    assert (unescape(found[1]) if found else "") == leads
    if leads.startswith("https:"):
        assert found
        assert found[2] == ' class="kiwi-outside" rel="noopener noreferrer nofollow"'


def test_links_stay_in_a_run() -> None:
    """What is asked for with a page is asked for with the pages that it links to, not with places or other sites."""
    made = shown('<a href="A#b">1</a><a href="../C?d">2</a><a href="#e">3</a><a href="https://f.org/">4</a>',
                 path="x/y", query="?run=r&s")  # fmt: skip
    assert re.findall(r'href="([^"]*)"', made) == [
        "A?run=r&amp;s#at-b", "/page/book/C%3Fd?run=r&amp;s", "#at-e", "https://f.org/"]  # fmt: skip


def test_pictures_come_from_the_book_and_have_a_name() -> None:
    """A picture that is a link is named by its file if by nothing else; outside a link it may be mere decoration."""
    made = shown('<img src="../I/a.png" width="20" onclick="x"><a href="b"><img src="I/Old_map.png"></a>', path="A/x")
    assert '<img src="/read/book/I/a.png" alt="" loading="lazy" decoding="async" width="20">' in made
    assert 'src="/read/book/A/I/Old_map.png" alt="Old_map"' in made


CAPTION = '<div class="thumbcaption"><b>York</b></div>'
FIGURES = [
    (f'<div class="thumbinner"><b></b>{CAPTION}</div>', True),
    ("<figcaption>York</figcaption>", True),
    (f'<div class="thumbinner"><img>{CAPTION}</div>', True),
    (f'<div class="thumbinner"><a href="y"><img src="y.png"></a>{CAPTION}</div>', False),
    (f'<div class="thumbinner"><audio src="y.ogg"></audio>{CAPTION}</div>', False),
    (f"<div>The text of a poster</div>{CAPTION}", False),
    (f"<table><tr><td>1</td></tr></table>{CAPTION}", False),
    ("<div>No caption</div>", False),
]


@pytest.mark.parametrize(("inside", "is_alone"), FIGURES)
def test_a_caption_whose_picture_is_not_in_the_book_is_marked(inside: str, is_alone: bool) -> None:
    """Books without pictures leave captions behind; figures that show anything else are kept as they are."""
    made = shown(f'<div class="thumb tright">{inside}</div><p>Text</p>')
    assert ("article-no-picture" in made) is is_alone
    assert "<p>Text</p>" in made


def test_tables_boxes_and_notes_look_like_ours() -> None:
    """Known parts of pages get our own classes: infoboxes, figures, notes; boxes of links are folded."""
    made = shown(
        '<table class="infobox"><tr><th scope="row" style="color:red">a</th></tr></table>'
        '<table class="wikitable"><tr><td colspan="2"><table><tr><td>in</td></tr></table></td></tr></table>'
        '<div class="thumb tleft"><img src="x.png"></div><sup class="reference" id="r1"><a href="#n1">[1]</a></sup>'
        '<ol class="references"><li id="n1">Book</li></ol><div class="navbox"><a href="y">y</a></div>',
        links_label="More <pages>",
    )
    assert '<div class="article-table article-infobox"><table><tbody><tr><th scope="row">a</th>' in made
    assert made.count('<div class="article-table') == 2
    assert '<table class="article-grid">' in made
    assert '<div class="article-start article-figure">' in made or '<div class="article-figure article-start">' in made
    assert '<sup id="at-r1" class="article-ref"><a href="#at-n1">[1]</a></sup>' in made
    assert '<ol class="article-notes"><li id="at-n1">' in made
    assert '<details class="article-links"><summary>More &lt;pages&gt;</summary><div><a href="y">y</a></div>' in made


def test_formulas_are_written() -> None:
    """MathML is shown by the browser; what a formula was made from is not."""
    made = shown(
        '<math display="block" class="x"><semantics><mrow><mi>x</mi><msup><mi>y</mi><mn>2</mn></msup></mrow>'
        '<annotation encoding="application/x-tex">xy^2</annotation></semantics></math>'
    )
    assert '<math display="block"><mrow><mi>x</mi><msup><mi>y</mi><mn>2</mn></msup></mrow></math>' in made


def test_words_are_marked_and_the_title_is_said_once() -> None:
    """Marks and claims have their anchors; the heading that says the page's title is left to ours."""
    content = "<h1>Page</h1><p>One <b>two</b> three.</p><p>Four.</p><h1>Other</h1>"
    text = a_page(content, title="Page").text
    two, four = text.index("two"), text.index("Four")
    made = article(content, marks=[Extent(two, two + 9)], claims=[Extent(four, four + 5)])
    assert '<b><mark id="mark" class="kiwi-mark">two</mark></b>' in made.markup
    assert 'id="kiwi-claim-1"' in made.markup
    assert made.unmarked == ()
    assert "Page</h2>" not in made.markup
    assert re.search(r"<h2[^>]*>(?:<span[^>]*></span>)?Other</h2>", made.markup)


def test_a_title_can_be_quoted() -> None:
    """Words of the title are marked in ours; claims that begin there keep their anchors."""
    content = "<h1>Page</h1><p>One two three.</p>"
    made = article(content, marks=[Extent(0, 4)], claims=[Extent(0, 4)])
    assert a_page(content).text.startswith("Page")
    assert (made.is_title_marked, made.unmarked) == (True, ())
    assert '<span id="kiwi-claim-1" class="kiwi-claim"></span><p>' in made.markup
