"""The books of the shelf as a form offers them: each with its date and language, looked up once."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.errors import KiwiError
from kiwiresearch.web.room import Room
from kiwiresearch.zim.library import Placed


@dataclass(frozen=True, slots=True)
class BookHere:
    """A book of the shelf; one that could not be opened has neither date nor language."""

    id: str
    title: str
    date: str = ""
    language: str = ""
    file: str = ""
    """The name of its file, or of the book on the server that has it."""


class BooksHere:
    """What is known of the books of a room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._known: dict[str, BookHere] = {}

    def all(self) -> tuple[BookHere, ...]:
        """All books in the order of the shelf."""
        books = self._room.shelf.books
        if any(placed.id not in self._known for placed in books):
            with self._room.reading():
                books = self._room.shelf.books
                self._known |= {placed.id: self._one(placed) for placed in books if placed.id not in self._known}
        return tuple(self._known[placed.id] for placed in books)

    def language(self, book: str) -> str:
        """The language of a book, as far as it is known."""
        return next((one.language for one in self.all() if one.id == book), "")

    def languages(self) -> tuple[str, ...]:
        """The languages of the books, each once."""
        return tuple(dict.fromkeys(one.language for one in self.all() if one.language))

    def _one(self, placed: Placed) -> BookHere:
        title = placed.title or placed.name
        file = placed.source.served if placed.source.is_served else placed.source.path.name
        try:
            sheet = self._room.shelf.open(placed).book
        except KiwiError:
            return BookHere(placed.id, title, file=file)
        return BookHere(placed.id, title, sheet.date, sheet.language, file)
