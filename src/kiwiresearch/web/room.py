"""What all routes share: the open shelf, who answers on it, and where its pages are read."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from urllib.parse import quote as percent

from kiwiresearch.ask.answer import Cited
from kiwiresearch.errors import HostAway
from kiwiresearch.research.asking import Asker
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.finding import Finder
from kiwiresearch.web.atlases import Atlases
from kiwiresearch.web.guard.addressed import ADDRESS
from kiwiresearch.web.guard.token import Token
from kiwiresearch.web.guard.visitor import visitor
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.library import Shelf


class Room:
    """One shelf, open for many requests; `finder` is only used inside `reading()`, which one thread has at a time."""

    def __init__(self, desk: Desk, shelf: Shelf, *, all_books: bool = False, public_url: str = "") -> None:
        self.desk = desk
        self.shelf = shelf
        self.all_books = all_books
        self.public_url = public_url.rstrip("/")
        """Where readers reach this server, such as 'http://127.0.0.1:8321': links in answers begin with it."""
        token = desk.settings.serve.token
        self._reading_key = f"~{Token(token).reading}" if token else ""
        self._finder = Finder(desk, shelf, all_books=all_books)
        self._reading = threading.RLock()
        self._depth = 0
        self.atlases = Atlases(desk, shelf)
        self.asker = Asker(self._finder, desk.settings.ask, self._reading)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Finder]:
        """The finder, for this thread alone: books and their indexes are read by one at a time.

        Inside, the books stay the same; before, those of other hosts may have come and gone.
        """
        with self._reading:
            self._depth += 1
            try:
                if self._depth == 1:
                    with contextlib.suppress(HostAway):  # who went away this very moment is noticed by who asks it
                        self._finder.refresh()
                yield self._finder
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def reading_soon(self, patience_s: float) -> Iterator[Finder | None]:
        """The same, for those who would rather go without than wait for long: None where somebody has the books."""
        is_ours = self._reading.acquire(timeout=patience_s)
        try:
            yield self._finder if is_ours else None
        finally:
            if is_ours:
                self._reading.release()

    def link(self, cited: Cited) -> str:
        """Where a citation is read, its words marked."""
        quote = cited.citation.quote
        return self.page_url(quote.ref, span=(quote.start, quote.end))

    def page_url(self, ref: EntryRef, *, span: Sequence[int] = (), anchor: str = "") -> str:
        """Where a page is read: at a section, or at words of its text, which are marked then."""
        key = f"~{visitor().reading_key}" if visitor().reading_key else self._reading_key
        url = f"{self._base()}/read/{ref.book}{key}/{percent(ref.path, errors='replace')}"
        if span:
            return f"{url}?mark={span[0]}-{span[1]}#mark"
        return f"{url}#{percent(anchor, errors='replace')}" if anchor else url

    def _base(self) -> str:
        """What links begin with: the address the user gave, else the one that the request itself was sent to."""
        return self.desk.settings.serve.public_url.rstrip("/") or ADDRESS.get() or self.public_url

    def close(self) -> None:
        with self._reading:
            self._finder.close()
            self.shelf.close()

    def __enter__(self) -> Room:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()
