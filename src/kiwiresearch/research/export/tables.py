"""Two tables, of pages and of links, as Gephi's importer and spreadsheets read them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from kiwiresearch.research.export.fields import (
    LINK_FIELDS,
    LINK_LABEL,
    LINK_WEIGHT,
    PAGE_FIELDS,
    PAGE_LABEL,
    Value,
    spelled,
)
from kiwiresearch.research.export.reading import RunGraph

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a text begins that a spreadsheet would compute; some take the wide signs of Asian keyboards too."""

BACKSLASHES = re.compile(r'\\+(?="|\Z)')


def page_table(run: RunGraph) -> str:
    header = ["Id", "Label", *(field.name for field in PAGE_FIELDS)]
    return table(
        header,
        ([page.ref, PAGE_LABEL.of(page), *(field.of(page) for field in PAGE_FIELDS)] for page in run.pages),
    )


def link_table(run: RunGraph) -> str:
    header = ["Source", "Target", "Type", "Weight", "Label", *(field.name for field in LINK_FIELDS)]
    rows = (
        [
            link.source,
            link.target,
            "Directed",
            LINK_WEIGHT.of(link),
            LINK_LABEL.of(link),
            *(field.of(link) for field in LINK_FIELDS),
        ]
        for link in run.links
    )
    return table(header, rows)


def table(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Rows under their header, as the CSV standard writes them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Value) -> str:
    """Numbers as they are; a text that looks like a formula behind an apostrophe."""
    if not isinstance(value, str):
        return spelled(value)
    # for Gephi a backslash before a quote hides the quote, and with it the end of the cell
    text = BACKSLASHES.sub(r"\g<0> ", value)
    return f"'{text}" if FORMULA.match(text) else text
