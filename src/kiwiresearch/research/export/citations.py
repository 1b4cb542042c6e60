"""The books and pages of a run as sources to cite, before they have the form of one program."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from kiwiresearch.brief.document import SCHEMES, address
from kiwiresearch.research.export.findings import DATE, Findings, title_of
from kiwiresearch.text.languages import three_letter_code, two_letter_code
from kiwiresearch.text.plain import printable

LONGEST_KEY = 40


@dataclass(frozen=True, slots=True)
class Cited:
    """A source: a book, or a page of one."""

    key: str
    """Letters and figures of ASCII; no two sources of a run have the same, in capitals or not."""
    title: str
    book_title: str
    """The book that a page is in; empty of a book."""
    date: str
    """Of the book: the page reads so in this edition of it."""
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
        """What names the source in any copy of the book."""
        return f"{self.uuid}/{self.path}" if self.is_page else self.uuid

    @property
    def note(self) -> str:
        path = f", path {self.path}" if self.is_page else ""
        return f"ZIM file {self.uuid}{path}"


def cited(findings: Findings) -> tuple[Cited, ...]:
    """All books that were used, then all pages that were read, in their order."""
    taken: set[str] = set()
    books = [
        _cited(taken, title=title_of(book), date=book.date, language=book.language, uuid=str(book.id))
        for book in findings.brief.sources.books
    ]
    pages = [
        _cited(
            taken,
            title=page.title,
            book_title=page.book_title,
            date=page.book.date,
            language=page.book.language,
            url=page.source.url,
            uuid=str(page.book.id),
            path=page.source.ref.path,
        )
        for page in findings.pages
    ]
    return (*books, *pages)


def _cited(
    taken: set[str],
    *,
    title: str,
    date: str,
    language: str,
    uuid: str,
    book_title: str = "",
    url: str = "",
    path: str = "",
) -> Cited:
    return Cited(
        key=_key(title, date, taken),
        title=_line(title),
        book_title=_line(book_title),
        date=_line(date),
        language=two_letter_code(three_letter_code(language)),
        url=address(url) if url.startswith(SCHEMES) else "",
        uuid=_line(uuid),
        path=_line(path),
    )


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def _key(title: str, date: str, taken: set[str]) -> str:
    """'hattusa2025', and 'hattusa2025-2' where that is another's."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))[:LONGEST_KEY].strip("-")
    year = re.match(r"\d{4}", date)
    parts = [words or "source"]
    if year and words.split("-")[-1] != year[0]:  # editions often have it in their title
        parts.append(year[0])
    first = "-".join(parts)
    key, number = first, 1
    while key in taken:
        number += 1
        key = f"{first}-{number}"
    taken.add(key)
    return key
