"""Two snapshots of a book compared page by page, by several processes if that is worth it."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kiwiresearch.bulk import MANIFEST, BulkProgress
from kiwiresearch.codec import JsonDict
from kiwiresearch.diff.changes import ChangedClaimIndex, PageChange, PageLocation
from kiwiresearch.diff.pages import (
    Moves,
    PagePair,
    find_moves,
    find_page_pair,
    page_change,
    page_pairs,
    removed_pages,
    renamed_page,
)
from kiwiresearch.diff.pairs import book_keys
from kiwiresearch.diff.snapshot import Snapshot, ZimSnapshot
from kiwiresearch.errors import BadUsage, KiwiError, NotOffered, PageHidden
from kiwiresearch.runs import BookEdition
from kiwiresearch.system import available_cores, expand_user
from kiwiresearch.version import __version__
from kiwiresearch.workspace import Workspace, shelf_of
from kiwiresearch.zim import REMEDY, HiddenTitles, Policy, book_hidden_error

EVERYTHING = Policy()


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """Where a snapshot is: a ZIM file and its policy, or a folder of claims and the index of its pages."""

    path: Path
    policy: Policy = EVERYTHING
    index: Path | None = None
    version: str = __version__
    """The version of the program that read its claims."""


def open_snapshot(place: SnapshotPlace) -> Snapshot:
    if place.index is None:
        from kiwiresearch.zim import LibzimArchive

        return ZimSnapshot(LibzimArchive(place.path), place.policy)
    from kiwiresearch.bulk import open_folder
    from kiwiresearch.diff.bulk_snapshot import BulkSnapshot

    return BulkSnapshot(open_folder(place.path), place.index)


@contextmanager
def snapshot_places(workspace: Workspace, old: str, new: str) -> Iterator[tuple[SnapshotPlace, SnapshotPlace]]:
    """The two snapshots that the user names; temporary indexes exist only within the context."""
    with tempfile.TemporaryDirectory(prefix="kiwiresearch-diff-") as spare:
        before, after = (_place(workspace, name, Path(spare) / which) for name, which in ((old, "old"), (new, "new")))
        check_versions(before, after)
        yield before, after


def check_versions(old: SnapshotPlace, new: SnapshotPlace) -> None:
    """Refuse claims read by two versions of the program: they differ for that reason alone."""
    if old.version != new.version:
        older = old if old.version != __version__ else new
        raise BadUsage(
            f"The claims in {str(older.path)!r} were created by version {older.version}, "
            "and the other claims by a different version.",
            remedy="Create its folder again with 'kiwiresearch bulk', or use the ZIM file.",
        )


def folder_place(folder: Path, policy: Policy, index: Path) -> SnapshotPlace:
    """A folder that `kiwiresearch bulk` has written, with a new index of its pages."""
    from kiwiresearch.bulk import open_folder
    from kiwiresearch.diff.bulk_snapshot import build_index

    found = open_folder(folder)
    book = found.manifest.book
    names = (book.id, book.name, book.title, book.file, book.file.removesuffix(".zim"))
    if not policy.allows(names):
        raise book_hidden_error(book.title or book.name, policy)
    hidden = policy.titles_of(names) if policy.hidden else HiddenTitles(())
    build_index(found, hidden, index)
    return SnapshotPlace(folder, policy, index, found.manifest.version)


def _place(workspace: Workspace, name: str, index: Path) -> SnapshotPlace:
    folder = _bulk_folder(name)
    if folder is not None:
        return folder_place(folder, workspace.settings.policy, index)
    with shelf_of(workspace, [name]) as shelf:
        if len(shelf.books) != 1:
            raise BadUsage(
                f"{name!r} matches {len(shelf.books)} books.", remedy="Enter one file for each of the two editions."
            )
        book = shelf.books[0]
        if book.source.is_served:
            raise NotOffered(
                f"The book {book.title!r} is on a server, which cannot list its pages.", remedy="Use its ZIM file."
            )
        shelf.open(book)  # checks the book for damage
    return SnapshotPlace(book.source.path, workspace.settings.policy)


def _bulk_folder(name: str) -> Path | None:
    """The folder of this name, if it looks like one that `kiwiresearch bulk` has finished."""
    try:
        folder = expand_user(name)
        return folder if name and (folder / MANIFEST).is_file() else None
    except (OSError, RuntimeError):  # the name is too long, or '~name' of an unknown user
        return None


BATCH_PAGES = 32
WORTH_PAGES = 400
"""Smaller books are compared in one process, which is done before others would have started."""
BATCHES_AHEAD = 3
"""The number of batches per process that may wait to be compared or reported."""

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class OpenSnapshots:
    """Both snapshots, opened by one process."""

    old: Snapshot
    new: Snapshot


Work = Callable[[OpenSnapshots, tuple[In, ...]], list[Out]]


def compare_pages(sides: OpenSnapshots, pairs: tuple[PagePair, ...]) -> list[PageChange]:
    return [page_change(pair, sides.old, sides.new) for pair in pairs]


def text_digests(sides: OpenSnapshots, pairs: tuple[PagePair, ...]) -> list[str]:
    """The digest of each old page with a distinctive text; empty for the others."""
    found = []
    for pair in pairs:
        try:
            page = sides.old.read(pair.old)
        except KiwiError:
            page = None
        found.append(page.digest if page and page.is_distinctive else "")
    return found


class ComparePool:
    """Does the work in this process alone, or in several."""

    def __init__(self, sides: OpenSnapshots, pool: ProcessPoolExecutor | None, workers: int) -> None:
        self._sides = sides
        self._pool = pool
        self._max_waiting = BATCHES_AHEAD * workers

    def each(self, work: Work[In, Out], items: Iterable[In]) -> Iterator[Out]:
        """The results for all items, in order; only a few batches are in progress at a time."""
        batches = iter(items)
        groups = iter(lambda: tuple(itertools.islice(batches, BATCH_PAGES)), ())
        if self._pool is None:
            for group in groups:
                yield from work(self._sides, group)
            return
        waiting: deque[Future[list[Out]]] = deque()
        try:
            for group in groups:
                waiting.append(self._pool.submit(_in_child, work, group))
                if len(waiting) >= self._max_waiting:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool as problem:
            raise KiwiError(
                "A process that was comparing pages stopped unexpectedly.",
                remedy="The computer may be out of memory. Try again with '--workers 1'.",
            ) from problem


@contextmanager
def compare_pool(old: SnapshotPlace, new: SnapshotPlace, sides: OpenSnapshots, workers: int) -> Iterator[ComparePool]:
    """A pool of this many processes; 0 chooses by the machine and the books."""
    is_large = max(sides.old.pages, sides.new.pages) >= WORTH_PAGES
    count = workers or (available_cores() if is_large else 1)
    if count < 2:
        yield ComparePool(sides, None, 1)
        return
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _start_child, (old, new))
    try:
        yield ComparePool(sides, pool, count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_OPEN: list[OpenSnapshots] = []
"""The snapshots that a process of the pool has open."""


def _start_child(old: SnapshotPlace, new: SnapshotPlace) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _OPEN[:] = [OpenSnapshots(open_snapshot(old), open_snapshot(new))]


def _end_with_parent() -> None:
    """Exit when the parent is gone: a killed parent cannot stop its children, which would wait forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _in_child(work: Work[In, Out], group: tuple[In, ...]) -> list[Out]:
    return work(_OPEN[0], group)


