"""What one page says about its person, read and checked as a case would, without a case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kiwiresearch.errors import NothingFound
from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.loop.verifying import Checked, Verified, verified
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.guarded import hidden_named
from kiwiresearch.zim.lookup import find_path

GROUPS: dict[str, tuple[FieldName, ...]] = {
    "parents": ("father", "mother", "parent"),
    "spouses": ("spouse", "partner"),
    "children": ("child",),
}


def page_record(books: Sequence[OpenBook], words: str) -> dict[str, Any]:
    """The person of a page, found by its path or title, and every assertion with its quote."""
    source = BookSource(books)
    for book in books:
        path = find_path(book.archive, words)
        if path:
            record = verified(source.fetch(f"zim://{book.book.id}/{path}"))
            if record is not None:
                return {"path": path, "book": book.book.name, **_told(record)}
    raise hidden_named([book.archive for book in books], words) or NothingFound(
        f"No book has a page {words!r}.", remedy="Look for it with 'kiwiresearch search'."
    )


def _told(record: Verified) -> dict[str, Any]:
    read = record.read
    person = None
    if read.is_person:
        kept = sorted(record.kept, key=lambda one: -one.confidence)
        person = {
            "name": read.name or read.title,
            "sex": read.sex,
            "birth": _first(kept, "birth_date"),
            "death": _first(kept, "death_date"),
            **{group: _all(kept, fields) for group, fields in GROUPS.items()},
        }
    return {"title": read.title, "person": person, "why": read.why, "assertions": [_row(one) for one in record.facts]}


def _first(kept: Sequence[Checked], field: FieldName) -> str:
    return next((one.fact.value for one in kept if one.fact.field == field), "")


def _all(kept: Sequence[Checked], fields: tuple[FieldName, ...]) -> list[str]:
    return list(dict.fromkeys(one.fact.value for one in kept if one.fact.field in fields))


def _row(one: Checked) -> dict[str, Any]:
    fact = one.fact
    return {
        "field": fact.field,
        "value": fact.value,
        "quote": fact.snippet.words,
        "start": fact.snippet.start,
        "end": fact.snippet.end,
        "status": one.status,
        "confidence": one.confidence,
        "qualifier": fact.qualifier,
        "method": fact.method,
        "why_rejected": "; ".join(map(str, one.violations)),
    }
