"""Claims from tables and boxes: a number or a date, with the labels that say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kiwiresearch.claims.claim import Claim, ClaimType, Measure, Signals
from kiwiresearch.claims.confidence import score_of
from kiwiresearch.claims.theme import BRACKETED
from kiwiresearch.evidence.citation import BOX
from kiwiresearch.evidence.quote import Quote, span
from kiwiresearch.page.doc import Cell, Infobox, InfoboxRow, PageDoc, Table
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.when import dates_in

MOST_FROM_TABLES = 60
"""A page of statistics does not fill a brief."""
LONGEST_CELL = 100
LONGEST_LABEL = 60
HAS_DIGIT = re.compile(r"\d")
NO_LABEL = re.compile(r"^[\W\d_]*$")


def claims_of_boxes(page: PageDoc, book_name: str) -> list[Claim]:
    """What the boxes of a page say in numbers and dates."""
    found = []
    name = BRACKETED.sub("", page.title) or page.title
    for box in page.infoboxes:
        for row, heading in _under_headings(box):
            key = " ".join(row.key.split()).strip(DASHES)
            value = " ".join(row.value.split())
            if not key or NO_LABEL.match(key) or len(key) > LONGEST_LABEL or not HAS_DIGIT.search(value):
                continue
            if len(value) > LONGEST_CELL:
                continue
            quotes: tuple[Quote, ...] = (_with_label(page, row.key, row.start, row.end),)
            label = key
            at = page.text.rfind(heading, box.start, row.start) if heading else -1
            if at >= 0:
                label = f"{' '.join(heading.split())}, {key}"
                quotes = (*quotes, span(page, at, at + len(heading)))
            claim = _claim(page, name, label, value, quotes, book_name, BOX, "")
            if claim is not None:
                found.append(claim)
    return found


def _under_headings(box: Infobox) -> Iterator[tuple[InfoboxRow, str]]:
    """The rows of a box with the heading each stands under.

    A row with a dash belongs to the last one without: 'Population', '- Total', 'GDP | 2006 estimate', '- Total'.
    """
    group = heading = ""
    with_dashes = False
    for row in box.rows:
        dashed = row.key.strip()[:1] in DASHES
        if row.group != group:
            group = heading = row.group
            with_dashes = False
        with_dashes |= dashed
        if with_dashes and not dashed:
            heading = row.key
        yield row, "" if heading == row.key else heading


DASHES = "-–—•· "


def _with_label(page: PageDoc, key: str, start: int, end: int) -> Quote:
    """The value, and the label right before it where it stands there."""
    at = page.text.rfind(key, max(start - len(key) - 4, 0), start) if key else -1
    return span(page, at if at >= 0 and not page.text[at + len(key) : start].strip(" :\t\n") else start, end)


def claims_of_tables(page: PageDoc, book_name: str) -> list[Claim]:
    """What the tables of a page say in numbers, as long as rows and columns have names."""
    found: list[Claim] = []
    for table in page.tables:
        for claim in _of_table(page, table, book_name):
            found.append(claim)
            if len(found) == MOST_FROM_TABLES:
                return found
    return found


def _of_table(page: PageDoc, table: Table, book_name: str) -> Iterator[Claim]:
    if len(table.rows) < 2:
        return
    head, *rows = table.rows
    headings = [_words(page, cell) for cell in head]
    if len(head) < 2 or not all(cell.is_header for cell in head) or not all(map(_is_label, headings[1:])):
        return
    section, path = page.sections[table.section], page.headings(table.section)
    for row in rows:
        if len(row) != len(head):
            continue
        label = _words(page, row[0])
        if not _is_label(label):
            continue
        for cell, heading_cell, heading in zip(row[1:], head[1:], headings[1:], strict=True):
            value = _words(page, cell)
            if not HAS_DIGIT.search(value) or len(value) > LONGEST_CELL:
                continue
            quotes = tuple(span(page, one.start, one.end) for one in (cell, row[0], heading_cell))
            claim = _claim(page, label, heading, value, quotes, book_name, section.heading, section.anchor, path)
            if claim is not None:
                yield claim


def _words(page: PageDoc, cell: Cell) -> str:
    return " ".join(page.text[cell.start : cell.end].split())


def _is_label(text: str) -> bool:
    return bool(text) and len(text) <= LONGEST_LABEL and not NO_LABEL.match(text)


def _claim(
    page: PageDoc,
    subject: str,
    label: str,
    value: str,
    quotes: Sequence[Quote],
    book_name: str,
    section: str,
    anchor: str,
    headings: tuple[str, ...] = (),
) -> Claim | None:
    """The words 'subject — label: value', numeric or dated; None if the value is neither."""
    before = f"{subject} — {label}: "
    text = before + value
    dates = dates_in(text, page.language)
    dates = [one for one in dates if one.start >= len(before)]
    quantities = [
        one
        for one in quantities_in(text, page.language, not_in=[(one.start, one.end) for one in dates])
        if one.start >= len(before)
    ]
    if not dates and not quantities:
        return None
    kind: ClaimType = "numeric" if quantities else "timeline"
    signals = Signals(page_references=page.signals.references, stub=page.signals.stub.holds)
    when = dates[0].when if dates and quantities else None
    return Claim(
        text=text,
        type=kind,
        subject=subject,
        scope=subject if subject == page.title else f"{subject} ({page.title})",
        quotes=tuple(quotes),
        page_title=page.title,
        section=section,
        anchor=anchor,
        headings=headings,
        book_name=book_name,
        tags=tuple(dict.fromkeys((subject.lower(), label.lower()))),
        signals=signals,
        measures=tuple(Measure(one, label.lower(), subject, when) for one in quantities if not one.converted),
        dates=tuple(dates),
        score=score_of(signals, (), points=0.0, table=True),
    )
