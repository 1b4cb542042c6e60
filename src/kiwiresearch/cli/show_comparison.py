"""What people see of a comparison: what the runs were made from, and each claim that differs."""

from __future__ import annotations

from itertools import groupby

from kiwiresearch.cli.show import line
from kiwiresearch.research.book_pairs import BookPair
from kiwiresearch.research.comparing import Comparison
from kiwiresearch.research.differences import KINDS, Difference, counts_of, differences
from kiwiresearch.text.plain import printable

HEADINGS = {
    "numbers": "Other numbers",
    "changed": "Other words",
    "new": "New",
    "gone": "Gone",
}


def comparison(found: Comparison) -> None:
    """The books, settings and pages first, then the claims, then the sentences of the briefs."""
    for pair in found.books:
        line(_book(pair))
    for setting in found.settings:
        line(f"{setting.name}: {_value(setting.old)} → {_value(setting.new)}")
    pages = f"{found.pages_both:,} in both, {len(found.pages_new):,} new, {len(found.pages_gone):,} gone"
    line(f"Pages: {pages}")
    for kind in KINDS:
        _differences(kind, differences(found, kind))
    _statements("New in the brief", [one.text for one in found.statements_new])
    _statements("Gone from the brief", [one.text for one in found.statements_gone])
    line("")
    counts = counts_of(found)
    told = ", ".join(f"{counts[kind]:,} {HEADINGS[kind].lower()}" for kind in KINDS)
    line(f"Claims: {told}, {found.same:,} the same.")


def _book(pair: BookPair) -> str:
    book = pair.new or pair.old
    title = printable(book.title or book.name or book.id) if book else ""
    if pair.kind == "snapshot" and pair.old and pair.new:
        return f"Book: {title}, snapshots of {printable(pair.old.date)} and {printable(pair.new.date)}"
    where = {"same": "the same in both", "only old": "only in the old run", "only new": "only in the new run"}
    return f"Book: {title}, {where.get(pair.kind, '')}"


def _value(value: object) -> str:
    return printable(str(value)) if value not in (None, "", []) else "none"


def _differences(kind: str, rows: list[Difference]) -> None:
    if not rows:
        return
    line("")
    line(f"{HEADINGS[kind]} ({len(rows):,})")
    for page, of_page in groupby(rows, _page):
        line(f"  {page}")
        for row in of_page:
            for sign, claim in (("-", row.old), ("+", row.new)):
                if claim:
                    line(f"    {sign} {printable(claim.text)}")


def _page(row: Difference) -> str:
    which = "" if row.page_in_both else f" (read by the {'new' if row.new else 'old'} run only)"
    return printable(row.claim.page_title) + which


def _statements(heading: str, texts: list[str]) -> None:
    if texts:
        line("")
        line(f"{heading} ({len(texts):,})")
    for text in texts:
        line(f"  {printable(text)}")
