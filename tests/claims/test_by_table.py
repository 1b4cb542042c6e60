"""Claims from tables and boxes: a number or a date with the labels that say what it is."""

from __future__ import annotations

import pytest
from tests.claims.claim_examples import CITY
from tests.page.pages import a_page

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.evidence import is_on_page

LAKES = """<h2 id="Lakes">Lakes</h2><table><caption>Lakes of Avonia</caption>
<tr><th>Lake</th><th>Area</th><th>Opened</th><th>Town</th></tr>
<tr><td>Lake Tarn</td><td>40 km²</td><td>1905</td><td>Norbury</td></tr>
<tr><th>Lake Orm</th><td>3.5 km²</td><td>5 June 1944</td><td></td></tr></table>"""


def claims_of_html(html: str, title: str = "Norbury") -> tuple[Claim, ...]:
    return claims_of(a_page(html, title=title), "Book of towns")


def table(*rows: str) -> str:
    """A table whose rows are 'a | b | c', the first of them with headings."""
    head, *others = ([cell.strip() for cell in row.split("|")] for row in rows)
    cells = ["".join(f"<th>{cell}</th>" for cell in head)]
    cells += ["".join(f"<td>{cell}</td>" for cell in row) for row in others]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def box(*rows: str) -> str:
    """A box whose rows are 'label | value', or a heading above others where there is no value."""
    made = ""
    for row in rows:
        label, bar, value = (part.strip() for part in row.partition("|"))
        made += f"<tr><th>{label}</th><td>{value}</td></tr>" if bar else f"<tr><th colspan=2>{label}</th></tr>"
    return f"<table class='infobox'>{made}</table>{CITY}"


def texts(html: str) -> list[str]:
    """The words of the claims that are not sentences."""
    return [claim.text for claim in claims_of_html(html) if " — " in claim.text]


def test_a_table_is_claimed_cell_by_cell() -> None:
    """Each number and date of a table is a claim in the words of its row and its column."""
    assert texts(LAKES) == [
        "Lake Tarn — Area: 40 km²",
        "Lake Tarn — Opened: 1905",
        "Lake Orm — Area: 3.5 km²",
        "Lake Orm — Opened: 5 June 1944",
    ]


def test_a_cell_is_quoted_with_its_labels() -> None:
    """A claim of a cell quotes the cell, the name of its row and the name of its column (R62, R122)."""
    page = a_page(LAKES, title="Norbury")
    claims = claims_of(page)
    assert [[quote.text for quote in claim.quotes] for claim in claims][:2] == [
        ["40 km²", "Lake Tarn", "Area"],
        ["1905", "Lake Tarn", "Opened"],
    ]
    assert all(is_on_page(quote, page) for claim in claims for quote in claim.quotes)


def test_a_cell_is_a_number_or_a_date() -> None:
    """A cell with a number is numeric and measured, one with a date alone belongs to the timeline (R59)."""
    area, opened, *_ = claims_of_html(LAKES)
    (measure,) = area.measures
    assert (area.type, measure.what, measure.of, measure.quantity.unit) == ("numeric", "area", "Lake Tarn", "m2")
    assert f"{measure.quantity.low:.0f}" == "40000000"
    assert area.text[measure.quantity.start : measure.quantity.end] == "40 km²"
    assert (opened.type, [date.when.words() for date in opened.dates]) == ("timeline", ["1905"])


def test_a_cell_knows_its_place() -> None:
    """A claim of a table has page, section and anchor, and a scope that names the page (R60, R63)."""
    claim = claims_of_html(LAKES)[0]
    assert (claim.page_title, claim.section, claim.anchor) == ("Norbury", "Lakes", "Lakes")
    assert (claim.subject, claim.scope, claim.tags) == ("Lake Tarn", "Lake Tarn (Norbury)", ("lake tarn", "area"))
    assert claim.book_name == "Book of towns"


