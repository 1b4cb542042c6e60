"""Books, indexes and model of this server, as the home page and the forms show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.errors import KiwiError
from kiwiresearch.llm.model import short_model_name
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.health import PolledValue, offered_models
from kiwiresearch.workspace.inventory import BookStatus, book_statuses
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.library import ListedBook


@dataclass(frozen=True, slots=True)
class BookChoice:
    """A book of the shelf; one that could not be opened has neither date nor language."""

    id: str
    title: str
    date: str = ""
    language: str = ""
    file: str = ""
    """The name of its file, or of the book on the server that has it."""


class BookChoices:
    """What is known of the books of a room."""

    def __init__(self, room: ServerContext) -> None:
        self._room = room
        self._known: dict[str, BookChoice] = {}

    def all(self) -> tuple[BookChoice, ...]:
        """All books in the order of the shelf."""
        books = self._room.shelf.books
        if any(placed.id not in self._known for placed in books):
            with self._room.locked_finder():
                books = self._room.shelf.books
                self._known |= {placed.id: self._one(placed) for placed in books if placed.id not in self._known}
        return tuple(self._known[placed.id] for placed in books)

    def language(self, book: str) -> str:
        """The language of a book, as far as it is known."""
        return next((one.language for one in self.all() if one.id == book), "")

    def languages(self) -> tuple[str, ...]:
        """The languages of the books, each once."""
        return tuple(dict.fromkeys(one.language for one in self.all() if one.language))

    def _one(self, placed: ListedBook) -> BookChoice:
        title = placed.title or placed.name
        file = placed.source.served if placed.source.is_served else placed.source.path.name
        try:
            sheet = self._room.shelf.open(placed).book
        except KiwiError:
            return BookChoice(placed.id, title, file=file)
        return BookChoice(placed.id, title, sheet.date, sheet.language, file)


TIMEOUT_S = 1.5
"""How long the first page waits for what is being looked up."""

ModelState = Literal["none", "answers", "silent", "unknown"]


@dataclass(frozen=True, slots=True)
class ShelfBook:
    """A book as the first page shows it; of one that cannot be opened, only its name is known."""

    title: str
    address: str = ""
    """Where its first page is read; empty where it has none."""
    description: str = ""
    date: str = ""
    size_bytes: int = 0
    languages: tuple[str, ...] = ()
    articles: int = 0
    check: str = ""
    titles: int = 0
    """How many of its titles are indexed."""
    all_titles: bool = True
    full_text: bool = True
    host: str = ""
    """The other host that has it; empty for a book of this one."""

    @property
    def language(self) -> str:
        return self.languages[0] if self.languages else "eng"

    @property
    def is_broken(self) -> bool:
        return self.check in ("broken", "damaged")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The language model, which nothing depends on."""

    state: ModelState
    name: str = ""


class DeskState:
    """What there is to work with; what was seen a moment ago counts."""

    def __init__(self, room: ServerContext) -> None:
        self._settings = room.desk.settings
        self._books = PolledValue(lambda: _shelf(room))
        self._models = PolledValue(lambda: offered_models(self._settings))

    def books(self) -> tuple[ShelfBook, ...] | None:
        """The shelf; None while it is being opened, or somebody has the books for long."""
        return self._books.latest(timeout_s=TIMEOUT_S)

    @property
    def has_model(self) -> bool:
        """Whether the settings name a model, whether it answers or not."""
        return bool(self._settings.model_url.strip())

    def model(self) -> ModelInfo:
        if not self.has_model:
            return ModelInfo("none")
        offered = self._models.latest(timeout_s=TIMEOUT_S)
        if isinstance(offered, tuple):
            return ModelInfo("answers", short_model_name(self._settings.model_name or next(iter(offered), "")))
        return ModelInfo("unknown" if offered is None else "silent")


def _shelf(room: ServerContext) -> tuple[ShelfBook, ...]:
    with room.locked_finder() as finder:
        rows = book_statuses(room.desk, room.shelf)
        try:
            opened: Mapping[str, OpenBook] = {book.book.id: book for book in finder.books}
        except KiwiError:  # one book that cannot be opened must not hide the others
            opened = {}
        return tuple(_shelf_book(row, opened.get(row.placed.id)) for row in rows)


def _shelf_book(row: BookStatus, opened: OpenBook | None) -> ShelfBook:
    book = row.book
    if book is None:
        return ShelfBook(row.placed.title or row.placed.name, check="broken")
    titles = opened.titles if opened else None
    return ShelfBook(
        title=book.title or book.name,
        address=page_address(EntryRef(book.id, book.main_page)) if book.main_page else "",
        description=book.description,
        date=book.date,
        size_bytes=book.size_bytes,
        languages=book.languages,
        articles=book.articles,
        check=row.check,
        titles=titles.rows if titles else 0,
        all_titles=bool(row.check == "served" or opened is None or (titles and titles.complete)),
        full_text=book.indexes.full_text,
        host=row.host,
    )
