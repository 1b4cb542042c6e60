"""All claims of a run as a table for spreadsheets and statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.claims.claim import Claim
from kiwiresearch.research.export.fields import Value
from kiwiresearch.research.export.findings import Findings, SourcePage
from kiwiresearch.research.export.remarks import note_in_words
from kiwiresearch.research.export.tables import table

COLUMNS = (
    "claim_id",
    "type",
    "claim",
    "quote",
    "more_quotes",
    "page",
    "section",
    "book",
    "book_date",
    "hedging",
    "confidence",
    "subject",
    "scope",
    "tags",
    "origin",
    "path",
    "book_id",
    "start",
    "end",
    "url",
    "notes",
)
BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel takes the file for one of its own old encodings."""


def claim_table(findings: Findings) -> str:
    """One row for each claim, page by page."""
    notes = {target: [note_in_words(note) for note in some] for target, some in findings.notes_on_claims.items()}
    return BYTE_ORDER_MARK + table(COLUMNS, (row for page in findings.pages for row in _rows(page, notes)))


def _rows(page: SourcePage, notes: Mapping[str, Sequence[str]]) -> Iterator[Sequence[Value]]:
    for claim in page.claims:
        yield _row(page, claim, "\n".join(notes.get(claim.id, ())))


def _row(page: SourcePage, claim: Claim, notes: str) -> Sequence[Value]:
    first, *others = claim.quotes
    return (
        claim.id,
        claim.type,
        claim.text,
        first.text,
        "\n".join(quote.text for quote in others),
        page.title,
        claim.section,
        page.book_title,
        page.book.date,
        ", ".join(dict.fromkeys(hedge.cue for hedge in claim.hedges)),
        claim.confidence,
        claim.subject,
        claim.scope,
        ", ".join(claim.tags),
        claim.origin,
        claim.ref.path,
        str(claim.ref.book),
        first.start,
        first.end,
        page.source.url,
        notes,
    )
