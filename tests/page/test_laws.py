"""What holds of every page, whatever its HTML is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kiwiresearch.page.doc import PageDoc
from tests.page.pages import a_page

TAGS = (
    "a b blockquote body br caption center code dd details div dl dt figcaption figure form h1 h2 h3 head html hr i "
    "img li main math nav ol option p pre script section select small span style sub summary sup svg table tbody td "
    "template textarea th thead title tr ul"
).split()
ATTRIBUTES = (
    "", "", "", ' href="Other"', ' href="Other#At"', ' href="#here"', ' href="https://example.org"', ' id="Anchor"',
    ' class="infobox"', ' class="reference"', ' class="hatnote"', ' class="navbox"', ' class="references"',
    ' class="thumbcaption"', ' class="mw-headline"', ' class="Inline-Template"', ' class="tex" alt="x^2"',
    ' style="display:none"', ' id="mw-content-text"', ' id="content"', ' id="toc"', ' hidden', ' title="a > b"',
)  # fmt: skip
WORDS = (
    "Kiel", "is a town.", " ", "\n", "  two  spaces ", "It rains. Often!", "10", "[1]", "citation needed", "&amp;",
    "&nbsp;", "&lt;p&gt;", "a\u00a0b", "\u200b", "\u00ad", "\t", "中文。", "दिल्ली।", "\u202eabc", "<", ">", "&", "\"",
    "<!-- note -->", "<!--", "-->", "]]>", "\x00", "é", "👩\u200d🚀", "?oldid=5",
)  # fmt: skip

opening = st.builds("<{}{}>".format, st.sampled_from(TAGS), st.sampled_from(ATTRIBUTES))
closing = st.builds("</{}>".format, st.sampled_from(TAGS))
words = st.sampled_from(WORDS)
soup = st.lists(st.one_of(opening, closing, words), max_size=40).map("".join)


def element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Well-formed markup around other markup."""
    return st.builds(
        lambda tag, attribute, inside: f"<{tag}{attribute}>{''.join(inside)}</{tag}>",
        st.sampled_from(TAGS),
        st.sampled_from(ATTRIBUTES),
        st.lists(children, max_size=4),
    )


markup = st.one_of(soup, st.lists(st.recursive(words, element, max_leaves=20), max_size=8).map("".join))


def outside_code(page: PageDoc) -> str:
    """The page's text with an x for all code, which keeps its own white space."""
    text = page.text
    for block in reversed(page.blocks):
        if block.kind == "code":
            text = text[: block.start] + "x" + text[block.end :]
    return text


@given(st.binary(max_size=400))
@example(b"\xff\xfe<\x00p\x00>\x00a\x00")
@example(b"<\xed\xa0\x80p>\xc3")
def test_any_bytes_are_read(content: bytes) -> None:
    """Reading never raises, whatever the bytes are."""
    assert isinstance(a_page(content), PageDoc)


@settings(max_examples=3000)
@given(markup)
def test_any_html_is_read_the_same_way_twice(html: str) -> None:
    """Reading nonsense never raises, and gives the same page again."""
    assert a_page(html) == a_page(html)


@settings(max_examples=3000)
@given(markup)
def test_text_has_no_stray_white_space(html: str) -> None:
    """Outside code nothing is doubled, and no line or cell starts or ends with a space."""
    text = outside_code(a_page(html))
    assert not re.search(r"  |[ \t]\n|\n[ \t]| \t|\t |\n{3}|[^\S \t\n]", text)
    assert text == text.strip()


@settings(max_examples=3000)
@given(markup)
def test_links_point_at_their_own_words(html: str) -> None:
    """A link's offsets hold its words, inside its sentence and its section."""
    page = a_page(html)
    for link in page.links:
        if link.in_text:
            assert page.text[link.start : link.end] == link.text == link.text.strip() != ""
            assert link.sentence_start <= link.start < link.end <= link.sentence_end
            assert link.text in page.sentence(link)
        else:
            assert page.sentence(link) == ""


@settings(max_examples=3000)
@given(markup)
def test_sections_follow_each_other(html: str) -> None:
    """Sections lie end to end, the first is the lead, and each heading stands where its section says."""
    page = a_page(html)
    first = page.sections[0]
    assert (first.heading, first.level, first.start) == ("", 1, 0)
    for before, after in zip(page.sections, page.sections[1:], strict=False):
        assert page.text[before.end : after.heading_start].strip() == ""
        assert page.text[after.heading_start : after.start].strip() == after.heading != ""
        assert before.start <= before.end <= after.heading_start < after.start <= after.end


@settings(max_examples=3000)
@given(markup)
def test_blocks_hold_all_the_text(html: str) -> None:
    """Blocks are in order, do not overlap and hold every word of the article."""
    page = a_page(html)
    place = 0
    for block in page.blocks:
        assert page.text[place : block.start].strip() == ""
        assert page.text[block.start : block.end].strip() != ""
        assert block.start >= place
        place = block.end
    assert place == page.sections[-1].end
    boxes = [(box.start, box.end) for box in page.infoboxes]
    assert page.text[place : boxes[0][0] if boxes else None].strip() == ""


@settings(max_examples=3000)
@given(markup)
def test_cells_rows_and_marks_are_inside_the_text(html: str) -> None:
    """Cells hold whole words, rows of boxes their own value, and marks stand in the text."""
    page = a_page(html)
    for table in page.tables:
        for row in table.rows:
            for cell in row:
                assert 0 <= cell.start <= cell.end <= len(page.text)
                words = page.text[cell.start : cell.end]
                assert words == words.strip() or "<pre" in html or "<textarea" in html
    for box in page.infoboxes:
        for entry in box.rows:
            assert page.text[entry.start : entry.end] == entry.value
            assert box.start <= entry.start <= entry.end <= box.end
            assert all(entry.start <= link.start <= link.end <= entry.end for link in entry.links)
    assert all(0 <= mark.offset <= len(page.text) for mark in page.marks)
    assert list(page.sentences) == sorted(set(page.sentences))
    assert page.sentences[0] == 0
