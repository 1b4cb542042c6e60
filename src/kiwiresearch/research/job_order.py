"""What the process of a job is told when it starts: desk, books, task and folder, in one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kiwiresearch.ids import BookId
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.hosts import meet
from kiwiresearch.research.job import Wish, wish_of, wish_record
from kiwiresearch.research.settings import Folders, Settings, defaults, with_values
from kiwiresearch.zim.integrity import Verdicts
from kiwiresearch.zim.library import Opener, Placed, ShelfFile
from kiwiresearch.zim.peer import Missing, missing_of
from kiwiresearch.zim.sources import Source
from kiwiresearch.zim.witness import Witness

STOP = b"stop\n"
"""The line that has a process stop what it does, between two steps; all others are orders."""


@dataclass(frozen=True, slots=True)
class Order:
    """One job: with which settings, over which books, into which folder."""

    folders: Folders
    settings: Settings
    books: tuple[Placed, ...]
    all_books: bool
    """Whether each of the books is searched in full, as they are where a user named them."""
    wish: Wish
    out: Path
    job: str = ""
    """The id of the job."""
    holder: str = ""
    """By whom the store knows that the job is ours."""
    done: int = 0
    """How many steps earlier attempts took, as far as they told."""
    missing: tuple[Missing, ...] = ()
    """Books that could not be asked when the job was asked for, since their hosts were away."""

    @property
    def keeps_all(self) -> bool:
        """Whether the work is copied into the store, and the folder is only a working copy."""
        return bool(self.settings.store.strip())

    def line(self) -> bytes:
        """The order as a line; names that are no proper Unicode come through as they are."""
        record = {
            "folders": [str(self.folders.config), str(self.folders.cache), str(self.folders.state)],
            "settings": {key: _setting(self.settings, key) for key in defaults()},
            "books": [[b.id, b.name, b.title, asdict(b.source)] for b in self.books],
            "all_books": self.all_books,
            "wish": wish_record(self.wish),
            "out": str(self.out),
            "job": self.job,
            "holder": self.holder,
            "done": self.done,
            "missing": [one.record() for one in self.missing],
        }
        return json.dumps(record).encode() + b"\n"

    def desk(self) -> Desk:
        """The desk of whoever gave the order; no accident of others is told twice."""
        from kiwiresearch.zim.libzim import set_cluster_cache

        where, settings = self.folders, self.settings
        set_cluster_cache(settings.cluster_cache_mb * 2**20)
        opener = Opener(
            Verdicts(where.cache / "checks"),
            Witness(where.state / "open"),
            allow_damaged=settings.allow_damaged,
            timeout_s=settings.serve_timeout_s,
            policy=settings.policy,
        )
        desk = Desk(where, settings, ShelfFile(where.shelf_file), opener)
        if self.keeps_all:
            meet(desk)  # books of other hosts travel by their UUIDs
        return desk

    def without_places(self, text: str) -> str:
        """A text without the places of this machine: books and folders by their names alone."""
        names = {book.source.location: book.name for book in self.books if not book.source.is_served}
        names |= {str(self.out.parent): "runs", str(self.folders.cache): "cache"}
        names |= {str(self.folders.config): "config", str(self.folders.state): "state"}
        for place in sorted((place for place in names if len(place) > 1), key=len, reverse=True):
            text = text.replace(place, names[place])
        return text


def order_of(line: bytes) -> Order:
    """The order that a line was made of."""
    row: Mapping[str, Any] = json.loads(line)
    config, cache, state = map(Path, row["folders"])
    return Order(
        folders=Folders(config, cache, state),
        settings=with_values(Settings(), {key: (key, value) for key, value in row["settings"].items()}),
        books=tuple(Placed(BookId(book), name, title, Source(**source)) for book, name, title, source in row["books"]),
        all_books=row["all_books"],
        wish=wish_of(row["wish"]),
        out=Path(row["out"]),
        job=row["job"],
        holder=row["holder"],
        done=row["done"],
        missing=missing_of(row["missing"]),
    )


def _setting(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return list(value) if isinstance(value, tuple) else value
