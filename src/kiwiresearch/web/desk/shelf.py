"""Books, indexes and model of this server, for the home page and the forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.errors import KiwiError
from kiwiresearch.llm import short_model_name
from kiwiresearch.search import OpenBook
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.health import PolledValue, offered_models
from kiwiresearch.workspace import BookState, BookStatus, Settings, book_statuses
from kiwiresearch.zim import EntryRef, ListedBook


@dataclass(frozen=True, slots=True)
class BookChoice:
    """A book of the shelf; one that cannot be opened has no date and no language."""

    id: str
    title: str
    date: str = ""
    language: str = ""
    file: str = ""
    """The name of its file, or of the book on the server that has it."""


class BookChoices:
    """The books of a server as forms offer them; each is opened once."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._choices: dict[str, BookChoice] = {}

    def all(self) -> tuple[BookChoice, ...]:
        """All books in the order of the shelf."""
        books = self._context.shelf.books
        if any(listed.id not in self._choices for listed in books):
            with self._context.locked_finder():
                books = self._context.shelf.books
                self._choices |= {listed.id: self._one(listed) for listed in books if listed.id not in self._choices}
        return tuple(self._choices[listed.id] for listed in books)

    def language(self, book: str) -> str:
        """The language of a book; empty if it is not known."""
        return next((book_choice.language for book_choice in self.all() if book_choice.id == book), "")

    def languages(self) -> tuple[str, ...]:
        """The languages of the books, each once."""
        return tuple(dict.fromkeys(book_choice.language for book_choice in self.all() if book_choice.language))

    def _one(self, listed: ListedBook) -> BookChoice:
        title = listed.title or listed.name
        file = listed.source.served if listed.source.is_served else listed.source.path.name
        try:
            book = self._context.shelf.open(listed).book
        except KiwiError:
            return BookChoice(listed.id, title, file=file)
        return BookChoice(listed.id, title, book.date, book.language, file)


TIMEOUT_S = 1.5
"""How long the home page waits for books and model."""

ModelState = Literal["none", "answers", "silent", "unknown"]


@dataclass(frozen=True, slots=True)
class ShelfBook:
    """A book as the home page shows it; one that cannot be opened has only a name."""

    title: str
    id: str = ""
    address: str = ""
    """The address of its main page; empty if it has none."""
    description: str = ""
    date: str = ""
    size_bytes: int = 0
    languages: tuple[str, ...] = ()
    articles: int = 0
    check: BookState | Literal[""] = ""
    titles: int = 0
    """The number of its titles in the index."""
    all_titles: bool = True
    full_text: bool = True
    host: str = ""
    """The other host that has it; empty for a book of this host."""

    @property
    def language(self) -> str:
        return self.languages[0] if self.languages else "eng"

    @property
    def is_broken(self) -> bool:
        return self.check in ("unopenable", "damaged")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The language model, and whether it answers."""

    state: ModelState
    name: str = ""


class DeskState:
    """The books and the model of a server, as of a moment ago."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._known_books = context.shelf.current_books()
        self._seen_model = (context.workspace.settings.model_url, context.workspace.settings.model_name)
        self._books = PolledValue(lambda: _shelf(context))
        self._models = PolledValue(lambda: offered_models(self._settings))

    def books(self) -> tuple[ShelfBook, ...] | None:
        """The shelf; None if the books are still being opened or are busy."""
        if self._known_books != (current := self._context.shelf.current_books()):
            self._known_books = current
            self._books.expire()
        return self._books.latest(timeout_s=TIMEOUT_S)

    @property
    def _settings(self) -> Settings:
        return self._context.workspace.settings

    @property
    def has_model(self) -> bool:
        """Whether the settings name a model, even if it does not answer."""
        return bool(self._settings.model_url.strip())

    def model(self) -> ModelInfo:
        if not self.has_model:
            return ModelInfo("none")
        if self._seen_model != (named := (self._settings.model_url, self._settings.model_name)):
            self._seen_model = named
            self._models.expire()
        offered = self._models.latest(timeout_s=TIMEOUT_S)
        if isinstance(offered, tuple):
            return ModelInfo("answers", short_model_name(self._settings.model_name or next(iter(offered), "")))
        return ModelInfo("unknown" if offered is None else "silent")


def _shelf(context: ServerContext) -> tuple[ShelfBook, ...]:
    with context.locked_finder() as finder:
        rows = book_statuses(context.workspace, context.shelf)
        try:
            opened: Mapping[str, OpenBook] = {book.id: book for book in finder.books}
        except KiwiError:  # one book that cannot be opened must not hide the others
            opened = {}
        return tuple(_shelf_book(row, opened.get(row.listed.id)) for row in rows)


def _shelf_book(row: BookStatus, opened: OpenBook | None) -> ShelfBook:
    book = row.book
    if book is None:
        return ShelfBook(row.listed.title or row.listed.name, row.listed.id, check="unopenable")
    titles = opened.titles if opened else None
    return ShelfBook(
        title=book.title or book.name,
        id=book.id,
        address=page_address(EntryRef(book.id, book.main_page)) if book.main_page else "",
        description=book.description,
        date=book.date,
        size_bytes=book.size_bytes,
        languages=book.languages,
        articles=book.articles,
        check=row.check,
        titles=titles.rows if titles else 0,
        # A book elsewhere has an index of its own, so nothing is missing here.
        all_titles=bool(row.check == "served" or opened is None or (titles and titles.complete)),
        full_text=book.indexes.full_text,
        host=row.host,
    )
