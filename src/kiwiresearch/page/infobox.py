"""Infoboxes: rows of label and value, read with the same pass as the article."""

from __future__ import annotations

from bisect import bisect_left

from kiwiresearch.page.doc import Cell, Infobox, InfoboxRow, Link
from kiwiresearch.page.found import Flow

LONGEST_LABEL = 60


def rows_of(box: Flow, links: list[Link], text: str, offset: int) -> Infobox:
    """What a box says; `offset` is where its text starts in the page's text."""
    rows: list[InfoboxRow] = []
    title = group = ""
    in_text = sorted((link for link in links if link.in_text), key=lambda link: link.start)
    starts = [link.start for link in in_text]
    for table in sorted(box.tables, key=lambda table: table.rows[0][0].start):
        title = title or table.caption
        for cells in table.rows:
            filled = [_shifted(cell, offset) for cell in cells if cell.end > cell.start]
            if len(filled) == 1:
                line = text[filled[0].start : filled[0].end].partition("\n")[0]
                if not rows and not title:
                    title = line
                elif filled[0].is_header:
                    group = line
            row = _row(filled, group, in_text, starts, text)
            if row:
                rows.append(row)
    rows.sort(key=lambda row: row.start)
    return Infobox(title, offset, offset + len(box.text), tuple(rows))


def _row(cells: list[Cell], group: str, links: list[Link], starts: list[int], text: str) -> InfoboxRow | None:
    if len(cells) < 2:
        return None
    label, start, end = cells[0], cells[1].start, cells[-1].end
    key = text[label.start : label.end].rstrip(":").strip()
    if "\n" in key or len(key) > LONGEST_LABEL or not key:
        return None
    inside = links[bisect_left(starts, start) : bisect_left(starts, end)]
    return InfoboxRow(key.strip("•· "), text[start:end], group, start, end, tuple(inside))


def _shifted(cell: Cell, offset: int) -> Cell:
    return Cell(cell.start + offset, cell.end + offset, cell.is_header)
