"""What the tools work with: an open shelf, who answers on it, and where its pages are read."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from urllib.parse import quote

from kiwiresearch.ask.answer import AnswerCitation
from kiwiresearch.ask.formats import CitationLink
from kiwiresearch.evidence import PageAddress
from kiwiresearch.jobs.job import Job, JobRequest
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.library import Shelf

Reading = Callable[[], AbstractContextManager[Finder]]
"""The finder for one thread alone: books and their indexes are read by one at a time."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The same parts that a server shares between its routes."""

    asker: Asker
    locked_finder: Reading
    link: CitationLink
    address: PageAddress
    jobs: Callable[[], JobQueue] | None = None
    """Makes or gives the research runs; None where none can be made."""
    start: Callable[[JobQueue, JobRequest], Job] = JobQueue.start
    resume: Callable[[JobQueue, str], Job] = JobQueue.resume
    """How a run is begun, and goes on: a server that has users asks first whether this one may."""


@contextlib.contextmanager
def open_context(
    workspace: Workspace, shelf: Shelf, *, all_books: bool, now: Callable[[], str]
) -> Iterator[ToolContext]:
    """The parts for a process of their own; runs are begun only when somebody asks for one."""
    lock = threading.RLock()
    with contextlib.ExitStack() as opened_here:
        finder = opened_here.enter_context(Finder(workspace, shelf, all_books=all_books))

        @contextlib.contextmanager
        def reading() -> Iterator[Finder]:
            with lock:
                finder.refresh()
                yield finder

        @functools.cache
        def made() -> JobQueue:
            jobs = JobQueue(
                workspace, shelf.current_books, now=now, all_books=all_books, missing=shelf.currently_missing
            )
            opened_here.callback(jobs.close)
            return jobs

        def jobs() -> JobQueue:
            with lock:  # two calls at once share them
                return made()

        yield ToolContext(Asker(finder, workspace.settings.ask, lock), reading, link, address, jobs)


def link(cited: AnswerCitation) -> str:
    """Where a citation is, for a reader who has the book."""
    return cited.citation.url(address)


def address(ref: EntryRef) -> str:
    """A page by its book's UUID, which apps of Kiwix open."""
    return f"zim://{ref.book}/{quote(ref.path, errors='replace')}"