@pytest.mark.parametrize(
    "html",
    [
        table("Lake | Area"),
        table("Lake", "Lake Tarn", "40 km²"),
        table("Lake | Area", "Lake Tarn | large"),
        table("Lake | Area", "Lake Tarn | "),
        table("Lake | ", "Lake Tarn | 40 km²"),
        table("Lake | 1905", "Lake Tarn | 40 km²"),
        table("Lake | Area", "1 | 40 km²"),
        table("Lake | Area", " | 40 km²"),
        table("Lake | Area", "Lake Tarn | 40 km² | 50 km²"),
        table("Lake | Area", f"{'Lake Tarn ' * 10} | 40 km²"),
        table("Lake | Area", f"Lake Tarn | {'40 km² or so, ' * 10}"),
        "<table><tr><td>Lake</td><td>Area</td></tr><tr><td>Lake Tarn</td><td>40 km²</td></tr></table>",
    ],
    ids=[
        "no rows", "one column", "no number", "empty cell", "unnamed column", "column named by a number",
        "row named by a number", "unnamed row", "odd row", "long name", "long cell", "no headings",
    ],
)  # fmt: skip
def test_a_number_without_labels_is_not_claimed(html: str) -> None:
    """A cell that its table does not name, or that says too much or nothing, makes no claim."""
    assert texts(html) == []


def test_a_table_does_not_fill_a_brief() -> None:
    """Of a page full of figures only the first sixty are claimed."""
    rows = [f"Lake {chr(65 + n // 26)}{chr(97 + n % 26)} | {n + 1} km | {n + 2} km" for n in range(50)]
    claims = claims_of_html(table("Lake | Length | Width", *rows))
    assert len(claims) == 60
    assert claims[-1].text == "Lake Bd — Width: 31 km"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["Height | 40 m"], ["Norbury — Height: 40 m"]),
        (["Founded | 1240"], ["Norbury — Founded: 1240"]),
        (["Founded | 5 June<br>1240"], ["Norbury — Founded: 5 June 1240"]),
        (
            ["Norbury", "Population", "Total | 5,000", "Share | 12 %", "Area", "Land | 85 km²"],
            ["Norbury — Population, Total: 5,000", "Norbury — Population, Share: 12 %", "Norbury — Area, Land: 85 km²"],
        ),
        (["Mayor | Karl Holm"], []),
        (["1 | 40 m"], []),
        (["Area code | unknown"], []),
        ([f"Height | {'40 m or more, ' * 10}"], []),
    ],
)  # fmt: skip
def test_a_box_is_claimed_row_by_row(rows: list[str], expected: list[str]) -> None:
    """Each row of a box with a number or a date is a claim about the page; a row of names is none."""
    assert texts(box(*rows)) == expected


def test_a_row_is_quoted_with_its_label() -> None:
    """A claim of a box quotes label and value as they are after the article (R62, R122)."""
    page = a_page(box("Height | 40 m", "Founded | 1240"), title="Norbury")
    claims = [claim for claim in claims_of(page) if claim.section]
    assert [[quote.text for quote in claim.quotes] for claim in claims] == [["Height\t40 m"], ["Founded\t1240"]]
    assert all(is_on_page(quote, page) for claim in claims for quote in claim.quotes)
    assert {claim.citation.words for claim in claims} == {"Norbury — infobox"}


def test_a_box_measures_the_page() -> None:
    """A number of a box is measured of the page's subject, by its label (R60)."""
    claim = claims_of_html(box("Height | 40 m (131 ft)"), title="Norbury (tower)")[-1]
    (measure,) = claim.measures
    assert (claim.type, claim.subject, claim.scope) == ("numeric", "Norbury", "Norbury (Norbury (tower))")
    assert (measure.what, measure.of, measure.quantity.low, measure.quantity.unit) == ("height", "Norbury", 40.0, "m")


def test_a_number_of_a_box_knows_its_year() -> None:
    """The year that is beside a number in its row says when it was so."""
    claim = claims_of_html(box("Population | 5,000 (1805)"))[-1]
    (measure,) = claim.measures
    assert claim.type == "numeric"
    assert measure.when is not None
    assert (f"{measure.quantity.low:g}", measure.when.words()) == ("5000", "1805")


def test_rows_show_where_they_come_from() -> None:
    """The terms of a row's confidence say that it is not a sentence (R65, R125)."""
    sentence, row = claims_of_html(box("Height | 40 m"))
    assert "a row of the page" in str(row.score)
    assert "a row of the page" not in str(sentence.score)
    assert 0 < row.confidence < 1


def test_the_same_row_in_two_tables_is_one_claim() -> None:
    """What a page repeats counts once."""
    claims = claims_of_html(LAKES + LAKES)
    assert [claim.id for claim in claims] == [claim.id for claim in claims_of_html(LAKES)]
