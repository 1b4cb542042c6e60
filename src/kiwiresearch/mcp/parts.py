"""What the tools work with: an open shelf, who answers on it, and where its pages are read."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from urllib.parse import quote

from kiwiresearch.ask.answer import Cited
from kiwiresearch.ask.record import Link
from kiwiresearch.evidence.citation import Address
from kiwiresearch.research.asking import Asker
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.job import Job, Wish
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.library import Shelf

Reading = Callable[[], AbstractContextManager[Finder]]
"""The finder for one thread alone: books and their indexes are read by one at a time."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The same parts that a server shares between its routes."""

    asker: Asker
    reading: Reading
    link: Link
    address: Address
    jobs: Callable[[], Jobs] | None = None
    """Makes or gives the research runs; None where none can be made."""
    start: Callable[[Jobs, Wish], Job] = Jobs.start
    resume: Callable[[Jobs, str], Job] = Jobs.resume
    """How a run is begun, and goes on: a server that has users asks first whether this one may."""


@contextlib.contextmanager
def opened(desk: Desk, shelf: Shelf, *, all_books: bool, now: Callable[[], str]) -> Iterator[Parts]:
    """The parts for a process of their own; runs are begun only when somebody asks for one."""
    lock = threading.RLock()
    with contextlib.ExitStack() as opened_here:
        finder = opened_here.enter_context(Finder(desk, shelf, all_books=all_books))

        @contextlib.contextmanager
        def reading() -> Iterator[Finder]:
            with lock:
                finder.refresh()
                yield finder

        @functools.cache
        def made() -> Jobs:
            jobs = Jobs(desk, shelf.books_now, now=now, all_books=all_books, missing=shelf.missing_now)
            opened_here.callback(jobs.close)
            return jobs

        def jobs() -> Jobs:
            with lock:  # two calls at once share them
                return made()

        yield Parts(Asker(finder, desk.settings.ask, lock), reading, link, address, jobs)


def link(cited: Cited) -> str:
    """Where a citation is, for a reader who has the book."""
    return cited.citation.url(address)


def address(ref: EntryRef) -> str:
    """A page by its book's UUID, which apps of Kiwix open."""
    return f"zim://{ref.book}/{quote(ref.path, errors='replace')}"
