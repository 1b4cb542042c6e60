"""What a list or table of relatives says of each of them: when they were born, and when they died."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiwiresearch.kin.extract.lead import cut
from kiwiresearch.kin.extract.lifespan import date_in, lifespan_in
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import Span
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import FieldName
from kiwiresearch.page.doc import Cell, PageDoc
from kiwiresearch.text.when import DateRange

TOLD = 0.75
BRACKET = regex.compile(r"\s*\((?P<inside>[^()\n]{3,80})\)")
ABOUT_OTHERS = regex.compile(r"\b(?:m\.|married|by|reign\w*|ruled|r\.|with|King|Queen|Emperor)(?!\w)", regex.IGNORECASE)
COLUMNS: tuple[tuple[FieldName, str], ...] = (
    ("birth_date", r"(?:date of )?(?:birth|born)(?: ?date)?"),
    ("death_date", r"(?:date of )?(?:death|died)(?: ?date)?"),
)
HEADS = tuple((field, regex.compile(form, regex.IGNORECASE)) for field, form in COLUMNS)
ONLY_DATE = regex.compile(r"[\s\d\p{L}.,/–-]{4,40}")


def behind_name(page: PageDoc, name: Span, stop: int) -> tuple[Extracted, ...]:
    """The life in the bracket right behind a name: 'John (12 July 1905 – 18 January 1919)'."""
    found = BRACKET.match(page.text, name.end, stop)
    if not found or ABOUT_OTHERS.search(found["inside"]):
        return ()
    life = lifespan_in(found["inside"], page.language)
    if life is None:
        return ()
    quoted = Span(name.start, found.end())
    dates: list[tuple[FieldName, DateRange | None]] = [
        ("baptism_date" if life.is_baptism else "birth_date", life.birth),
        ("death_date", life.death),
    ]
    return tuple(_date(page, field, when, quoted, "the dates behind the name") for field, when in dates if when)


def in_row(page: PageDoc, header: Sequence[Cell], row: Sequence[Cell]) -> tuple[Extracted, ...]:
    """The dates in the columns 'Birth' and 'Death' right behind the name."""
    return tuple(_dates_in(page, header, row)) if len(row) == len(header) else ()


def _dates_in(page: PageDoc, header: Sequence[Cell], row: Sequence[Cell]) -> Iterator[Extracted]:
    for (field, head), title, cell in zip(HEADS, header[1:], row[1:], strict=False):
        words = page.text[cell.start : cell.end]
        if not head.fullmatch(page.text[title.start : title.end].strip()) or not ONLY_DATE.fullmatch(words):
            return
        when = date_in(words, page.language)
        if when is not None:
            yield _date(page, field, when, Span(row[0].start, cell.end), "a column of the table")


def _date(page: PageDoc, field: FieldName, when: DateRange, quoted: Span, because: str) -> Extracted:
    return Extracted(field, when.edtf(), cut(page, quoted), "prose", TOLD, when=when, rationale=because)
