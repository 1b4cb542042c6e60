"""Tables, and lists in them, are read as rows of cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.page.pages import a_page, kinds, tables

SEAS = """<h2>Seas</h2><table class="wikitable"><caption>Seas by size</caption>
<thead><tr><th>Name</th><th>Size</th></tr></thead>
<tbody><tr><td><span style="display:none">01</span>North Sea</td><td>570<sup>[1]</sup></td></tr>
<tr><th scope="row">Baltic Sea</th><td>377<br>about</td></tr></tbody></table><p>Done.</p>"""


def test_table_is_read_as_rows() -> None:
    """A table is its rows, a row its cells apart by tabs, without sort keys and marks."""
    page = a_page(SEAS)
    assert tables(page) == [[["Name", "Size"], ["North Sea", "570"], ["Baltic Sea", "377\nabout"]]]
    assert page.text == ("Seas\n\nSeas by size\n\nName\tSize\n\nNorth Sea\t570\nBaltic Sea\t377\nabout\n\nDone.")


def test_table_knows_caption_section_and_header_cells() -> None:
    """A table has its caption, the section it is in, and which cells are headers."""
    page = a_page(SEAS)
    (table,) = page.tables
    assert table.caption == "Seas by size"
    assert page.sections[table.section].heading == "Seas"
    assert [[cell.is_header for cell in row] for row in table.rows] == [
        [True, True],
        [False, False],
        [True, False],
    ]


@given(
    st.lists(
        st.lists(st.sampled_from(["Kiel", "two words", "1,5 m", "é", "中"]), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_cells_come_back_as_they_went_in(grid: list[list[str]]) -> None:
    """Whatever words a table has, its rows have the same ones in the same order."""
    html = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in grid)
    page = a_page(f"<table>{html}</table>")
    assert tables(page) == [grid]
    assert page.text == "\n".join("\t".join(row) for row in grid)


def test_empty_cells_keep_their_column() -> None:
    """A cell without words is still a cell."""
    page = a_page("<table><tr><td>a</td><td></td><td>c</td></tr><tr><td>d</td><td> </td><td>f</td></tr></table>")
    assert tables(page) == [[["a", "", "c"], ["d", "", "f"]]]


def test_nested_tables_are_tables_of_their_own() -> None:
    """A table in a cell is read as a table, and its words are the cell's too."""
    page = a_page(
        "<table><tr><td>Kiel</td><td><table><tr><td>in</td><td>ner</td></tr></table></td><td>Bonn</td></tr>"
        "<tr><td>last</td></tr></table><p>After.</p>"
    )
    assert tables(page) == [[["in", "ner"]], [["Kiel", "in\tner", "Bonn"], ["last"]]]
    assert kinds(page)[-1] == "paragraph: After."


def test_lists_in_cells_stay_in_their_cell() -> None:
    """A list in a cell breaks the lines of the cell, not the row."""
    page = a_page("<table><tr><th>Crew</th><td><ul><li>Ann</li><li>Bob</li></ul></td><td>end</td></tr></table>")
    assert tables(page) == [[["Crew", "Ann\nBob", "end"]]]
    assert page.text == "Crew\tAnn\nBob\tend"


@pytest.mark.parametrize("block", ["p", "div", "center", "section", "ul><li", "dl><dd"])
def test_blocks_in_cells_do_not_break_the_row(block: str) -> None:
    """Cells are on one line, apart by a tab, whatever block their words are in."""
    names = block.split("><")
    ends = "".join(f"</{name}>" for name in reversed(names))
    page = a_page(f"<table><tr><td><{block}>a{ends}</td><td><{block}>b{ends}</td></tr></table>")
    assert (page.text, tables(page)) == ("a\tb", [[["a", "b"]]])


def test_tables_in_lists_end_with_their_list_item() -> None:
    """What follows a table in a list is an item again."""
    page = a_page("<ul><li>one<table><tr><td>a</td><td>b</td></tr></table></li><li>two</li></ul>")
    assert kinds(page) == ["item: one", "row: a\tb", "item: two"]


def test_paragraph_laid_out_with_a_table_is_a_paragraph() -> None:
    """A long line in a single cell is prose, whatever tag its author put it in."""
    prose = "The tower was built by two brothers who had come from the north. " * 4
    page = a_page(f"<table><tr><td>{prose}</td></tr><tr><td>short</td></tr></table>")
    assert [block.kind for block in page.blocks] == ["paragraph", "row"]


def test_tables_without_words_are_not_tables() -> None:
    """A table without rows leaves nothing behind."""
    page = a_page("<p>a</p><table></table><table><tbody></tbody></table><table><tr></tr></table><p>b</p>")
    assert (page.text, page.tables) == ("a\n\nb", ())
