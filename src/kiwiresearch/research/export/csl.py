"""Sources as CSL-JSON, which Zotero, Pandoc and citation processors read."""

from __future__ import annotations

from typing import Any

from kiwiresearch.ids import canonical_json
from kiwiresearch.research.export.citations import Cited, cited
from kiwiresearch.research.export.findings import Findings


def csl(findings: Findings) -> str:
    """A list with an item for each book and each page."""
    return canonical_json([_item(source) for source in cited(findings)], indent=2) + "\n"


def _item(source: Cited) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": source.key,
        "type": "chapter" if source.is_page else "book",
        "title": source.title,
        "container-title": source.book_title,
        "edition": source.date,
        "language": source.language,
        "URL": source.url,
        "archive": "ZIM",
        "archive_location": source.place,
        "note": source.note,
    }
    known = {name: value for name, value in item.items() if value}
    return known | ({"issued": {"date-parts": [[int(part) for part in source.day]]}} if source.day else {})
