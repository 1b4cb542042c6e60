"""What is true of every page, whatever its HTML is."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.page.pages import a_page

from kiwiresearch.codec import plain
from kiwiresearch.ids import canonical_json
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.record import page_record

TAGS = (
    "a", "b", "blockquote", "body", "br", "caption", "center", "code", "dd", "details", "div", "dl", "dt", "figcaption",
    "figure", "form", "h1", "h2", "h3", "head", "html", "hr", "i", "img", "li", "main", "math", "nav", "ol", "option",
    "p", "pre", "script", "section", "select", "small", "span", "style", "sub", "summary", "sup", "svg", "table",
    "tbody", "td", "template", "textarea", "th", "thead", "title", "tr", "ul",
)  # fmt: skip
ATTRIBUTES = (
    "", "", "", ' href="Other"', ' href="Other#At"', ' href="#here"', ' href="https://example.org"', ' id="Anchor"',
    ' class="infobox"', ' class="reference"', ' class="hatnote"', ' class="navbox"', ' class="references"',
    ' class="thumbcaption"', ' class="mw-headline"', ' class="Inline-Template"', ' class="tex" alt="x^2"',
    ' style="display:none"', ' id="mw-content-text"', ' id="content"', ' id="toc"', " hidden", ' title="a > b"',
)  # fmt: skip
WORDS = (
    "Kiel", "is a town.", " ", "\n", "  two  spaces ", "It rains. Often!", "10", "[1]", "citation needed", "&amp;",
    "&nbsp;", "&lt;p&gt;", "a\u00a0b", "\u200b", "\u00ad", "\t", "中文。", "दिल्ली।", "\u202eabc", "<", ">", "&", '"',
    "<!-- note -->", "<!--", "-->", "]]>", "\x00", "é", "👩\u200d🚀", "?oldid=5",
)  # fmt: skip
PHRASES = (
    "Kiel", " is a town. ", "It rains. Often! ", " ", "10<sup>6</sup>", "<br>", "a&nbsp;b", "<b>bold</b>", "<i> i </i>",
    '<sup class="reference">[1]</sup>', '<a href="Other">Other town</a>', '<a href="Pic"><img src="p"></a>',
    '<span style="display:none">H <a href="Hid">h</a></span>', '<a href="V">Vol. 2 of it. Then</a>',
    '<a href="S"> </a>',
    '<sup class="Template-Fact">[citation needed]</sup>', "<span>\n</span>", '<a href="G"> <b> g </b></a>',
    '<a name="nm"></a>', '<img class="tex" alt="x^2">', "\u200b",
)  # fmt: skip
BLOCKS = (
    "p", "h2 id='x'", "h3", "figcaption", "pre", "div", "div class='infobox'", "div class='thumbcaption'", "blockquote",
    "details",
)  # fmt: skip

opening = st.builds("<{}{}>".format, st.sampled_from(TAGS), st.sampled_from(ATTRIBUTES))
closing = st.builds("</{}>".format, st.sampled_from(TAGS))
soup = st.lists(st.one_of(opening, closing, st.sampled_from(WORDS)), max_size=40).map("".join)
"""Tags and words in any order: what an author with no idea of HTML might write."""

inline = st.lists(st.sampled_from(PHRASES), max_size=4).map("".join)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Paragraphs, headings, lists, tables and the like around other blocks."""
    inside = st.one_of(inline, st.lists(inner, max_size=3).map("".join))
    cells = st.lists(st.builds("<{0}>{1}</{0}>".format, st.sampled_from(["td", "th"]), inside), max_size=3)
    rows = st.lists(cells.map(lambda row: f"<tr>{''.join(row)}</tr>"), max_size=4).map("".join)
    head = st.sampled_from(["", "<caption>Cap <a href='C'>c</a></caption>"])
    box = st.sampled_from(["", "", " class='infobox'", " class='navbox'"])
    items = st.lists(inside, max_size=3).map(lambda texts: "".join(f"<li>{text}</li>" for text in texts))
    around = st.sampled_from(BLOCKS)
    return st.one_of(
        st.builds(lambda tag, text: f"<{tag}>{text}</{tag.split()[0]}>", around, inside),
        st.builds("<ul>{}</ul>".format, items),
        st.builds("<table{}>{}{}</table>".format, box, head, rows),
        st.builds("<div class='hatnote'>{}</div>".format, inline),
    )


article = st.lists(st.recursive(inline, blocks, max_leaves=10), max_size=5).map("".join)
"""Nested blocks as articles have them, though none so odd."""

markup = st.one_of(soup, article)
many = settings(max_examples=150)