MAX_TEXTS = 200_000
"""Up to this many removed pages are recognized by their text under another path."""

LEADS_ONLY = "One of the books contains introductions only, so only introductions are compared."
CLAIMS_ONLY = "A folder has only its table of claims, so pages without claims are not counted."
PAIRS_LEFT_OUT = "Some subjects are on so many pages that not all their claims were compared."
TEXTS_LEFT_OUT = (
    "So many pages are gone that moved pages were searched for by redirects and titles only, not by their text."
)


def diff_snapshots(
    old: SnapshotPlace, new: SnapshotPlace, *, workers: int = 0, force: bool = False
) -> Generator[PageChange, None, None]:
    """How every page changed, for measurements and tests: those of the new snapshot in order, then the removed ones.

    The same snapshots give the same changes in the same order, with any number of processes.
    `force` compares two books that are not snapshots of one.
    """
    with snapshot_diff(old, new, workers=workers, force=force) as both:
        yield from both.changes()


@contextmanager
def snapshot_diff(
    old: SnapshotPlace, new: SnapshotPlace, *, workers: int = 0, force: bool = False
) -> Iterator[SnapshotDiff]:
    """Both snapshots, opened; refused if they are not of the same book, unless `force` is set."""
    with closing(open_snapshot(old)) as before, closing(open_snapshot(new)) as after:
        if not force:
            check_same_book(before.book, after.book)
        yield SnapshotDiff((old, new), OpenSnapshots(before, after), workers)


