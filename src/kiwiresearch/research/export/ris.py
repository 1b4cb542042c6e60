"""Sources as RIS, which Zotero, EndNote, Mendeley and library catalogues read."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.research.export.citations import Cited, cited
from kiwiresearch.research.export.findings import Findings

LINE_END = "\r\n"


def ris(findings: Findings) -> str:
    """A record for each book and each page."""
    return LINE_END.join(_record(source) for source in cited(findings))


def _record(source: Cited) -> str:
    lines = [f"{tag}  - {value}".rstrip(" ") if tag != "ER" else "ER  - " for tag, value in _fields(source)]
    return LINE_END.join(lines) + LINE_END


def _fields(source: Cited) -> Iterator[tuple[str, str]]:
    yield "TY", "CHAP" if source.is_page else "BOOK"
    yield "ID", source.key
    yield "TI", source.title
    if source.is_page:
        yield "T2", source.book_title
    day = source.day
    if day:
        yield "PY", day[0]
        yield "DA", "/".join([*day, "", "", ""][:4])
    if source.date:
        yield "ET", source.date
    if source.language:
        yield "LA", source.language
    if source.url:
        yield "UR", source.url
    yield "AN", source.place
    yield "N1", source.note
    yield "ER", ""
