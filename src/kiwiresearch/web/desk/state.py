"""What the first page tells of books, indexes and model: looked up beside the request, which never waits long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.errors import KiwiError
from kiwiresearch.research.inventory import Row, inventory
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.web.desk.answers import model_name
from kiwiresearch.web.desk.telling import page_address
from kiwiresearch.web.health import Glance, offered_models
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef

PATIENCE_S = 1.5
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
class Model:
    """The language model, which nothing depends on."""

    state: ModelState
    name: str = ""


class Surroundings:
    """What there is to work with; what was seen a moment ago counts."""

    def __init__(self, room: Room) -> None:
        self._settings = room.desk.settings
        self._books = Glance(lambda: _shelf(room))
        self._models = Glance(lambda: offered_models(self._settings))

    def books(self) -> tuple[ShelfBook, ...] | None:
        """The shelf; None while it is being opened, or somebody has the books for long."""
        return self._books.latest(patience_s=PATIENCE_S)

    @property
    def has_model(self) -> bool:
        """Whether the settings name a model, whether it answers or not."""
        return bool(self._settings.model_url.strip())

    def model(self) -> Model:
        if not self.has_model:
            return Model("none")
        offered = self._models.latest(patience_s=PATIENCE_S)
        if isinstance(offered, tuple):
            return Model("answers", model_name(self._settings.model_name or next(iter(offered), "")))
        return Model("unknown" if offered is None else "silent")


def _shelf(room: Room) -> tuple[ShelfBook, ...]:
    with room.reading() as finder:
        rows = inventory(room.desk, room.shelf)
        try:
            opened: Mapping[str, OpenBook] = {book.book.id: book for book in finder.books}
        except KiwiError:  # one book that cannot be opened must not hide the others
            opened = {}
        return tuple(_shown(row, opened.get(row.placed.id)) for row in rows)


def _shown(row: Row, opened: OpenBook | None) -> ShelfBook:
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
