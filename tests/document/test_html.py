"""Documents as HTML: one page that needs nothing else, in which the words of sources stay words."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.document.html import html_page
from kiwiresearch.document.model import Document, Heading, LineList, Paragraph, PlainTable, Span, line_of, safe_address
from kiwiresearch.text.display import printable

ALLOWED = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "name", "content", "http-equiv"}, "title": set(),
    "style": set(), "body": set(), "header": set(), "nav": {"aria-label"}, "main": set(), "h1": set(), "h3": set(),
    "p": set(), "ol": set(), "ul": set(), "li": set(), "em": set(), "a": {"href", "class"},
    "table": set(), "thead": set(), "tbody": set(), "tr": set(), "th": {"scope"},
    "td": set(),
}  # fmt: skip
"""Every element of these documents, with its attributes."""


def page_of(document: Document) -> str:
    return html_page(document, "p { color: red; }", "default-src 'none'")


class Read(HTMLParser):
    """What a browser makes of a page: elements, links and visible words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[tuple[str, str]] = set()
        self.links: list[str] = []
        self.language = ""
        self.said: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {(tag, key) for key, _ in attrs}
        if ("class", "skip") not in attrs:
            self.links += [value or "" for key, value in attrs if key in ("href", "src")]
        self.language = next((value or "" for key, value in attrs if key == "lang"), self.language)
        if tag != "meta":
            self._open.append(tag)
            self.said.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.said[tag][-1] += data

    @property
    def is_harmless(self) -> bool:
        return set(self.tags) <= ALLOWED.keys() and all(key in ALLOWED[tag] for tag, key in self.attributes)


HOSTILE = [
    "<script>alert(1)</script>",
    "</li></ol><script src=//evil.example></script>",
    "</title><script>x</script>",
    "</style><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='x",
    "&lt;b&gt; &copy; &",
    "<!--x",
    "]]>",
    "\u202eRTL שלום",
    "# x | `y`",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_words_of_books_become_no_markup(text: str) -> None:
    """In every place hostile words are shown as they are: no script, no attribute, no element is added."""
    document = Document(
        text,
        (
            Heading(line_of(text), 3),
            Paragraph(line_of("a ", Span(text, emphasis=True), text)),
            LineList((line_of(Span(text, f"zim://book/{text}"), f": {text}"), line_of(text)), numbered=True),
            PlainTable((text, "b"), ((text, text),)),
        ),
        language=text,
    )
    page = Read(page_of(document))
    link, text = safe_address(f"zim://book/{text}"), printable(text)
    assert page.is_harmless
    assert page.said["title"] == page.said["h1"] == page.said["h3"] == [text]
    assert page.said["p"] == [f"a {text}{text}"]
    assert page.said["li"] == [f"{text}: {text}", text]
    assert page.said["th"] + page.said["td"] == [text, "b", text, text]
    assert page.links == [link]


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40))
def test_any_title_is_one_link(title: str) -> None:
    """Whatever is in a title and a path, an entry is one link with that address and these words."""
    page = Read(page_of(Document("T", (LineList((line_of(Span(title, f"zim://book/{title}")),)),))))
    assert page.is_harmless
    assert page.links == [safe_address(f"zim://book/{title}")]
    assert page.said["li"][0].strip() == printable(title).strip()


@pytest.mark.parametrize(
    ("url", "links"),
    [
        ("zim://book/A", ["zim://book/A"]),
        ("http://127.0.0.1:8080/content/b/A%20b", ["http://127.0.0.1:8080/content/b/A%20b"]),
        ("https://host/x?a=1&b=2", ["https://host/x?a=1&b=2"]),
        ("#top", ["#top"]),
        ("javascript:alert(1)", []),
        ("JavaScript:alert(1)", []),
        (" javascript:alert(1)", []),
        ("data:text/html,<script>x</script>", []),
        ("file:///etc/passwd", []),
        ("//evil.example", []),
        ("", []),
    ],
)
def test_links_lead_to_pages_only(url: str, links: list[str]) -> None:
    """An address that is not a page's is not a link; its words stay (R29)."""
    page = Read(page_of(Document("T", (Paragraph(line_of(Span("page", url))),))))
    assert (page.links, page.said["p"]) == (links, ["page"])


def test_a_page_needs_nothing_else() -> None:
    """The page says its letters' code and its language, has its style inside, and loads nothing."""
    text = page_of(
        Document("Salt", (LineList((line_of("a"), line_of("b"))), LineList((line_of("c"),), numbered=True)), "deu")
    )
    page = Read(text)
    assert text.startswith('<!DOCTYPE html>\n<html lang="de">\n<head>\n<meta charset="utf-8">\n')
    assert (page.links, "url(" in text, "@import" in text) == ([], False, False)
    assert [page.tags.count(tag) for tag in ("ul", "ol", "li", "style", "script", "link", "img")] == [
        1,
        2,
        3,
        1,
        0,
        0,
        0,
    ]


@pytest.mark.parametrize(("code", "lang"), [("swe", "sv"), ("spa", "es"), ("pol", "pl"), ("por", "pt"), ("deu", "de")])
def test_the_language_of_a_page_is_a_web_code(code: str, lang: str) -> None:
    """Lang is the two-letter code, not the first two letters: 'sw' is Swahili."""
    assert Read(page_of(Document("T", (), code))).language == lang


def test_a_link_in_html_is_an_address() -> None:
    """An address has no raw space or line break."""
    assert 'href="zim://b/a%20b"' in page_of(Document("T", (Paragraph(line_of(Span("x", "zim://b/a b"))),)))