class SnapshotDiff:
    """Two snapshots that are open."""

    def __init__(self, places: tuple[SnapshotPlace, SnapshotPlace], sides: OpenSnapshots, workers: int) -> None:
        self._places = places
        self._sides = sides
        self._workers = workers
        self.old = sides.old.book
        self.new = sides.new.book
        self.notes = [LEADS_ONLY] if sides.old.lead_only != sides.new.lead_only else []
        self.notes += [] if sides.old.has_all_pages and sides.new.has_all_pages else [CLAIMS_ONLY]
        self.notes += [f"Pages hidden by {whose} are not compared." for whose in dict.fromkeys(self._hiding())]
        """Caveats about the comparison, for the reader."""

    def record(self) -> JsonDict:
        return {"new": self.new, "notes": self.notes, "old": self.old}

    def page(self, words: str) -> PageChange:
        """How one page changed, named by its title or path; PageHidden if a policy hides it."""
        whose = next(self._hiding(words), "")
        if whose:
            raise PageHidden(f"The page {words!r} is hidden by {whose}.", remedy=REMEDY)
        return page_change(find_page_pair(words, self._sides.old, self._sides.new), self._sides.old, self._sides.new)

    def _hiding(self, title: str = "") -> Iterator[str]:
        """The policies that hide a page of this title in one of the snapshots; without a title, any page."""
        for place, side in zip(self._places, (self._sides.old, self._sides.new), strict=True):
            book, path = side.book, place.path
            titles = place.policy.titles_of((book.id, book.name, book.title, path.name, path.stem))
            if titles.has(title) if title else titles:
                yield place.policy.label

    def changes(self, tell: Callable[[BulkProgress], None] = lambda _: None) -> Iterator[PageChange]:
        moves = find_moves(self._sides.old, self._sides.new)
        pages = self._sides.new.pages + moves.gone
        with ExitStack() as stack:
            across = stack.enter_context(ChangedClaimIndex()) if self._places[1].index else None
            pool = stack.enter_context(compare_pool(*self._places, self._sides, self._workers))
            errors = 0
            for done, change in enumerate(self._each(pool, moves), start=1):
                errors += change.state == "unreadable"
                # `pages` is an estimate, and must not be smaller than what is done.
                tell(BulkProgress(done, max(done, pages), resumed=0, errors=errors))
                yield change
                if across:
                    across.add(change, self._sides.new)
            if across:
                yield from across.contradicted(self._sides.new.dated_or_measured(), self._sides.new.language)
                self.notes += [PAIRS_LEFT_OUT] if across.left_out else []

    def _each(self, pool: ComparePool, moves: Moves) -> Iterator[PageChange]:
        old, new = self._sides.old, self._sides.new
        texts = self._texts(pool, moves)
        renamed: set[str] = set()
        for change in pool.each(compare_pages, page_pairs(old, new, moves)):
            # Taken out: a second new page with the same text is an added one.
            path = texts.pop(change.digest, "") if change.digest else ""
            if path:
                renamed.add(path)
                yield renamed_page(change, PageLocation(path, old.title(path)))
            else:
                yield change
        left = (pair for pair in removed_pages(old, new, moves) if pair.old not in renamed)
        yield from pool.each(compare_pages, left)

    def _texts(self, pool: ComparePool, moves: Moves) -> dict[str, str]:
        """The paths of removed pages by the digest of their text; a text that several have is not used."""
        if moves.gone > MAX_TEXTS:
            self.notes.append(TEXTS_LEFT_OUT)
            return {}
        found: dict[str, str] = {}
        removed = list(removed_pages(self._sides.old, self._sides.new, moves)) if moves.gone else []
        for pair, digest in zip(removed, pool.each(text_digests, removed), strict=True):
            if digest:
                found[digest] = "" if digest in found else pair.old
        return found


def check_same_book(old: BookEdition, new: BookEdition) -> None:
    """Refuse two books that are not snapshots of one, and a snapshot with itself."""
    if old.id == new.id:
        raise BadUsage(
            f"Both are the same edition of {new.title!r}: they have the same UUID.",
            remedy="Choose an older and a newer one, or compare them anyway with --force.",
        )
    keys = book_keys([old], [new])
    if keys[old.id] != keys[new.id]:
        raise BadUsage(
            f"{old.name or old.title!r} and {new.name or new.title!r} are not editions of the same book: "
            "their names or their languages differ.",
            remedy="Compare them anyway with --force.",
        )