@many
@given(st.binary(max_size=400))
@example(b"\xff\xfe<\x00p\x00>\x00a\x00")
@example(b"<\xed\xa0\x80p>\xc3")
def test_any_bytes_are_read(content: bytes) -> None:
    """Reading never raises, whatever the bytes are, and what is read can be written down."""
    canonical_json(plain(page_record(a_page(content)))).encode()


@settings(max_examples=300)
@given(markup)
@example("<pre><table><tr><td>is a town. </td></tr></table></pre>")
@example('<pre> is a town. <sup class="reference">[1]</sup></pre>')
def test_every_page_keeps_the_laws(html: str) -> None:
    """Reading nonsense never raises, the same HTML gives the same page again, and every part is where it says."""
    page = a_page(html)
    assert a_page(html) == page
    links_point_at_their_own_words(page, html)
    sections_follow_each_other(page)
    blocks_have_all_the_text(page)
    cells_and_rows_have_their_own_words(page, html)
    marks_and_sentences_are_inside_the_text(page)


@many
@given(markup.map(lambda html: re.sub(r"\bpre\b", "div", html)))
def test_text_has_no_stray_white_space(html: str) -> None:
    """Outside code nothing is doubled, and no line or cell starts or ends with white space."""
    text = a_page(html).text
    assert not re.search(r"  |[ \t]\n|\n[ \t]| \t|\t |\n{3}|[^\S \t\n]", text)
    assert text == text.strip()


def links_point_at_their_own_words(page: PageDoc, html: str) -> None:
    """A link's offsets have its words, inside its sentence; a link outside the text has no sentence."""
    for link in page.links:
        if link.in_text:
            assert page.text[link.start : link.end] == link.text != ""
            assert link.sentence_start <= link.start < link.end <= link.sentence_end
            assert link.text.strip() == link.text or "<pre" in html
        else:
            assert (link.start, link.end, page.sentence(link)) == (-1, -1, "")


def sections_follow_each_other(page: PageDoc) -> None:
    """Sections lie end to end, the first is the lead, and each heading is where its section says."""
    first = page.sections[0]
    assert (first.heading, first.level, first.start) == ("", 1, 0)
    for before, after in zip(page.sections, page.sections[1:], strict=False):
        assert before.start <= before.end <= after.heading_start < after.start <= after.end
        assert page.text[before.end : after.heading_start].strip() == ""
        assert page.text[after.heading_start : after.start].strip() == after.heading != ""


def blocks_have_all_the_text(page: PageDoc) -> None:
    """Blocks are in order, do not overlap, and have every word of the article."""
    place = 0
    for block in page.blocks:
        assert place <= block.start < block.end
        assert page.text[place : block.start].strip() == ""
        assert page.text[block.start : block.end].strip() != ""
        place = block.end
    assert place == page.sections[-1].end


def cells_and_rows_have_their_own_words(page: PageDoc, html: str) -> None:
    """Cells have whole words, and rows of boxes their own value and links."""
    for cell in (cell for table in page.tables for row in table.rows for cell in row):
        assert 0 <= cell.start <= cell.end <= len(page.text)
        words = page.text[cell.start : cell.end]
        assert words.strip() == words or "<pre" in html
    for box in page.infoboxes:
        for row in box.rows:
            assert box.start <= row.start < row.end <= box.end
            assert page.text[row.start : row.end] == row.value != ""
            assert all(row.start <= link.start < link.end <= row.end for link in row.links)


def marks_and_sentences_are_inside_the_text(page: PageDoc) -> None:
    """Marks are in the text, sentences start in order, and references are counted once each."""
    assert all(0 <= mark.offset <= len(page.text) for mark in page.marks)
    assert page.sentences[0] == 0
    assert list(page.sentences) == sorted(set(page.sentences))
    counted = sum(section.references for section in page.sections)
    assert counted <= sum(mark.kind == "reference" for mark in page.marks)


@many
@given(st.lists(st.sampled_from(["One", "Two words", "Three."]), min_size=1, max_size=8))
def test_paragraphs_come_back_as_they_went_in(paragraphs: list[str]) -> None:
    """Whatever paragraphs a page has, its blocks are the same ones in the same order."""
    page = a_page("".join(f"\n<p> {text}\n</p>" for text in paragraphs))
    assert [page.text[block.start : block.end] for block in page.blocks] == paragraphs
    assert page.text == "\n\n".join(paragraphs)


def test_a_heading_at_the_end_of_preformatted_text() -> None:
    """White space at the end of a page is not part of its text, even after a heading that keeps its own."""
    page = a_page("<pre><h2 id='x'> is a town. </h2></pre>")
    sections_follow_each_other(page)
    assert [section.heading for section in page.sections] == ["", "is a town."]
