"""Documents as Markdown, read back by a real Markdown reader: the words of sources stay words."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kiwiresearch.document.markdown import markdown
from kiwiresearch.document.model import Document, Heading, LineList, Paragraph, PlainTable, Span, line_of
from kiwiresearch.text.display import printable

READER = MarkdownIt("commonmark").enable("table")
PLAIN = {"text", "text_special", "link_open", "link_close", "em_open", "em_close"}

HOSTILE = [
    "## x",
    "###### y",
    "---",
    "&copy; &lt;b&gt;",
    "](javascript:alert(1))",
    "[click](http://evil.example)",
    "![picture](http://evil.example/x.png)",
    "<script>alert(1)</script>",
    "<http://evil.example>",
    "a | b | c",
    "`code` and ``code``",
    "*a* _b_ **c** ~~d~~",
    "# a heading",
    "###### a heading",
    "---",
    "&copy; &lt;b&gt;",
    "a &amp; b",
    "1. a list",
    "2) a list",
    "- a list",
    "+ a list",
    "> a quotation",
    "***",
    "~~~",
    "```",
    "a\\",
    "\\",
    "[a]: http://evil.example",
    "two\nlines\n\n# and a heading",
    "\u202eRTL שלום",
    '" onmouseover="x',
]


def tokens(document: Document) -> list[Token]:
    return READER.parse(markdown(document))


def inside(found: list[Token]) -> list[Token]:
    return [child for token in found for child in token.children or []]


def said(found: list[Token]) -> str:
    """What a reader of the text sees; unintended markup is visible."""
    return "".join(child.content if child.type in PLAIN else f"<{child.type}>" for child in inside(found))


def one_line(text: str) -> str:
    return " ".join(printable(text).split())


def test_a_document_is_read_back() -> None:
    """Title, headings, paragraphs, lists, tables, links and emphasis are what a Markdown reader finds."""
    document = Document(
        "Salt",
        (
            Heading(line_of("Roads")),
            Paragraph(
                line_of("It began with ", Span("Salt road", emphasis=True), " and ", Span("Pass", "zim://b/P"), ".")
            ),
            LineList((line_of("one"), line_of("two"))),
            LineList((line_of("first"), line_of("second")), numbered=True),
            PlainTable(("key", "value"), (("a", "1"), ("b", "2"))),
        ),
    )
    assert markdown(document) == (
        "# Salt\n\n## Roads\n\nIt began with *Salt road* and [Pass](zim://b/P).\n\n- one\n- two\n\n"
        "1. first\n2. second\n\n| key | value |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n"
    )
    kinds = [token.type for token in tokens(document) if token.type.endswith("_open")]
    assert [kind for kind in kinds if kind != "paragraph_open"] == [
        "heading_open", "heading_open", "bullet_list_open", "list_item_open", "list_item_open",
        "ordered_list_open", "list_item_open", "list_item_open", "table_open", "thead_open", "tr_open", "th_open",
        "th_open", "tbody_open", "tr_open", "td_open", "td_open", "tr_open", "td_open", "td_open",
    ]  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE)
def test_a_title_stays_words(title: str) -> None:
    """Whatever is in a title, an entry of a list is one entry with one link, which has just the title."""
    entries = tuple(line_of(Span(title, "zim://book/Page"), ": ", title, ".") for _ in range(3))
    found = tokens(Document("T", (LineList(entries, numbered=True),)))
    assert sum(token.type == "list_item_open" for token in found) == 3
    assert said(found) == "T" + f"{one_line(title)}: {one_line(title)}." * 3
    assert [child.attrs["href"] for child in inside(found) if child.type == "link_open"] == ["zim://book/Page"] * 3


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_words_everywhere(text: str) -> None:
    """As a title, a heading, a paragraph, emphasised, or in a table, the same words are read back, and no more."""
    document = Document(
        text,
        (
            Heading(line_of(text)),
            Paragraph(line_of(text)),
            Paragraph(line_of("It is ", Span(text, emphasis=True), " that is meant")),
            PlainTable(("a", text), ((text, "b"),)),
        ),
    )
    found, plain = tokens(document), one_line(text)
    assert said(found) == f"{plain}{plain}{plain}It is {plain} that is meanta{plain}{plain}b"
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in found}
    assert kinds == {"heading", "inline", "paragraph", "table", "thead", "tbody", "tr", "th", "td"}
    assert sum(token.type == "td_open" for token in found) == 2


PATHS = [
    "A b",
    "A (b)",
    "A)b(",
    "A[b]c",
    "<x>",
    "a\\b",
    'a"b',
    "Zürich/ß",
    "青銅",
    "שלום",
    "it's",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_link_leads_to_its_page(path: str) -> None:
    """Spaces, brackets, quotes and letters of any script in an address do not end the link."""
    found = tokens(Document("T", (Paragraph(line_of(Span("page", f"zim://book/{path}"), " behind")),)))
    (link,) = [child for child in inside(found) if child.type == "link_open"]
    assert unquote(str(link.attrs["href"])) == f"zim://book/{path}"
    assert said(found) == "Tpage behind"


WORDS = st.text(st.characters(categories=("L", "N", "S", "P", "Zs")), min_size=1, max_size=30).filter(str.strip)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_any_titles_are_as_many_entries(titles: list[str]) -> None:
    """A list has an entry for each title, whatever characters they have, with all titles."""
    found = tokens(Document("T", (LineList(tuple(line_of(Span(title, "#x")) for title in titles), numbered=True),)))
    assert sum(token.type == "list_item_open" for token in found) == len(titles)
    assert said(found) == "T" + "".join(map(one_line, titles))


@given(WORDS, WORDS)
def test_any_words_are_one_row(first: str, second: str) -> None:
    """A table's row has its cells, whatever characters they have."""
    found = tokens(Document("T", (PlainTable(("a", "b"), ((first, second),)),)))
    assert sum(token.type == "td_open" for token in found) == 2
    assert said(found) == "Tab" + one_line(first) + one_line(second)


def test_bare_addresses_can_be_kept_from_becoming_links() -> None:
    """A reader that makes links of addresses finds none in the words of sources, and the links of ours stay."""
    document = Document("T", (Paragraph(line_of("https://a.example WWW.b.example ", Span("c", "https://c.example"))),))
    plain, broken = markdown(document), markdown(document, breaks_autolinks=True)
    assert "https://a.example WWW.b.example [c](https://c.example)" in plain
    assert r"https\://a.example WWW\.b.example [c](https://c.example)" in broken
