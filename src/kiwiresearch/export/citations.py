"""The books and pages of a run as sources to cite: BibTeX, RIS and CSL-JSON."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.brief import SourceBook
from kiwiresearch.codec import JsonDict
from kiwiresearch.document import ALLOWED_LINK_STARTS, safe_address
from kiwiresearch.export.findings import DATE, RunFindings
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs import book_title
from kiwiresearch.text import printable, short_language_code

MAX_KEY = 40


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source: a book, or a page of one."""

    key: str
    """ASCII letters, digits and hyphens; unique within a run, even ignoring case."""
    title: str
    book_title: str
    """The book that a page is in; empty for a book."""
    date: str
    """Of the edition of the book."""
    language: str
    url: str
    uuid: str
    path: str

    @property
    def is_page(self) -> bool:
        return bool(self.book_title)

    @property
    def day(self) -> tuple[str, ...]:
        """Year, month and day, as far as they are known."""
        if found := DATE.match(self.date):
            return tuple(found[0].split("-"))
        found = re.match(r"\d{4}(?!\d)", self.date)
        return (found[0],) if found else ()

    @property
    def place(self) -> str:
        """Identifies the source in any copy of the book."""
        return f"{self.uuid}/{self.path}" if self.is_page else self.uuid

    @property
    def note(self) -> str:
        path = f", path {self.path}" if self.is_page else ""
        return f"ZIM file {self.uuid}{path}"


def cited_sources(findings: RunFindings) -> tuple[CitedSource, ...]:
    """All books that were used, then all pages that were read, in order."""
    taken: set[str] = set()
    books = [_cited(taken, book, book_title(book)) for book in findings.brief.sources.books]
    pages = [
        _cited(taken, page.book, page.title, page.book_title, page.source.url, page.source.ref.path)
        for page in findings.pages
    ]
    return (*books, *pages)


def _cited(
    taken: set[str], book: SourceBook, title: str, book_title: str = "", url: str = "", path: str = ""
) -> CitedSource:
    return CitedSource(
        key=_key(title, book.date, taken),
        title=_line(title),
        book_title=_line(book_title),
        date=_line(book.date),
        language=short_language_code(book.language),
        url=safe_address(url) if url.startswith(ALLOWED_LINK_STARTS) else "",
        uuid=_line(str(book.id)),
        path=_line(path),
    )


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def _key(title: str, date: str, taken: set[str]) -> str:
    """'hattusa2025', or 'hattusa2025-2' if that is taken."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))[:MAX_KEY].strip("-")
    year = re.match(r"\d{4}", date)
    parts = [words or "source"]
    if year and words.split("-")[-1] != year[0]:  # titles of editions often end in the year
        parts.append(year[0])
    first = "-".join(parts)
    key, number = first, 1
    while key in taken:
        number += 1
        key = f"{first}-{number}"
    taken.add(key)
    return key


# BibTeX counts even escaped braces, so they must be balanced.
SIGNS = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        **{sign: f"\\{sign}" for sign in "#$%&_"},
    }
)
IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '{}\\"^`<>|'})
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(findings: RunFindings) -> str:
    """An entry for each book and each page."""
    return "\n".join(map(_bibtex_entry, cited_sources(findings)))


def _bibtex_entry(source: CitedSource) -> str:
    kind = "incollection" if source.is_page else "misc"
    fields = ",\n".join(f"  {name} = {value}" for name, value in _bibtex_fields(source))
    return f"@{kind}{{{source.key},\n{fields}\n}}\n"


def _bibtex_fields(source: CitedSource) -> Iterator[tuple[str, str]]:
    # double braces keep styles from changing the case of names
    yield "title", f"{{{{{_text(source.title)}}}}}"
    if source.is_page:
        yield "booktitle", f"{{{{{_text(source.book_title)}}}}}"
    day = source.day
    if day:
        yield "year", f"{{{day[0]}}}"
    if len(day) > 1:
        yield "month", MONTHS[int(day[1]) - 1]
    if source.language:
        yield "language", f"{{{_text(source.language)}}}"
    if source.url:
        yield "url", f"{{{source.url.translate(IN_ADDRESS)}}}"
    edition = f", edition of {_text(source.date)}" if source.date else ""
    yield "note", f"{{{_text(source.note)}{edition}}}"


def _text(text: str) -> str:
    return text.translate(SIGNS)


LINE_END = "\r\n"


def ris(findings: RunFindings) -> str:
    """A record for each book and each page."""
    return LINE_END.join(_ris_record(source) for source in cited_sources(findings))


def _ris_record(source: CitedSource) -> str:
    # Empty fields lose the space at their end, but the line that ends a record must have one.
    lines = [f"{tag}  - {value}".rstrip(" ") if tag != "ER" else "ER  - " for tag, value in _ris_fields(source)]
    return LINE_END.join(lines) + LINE_END


def _ris_fields(source: CitedSource) -> Iterator[tuple[str, str]]:
    yield "TY", "CHAP" if source.is_page else "BOOK"
    yield "ID", source.key
    yield "TI", source.title
    if source.is_page:
        yield "T2", source.book_title
    day = source.day
    if day:
        yield "PY", day[0]
        # Always three slashes, as RIS has them: "2024/05/01/" or "2024///".
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


def csl(findings: RunFindings) -> str:
    """A list with an item for each book and each page."""
    return canonical_json([_csl_item(source) for source in cited_sources(findings)], indent=2) + "\n"


def _csl_item(source: CitedSource) -> JsonDict:
    item: JsonDict = {
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
