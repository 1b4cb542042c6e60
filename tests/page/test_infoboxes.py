"""Infoboxes: what they say under which label, and where in the text."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page, box_lines, link_line

from kiwiresearch.page.doc import InfoboxRow

FAMILY = """<table class="infobox vcard"><tbody>
<tr><th colspan="2" class="infobox-above"><div class="fn">Ann Moore</div></th></tr>
<tr><td colspan="2" class="infobox-image"><img src="x.jpg"><div class="infobox-caption">In 1870</div></td></tr>
<tr><th scope="row" class="infobox-label">Born</th><td class="infobox-data"><span style="display:none">(<span
 class="bday">1840-05-02</span>)</span>2 May 1840<br><a href="Kiel">Kiel</a>, <a href="Germany">Germany</a></td></tr>
<tr><th scope="row" class="infobox-label">Children</th><td class="infobox-data"><div class="plainlist"><ul>
<li><a href="Bob_Moore">Bob</a></li>
<li>Eve<sup class="reference"><a href="#cite_note-1">[1]</a></sup></li></ul></div></td></tr>
<tr><th>Website</th><td></td></tr>
</tbody></table><p><b>Ann Moore</b> was a builder.</p>"""


def row_of(html: str, key: str) -> InfoboxRow:
    """The row under a label."""
    return next(row for box in a_page(html).infoboxes for row in box.rows if row.key == key)


def test_rows_are_label_and_value() -> None:
    """Each row has its label, and a value of one or several lines without hidden dates and marks (R40)."""
    assert box_lines(a_page(FAMILY)) == ["Born: 2 May 1840\nKiel, Germany", "Children: Bob\nEve"]


def test_value_points_into_the_text() -> None:
    """A value's offsets point at its words, behind the article (R40)."""
    page = a_page(FAMILY)
    (box,) = page.infoboxes
    assert page.text.startswith("Ann Moore was a builder.\n\nAnn Moore\n")
    assert [page.text[row.start : row.end] for row in box.rows] == [row.value for row in box.rows]
    assert page.text[box.start : box.end].startswith("Ann Moore\n")
    assert (page.lead, box.title) == ("Ann Moore was a builder.", "Ann Moore")


def test_rows_have_their_links() -> None:
    """A row has the links that are in its value, which are links of the page too (R40, R35)."""
    links = row_of(FAMILY, "Born").links
    assert [link_line(link) for link in links] == ["infobox: Kiel -> Kiel", "infobox: Germany -> Germany"]
    assert set(links) < set(a_page(FAMILY).links)


