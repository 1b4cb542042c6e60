"""The context of the tools: the finder, the asker, the addresses of pages, and the jobs."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from urllib.parse import quote

from kiwiresearch.ask import AnswerCitation, CitationLink
from kiwiresearch.evidence import PageAddress
from kiwiresearch.jobs import Job, JobQueue, JobRequest
from kiwiresearch.workspace import Asker, Finder, Workspace
from kiwiresearch.zim import EntryRef, Shelf

LockedFinder = Callable[[], AbstractContextManager[Finder]]
"""Locks the finder for one thread, since books and their indexes are read by one at a time."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The parts that tools share, of a server or of a process of their own."""

    asker: Asker
    locked_finder: LockedFinder
    link: CitationLink
    address: PageAddress
    jobs: Callable[[], JobQueue] | None = None
    """Returns the queue of research runs; None if research is unavailable."""
    start: Callable[[JobQueue, JobRequest], Job] = JobQueue.start
    resume: Callable[[JobQueue, str], Job] = JobQueue.resume
    """Starts or resumes a run; a server with users first checks whether the visitor may."""


@contextlib.contextmanager
def open_context(
    workspace: Workspace, shelf: Shelf, *, is_partial_shelf: bool, now: Callable[[], str]
) -> Iterator[ToolContext]:
    """The context of a separate process; the queue is opened when research is first requested."""
    lock = threading.RLock()
    with contextlib.ExitStack() as stack:
        finder = stack.enter_context(Finder(workspace, shelf, search_every_book=is_partial_shelf))

        @contextlib.contextmanager
        def locked_finder() -> Iterator[Finder]:
            with lock:  # no tool locks it twice, so the books stay the same while a tool uses them
                finder.refresh()
                yield finder

        @functools.cache
        def opened_jobs() -> JobQueue:
            books = shelf.current_books
            jobs = JobQueue(
                workspace, books, now=now, is_partial_shelf=is_partial_shelf, missing=shelf.currently_missing
            )
            stack.callback(jobs.close)
            return jobs

        def jobs() -> JobQueue:
            with lock:  # two calls at once must not open it twice
                return opened_jobs()

        yield ToolContext(Asker(finder, workspace.settings.ask, lock), locked_finder, link, kiwix_address, jobs)


def link(cited: AnswerCitation) -> str:
    """The address of a citation, for readers who have the book."""
    return cited.citation.url(kiwix_address)


def kiwix_address(ref: EntryRef) -> str:
    """The address of a page by its book's UUID, which Kiwix apps open."""
    return f"zim://{ref.book}/{quote(ref.path, errors='replace')}"
