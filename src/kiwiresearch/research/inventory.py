"""What is on the shelf, book by book, with what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kiwiresearch.errors import KiwiError
from kiwiresearch.research.desk import Desk
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.library import Placed, Shelf

CHECKS = {
    "sound": "its bytes match its checksum",
    "unchecked": "not checked for damage yet",
    "no checksum": "it carries no checksum, so damage cannot be seen",
    "damaged": "damaged",
    "unopenable": "cannot be opened",
    "served": "it is on a server, which looks after its own files",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A book on the shelf, and its data sheet or the reason why it has none."""

    placed: Placed
    book: Book | None
    check: str
    problem: KiwiError | None = None
    host: str = ""
    """The other host that has it; empty for a book of this one."""

    def record(self) -> dict[str, Any]:
        known = {
            "id": self.placed.id,
            "name": self.placed.name,
            "title": self.placed.title,
            "source": str(self.placed.source),
            "check": self.check,
            "problem": str(self.problem) if self.problem else None,
        } | ({"host": self.host} if self.host else {})
        if self.book is None:
            return known
        sheet = asdict(self.book)
        sheet["languages"] = list(self.book.languages)
        sheet["tags"] = list(self.book.tags)
        return sheet | known | {"is_wikipedia": self.book.is_wikipedia, "lead_only": self.book.lead_only}


def inventory(desk: Desk, shelf: Shelf) -> list[Row]:
    """Open each book of the shelf and see."""
    rows = []
    for placed in shelf.books:
        try:
            archive = shelf.open(placed)
            verdict = desk.opener.verdict(placed.source)
            state = verdict.state if verdict else "served"
            rows.append(Row(placed, archive.book, state, host=shelf.host_of(placed)))
        except KiwiError as problem:
            rows.append(Row(placed, None, "broken", problem))
    return rows