def test_rows_leave_out_links_that_lead_out_of_the_book() -> None:
    """Addresses and links of pictures in a box are not links in its text."""
    html = (
        "<table class='infobox'><tr><td colspan=2><a href='Picture'><img src='x'></a></td></tr><tr><th>Site</th>"
        "<td><a href='https://example.org'>example.org</a> <a href='#n'>n</a> <a href='Net'>net</a></td></tr></table>"
    )
    assert [link_line(link) for link in row_of(html, "Site").links] == ["infobox: net -> Net"]
    assert [(link.target, link.in_text) for link in a_page(html).links] == [("Picture", False), ("Net", True)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "<tr><td colspan=2>Cat</td></tr><tr><td>Kingdom:</td><td><a href='Animal'>Animalia</a></td></tr>"
            "<tr><td><b>Order</b></td><td>Carnivora</td></tr>",
            ["Kingdom: Animalia", "Order: Carnivora"],
        ),
        (
            "<tr><th colspan=2>Kiel</th></tr><tr><th colspan=2>Population</th></tr><tr><th>&nbsp;• Total</th>"
            "<td>5</td></tr><tr><th>&nbsp;• Density</th><td>1/km<sup>2</sup></td></tr>",
            ["Total: 5", "Density: 1/km²"],
        ),
        ("<tr><th>Height</th><td>40 m</td><td>(131 ft)</td></tr>", ["Height: 40 m\t(131 ft)"]),
        ("<tr><th>Spouse(s)</th><td><p>Jo</p><p>Di</p></td></tr>", ["Spouse(s): Jo\n\nDi"]),
        ("<tr><th></th><td>no label</td></tr><tr><th>no value</th><td></td></tr>", []),
        (f"<tr><td>{'This is a whole sentence. ' * 4}</td><td>x</td></tr>", []),
        (
            "<tr><td colspan=2><table><tr><th>Inner</th><td>1</td></tr></table></td></tr>"
            "<tr><th>Outer</th><td>2</td></tr>",
            ["Inner: 1", "Outer: 2"],
        ),
        ("<tr><th><a href='Height'>Height</a></th><td>40 m</td></tr>", ["Height: 40 m"]),
    ],
    ids=["two plain cells", "groups", "three cells", "paragraphs", "half rows", "prose", "nested", "linked label"],
)  # fmt: skip
def test_shapes_of_rows(rows: str, expected: list[str]) -> None:
    """Labels may be plain cells, sit in groups or in tables of their own; halves are not rows (R40)."""
    assert box_lines(a_page(f"<table class='infobox'>{rows}</table><p>x</p>")) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<table class='infobox geography vcard'><tr><th>Pays</th><td>France</td></tr></table>",
        "<table class='infobox_v2'><tr><td colspan=2 class='entete'>Lac</td></tr><tr><th>Pays</th><td>France</td></tr>"
        "</table>",
        "<div class='infobox_v3 infobox large'><div class='entete'>Lac</div><table><caption>Lieu</caption><tbody><tr>"
        "<th scope='row'>Pays</th><td><div><a href='France'>France</a></div></td></tr></tbody></table></div>",
        "<table class='infobox biota'><tr><td>Pays</td><td>France</td></tr></table>",
        "<table class='toccolours vcard'><tr><th>Pays</th><td>France</td></tr></table>",
        "<table class='sinottico'><tr><th>Pays</th><td>France</td></tr></table>",
        "<aside class='infobox'><table><tr><th>Pays</th><td>France</td></tr></table></aside>",
    ],
)  # fmt: skip
def test_boxes_of_other_wikis(html: str) -> None:
    """Boxes of other Wikipedias and ages are found, and are not text of the article (R40)."""
    page = a_page(f"{html}<p>Le lac.</p>", language="fra")
    assert (box_lines(page), page.lead) == (["Pays: France"], "Le lac.")


def test_two_boxes_are_two() -> None:
    """A page may have several boxes, in their order, each with offsets of its own (R40)."""
    page = a_page(
        "<table class='infobox'><caption>One</caption><tr><th>A</th><td>1</td></tr></table><p>x</p>"
        "<table class='infobox'><caption>Two</caption><tr><th>B</th><td>2</td></tr></table>"
    )
    assert [(box.title, page.text[box.start : box.end]) for box in page.infoboxes] == [
        ("One", "One\n\nA\t1"),
        ("Two", "Two\n\nB\t2"),
    ]


@pytest.mark.parametrize(
    "around",
    [
        "<table><tr><td>{}</td><td>x</td></tr></table>",
        "<table class='infobox'><tr><th>A</th><td>1</td></tr><tr><td colspan=2>{}</td></tr></table>",
        "<div class='infobox'><div class='infobox'>{}</div></div>",
    ],
    ids=["in a table", "in a box", "in two boxes"],
)
def test_boxes_inside_others_are_not_lost(around: str) -> None:
    """A box that is in a table or in another box gives its rows and links too (R40)."""
    page = a_page(around.format("<table class='infobox'><tr><th>Key</th><td><a href='V'>v</a></td></tr></table>"))
    assert "Key: v" in box_lines(page)
    assert "infobox: v -> V" in map(link_line, page.links)


def test_box_without_words_leaves_nothing() -> None:
    """An empty box adds neither words nor white space to the text."""
    page = a_page("<p>A tower.</p><div class='infobox'></div><table class='infobox'><tr><td></td></tr></table>")
    assert page.text == "A tower."


def test_plain_tables_are_not_boxes() -> None:
    """A table of the article is not taken for a box (R40)."""
    page = a_page("<table class='wikitable'><tr><th>A</th><td>1</td></tr></table>")
    assert (page.infoboxes, page.text) == ((), "A\t1")


def test_references_in_a_box_are_marks() -> None:
    """A reference in a box is counted for the page, and for no section."""
    page = a_page(
        "<table class='infobox'><tr><th>A</th><td>1<sup class='reference'>[1]</sup></td></tr></table>"
        "<p>x<sup class='reference'>[2]</sup></p><h2>H</h2><p>y</p>"
    )
    assert page.signals.references == 2
    assert [section.references for section in page.sections] == [1, 0]
    assert [page.text[: mark.offset][-1] for mark in page.marks] == ["x", "1"]
