"""Corners of pages that were once read wrongly."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page, kinds, link_lines

from kiwiresearch.text.sentences import sentence_starts

HIDDEN_MATHML = '<span style="display:none"><math alttext="a"></math></span>'
MATH = f'<span class="mwe-math-element">{HIDDEN_MATHML}<img class="tex" alt="a"></span>'


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (f"<p>So {MATH} is odd.</p>", "So a is odd."),
        ("<p>Ends in <img class='tex' alt='a'></p><p>b</p>", "Ends in a\n\nb"),
        ("<p>(<img class='tex' alt='a'>), b</p>", "(a), b"),
        ("<table><tr><td>a</td><td>1</td></tr><tr><td></td><td>2</td></tr></table>", "a\t1\n2"),
        ("<table><tr><td>a</td><td><blockquote>b</blockquote></td></tr></table>", "a\tb"),
    ],
)
def test_formulas_and_cells_are_in_their_place(html: str, text: str) -> None:
    """The text is what a reader sees, in its order."""
    assert a_page(html).text == text


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ("<p><a href='Page'>self</a></p>", []),
        ("<p><a data-href='no' href='C'>c</a> <a data-href='z'>n</a></p>", ["lead: c -> C"]),
        ("<p>x</p><h2><a href='A'>a</a></h2><p>y</p>", ["body: a -> A"]),
    ],
)
def test_links_are_the_pages_own_and_know_their_section(html: str, links: list[str]) -> None:
    """Links are the page's own and know their section."""
    assert link_lines(a_page(html)) == links


def test_titles_redirects_dates_and_headings_in_odd_places() -> None:
    """Title of a box with an inner table; refresh with content first; date over two lines; blocks of headings."""
    inner = "<table><tr><th>In</th><td>1</td></tr></table>"
    box = f"<table class='infobox'><tr><th colspan=2>T</th></tr><tr><td colspan=2>{inner}</td></tr></table>"
    foot = "<div><a href='http://w.org/X?oldid=5'>W</a> - version of the Friday, October 31,\n2014.</div>"
    assert {
        "title": a_page(box).infoboxes[0].title,
        "redirect": a_page('<meta content="0;url=Kiel" http-equiv="refresh">').redirect,
        "edited": a_page(f"<p>x</p>{foot}").provenance.edited,
        "heading": kinds(a_page("<table><tr><td><h2>One</h2></td><td>x</td></tr></table>")),
    } == {"title": "T", "redirect": "Kiel", "edited": "2014-10-31", "heading": ["heading: One", "row: x"]}


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("eng", "He was born.", "He died."),
        ("eng", "The answer was no.", "He left."),
        ("deu", "Am 3. Oktober 1990 galt es.", "Es regnete."),
        ("deu", "Im 19. Jahrhundert war es so.", "Dann nicht."),
    ],
)
def test_two_sentences_are_two(language: str, first: str, second: str) -> None:
    """A full stop behind a common word ends a sentence, one behind a German ordinal does not."""
    assert sentence_starts(f"{first} {second}", language=language) == [0, len(first) + 1]


def test_rows_of_an_infobox_know_the_heading_above_them() -> None:
    """A row such as 'Total' says under which heading of the box it is (R40)."""
    rows = "<tr><th colspan=2>Kiel</th></tr><tr><th colspan=2>Population</th></tr><tr><th>Total</th><td>1</td></tr>"
    (box,) = a_page(f"<table class='infobox'>{rows}</table>").infoboxes
    assert [(row.group, row.key, row.value) for row in box.rows] == [("Population", "Total", "1")]


def test_attributes_that_only_end_like_the_meant_one_are_left_alone() -> None:
    """`data-href` is not a link and `data-id` no anchor, in menus and headings either."""
    menu = "<nav><a data-href='No' href='Yes'>menu</a></nav>"
    page = a_page(f"{menu}<p>x</p><h2><span data-id='no' id='yes'>One</span></h2><p>y</p>")
    assert link_lines(page) == ["navigation: menu -> Yes"]
    assert [section.anchor for section in page.sections] == ["", "yes"]


def test_words_of_boxes_in_boxes_stay_as_they_are() -> None:
    """However deep a box is in others, its words are the page's own, 'infobox' among them."""
    opening = "<table class='infobox'><tr><th>k</th><td>"
    page = a_page(f"{opening * 6}an infobox{'</td></tr></table>' * 6}")
    assert "an infobox" in page.text
