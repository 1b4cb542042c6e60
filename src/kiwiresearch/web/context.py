"""What all routes share: the open shelf, the asker, atlases, addresses of pages, and the reader's language."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote as percent

from starlette.requests import Request

from kiwiresearch.ask import AnswerCitation
from kiwiresearch.atlas import CONTRADICTIONS, GRAPH, Atlas, PolicyFilter, Recipe, open_atlas
from kiwiresearch.bulk import MANIFEST
from kiwiresearch.errors import HostUnreachable, KiwiError, without_paths
from kiwiresearch.ids import BookId
from kiwiresearch.messages import FALLBACK, LANGUAGES, Catalogue, catalogue_in
from kiwiresearch.system import expand_user, stop_if_abandoned
from kiwiresearch.web.guard import REQUEST_ADDRESS
from kiwiresearch.web.problems import NoAtlas, Refused
from kiwiresearch.workspace import (
    Asker,
    AtlasFolders,
    BookTasks,
    FileStamp,
    Finder,
    Library,
    RecentCache,
    Settings,
    Workspace,
    file_stamp,
    policy_filter_for,
)
from kiwiresearch.zim import EntryRef, Shelf

TABLE_WAIT_S = 4.0
"""How long a request waits for a table that is being computed."""
RETRY_AFTER_S = 10
MAX_CONCURRENT_QUERIES = 2
"""How many queries run at once, each with its own DuckDB memory limit; in addition one table is computed at a time."""
QUERY_QUEUE_TIMEOUT_S = 30.0
"""How long a query waits for its turn."""
MAX_CACHED = 200
"""How many recent results are cached; each is one page of rows."""
T = TypeVar("T")


class AtlasNotReady(Refused):
    """The requested table is still being computed."""

    def __init__(self, why: str = "This is still being calculated from the whole book.") -> None:
        super().__init__(503, why, "Try again soon.", {"Retry-After": str(RETRY_AFTER_S)})


class AtlasBusy(AtlasNotReady):
    """Too many other queries are running."""

    def __init__(self) -> None:
        super().__init__("Too many other queries about whole books are running.")


@dataclass(slots=True)
class _TableBuild:
    """A table that one thread is computing."""

    done: threading.Event = field(default_factory=threading.Event)
    problem: Exception | None = None

    def run(self, atlas: Atlas, recipe: Recipe, build_lock: threading.Lock) -> None:
        try:
            with build_lock:
                atlas.files(recipe)
        except Exception as problem:  # raised again in the requests that wait for the table
            self.problem = problem
        finally:
            self.done.set()


@dataclass(frozen=True, slots=True)
class UnusableFolder:
    """An atlas folder in the settings that cannot be used, and why."""

    name: str
    why: str = ""
    book: str = ""
    """Its title, if the only problem is that the book is not on the shelf."""


class Atlases:
    """The atlases of one server; a folder is opened again when its manifest changes."""

    def __init__(self, workspace: Workspace, shelf: Shelf) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self._atlas_folders = AtlasFolders(workspace)
        self._lock = threading.Lock()
        self._query_slots = threading.BoundedSemaphore(MAX_CONCURRENT_QUERIES)
        self._build_lock = threading.Lock()
        self._opened: dict[Path, tuple[FileStamp | None, Atlas]] = {}
        self._builds: dict[tuple[Path, str], _TableBuild] = {}
        self._results: RecentCache[tuple[Hashable, ...], Any] = RecentCache(MAX_CACHED)

    def all(self) -> tuple[list[Atlas], list[UnusableFolder]]:
        """The usable atlases, one per book, and the unusable folders."""
        shelf_ids = {book.id for book in self._shelf.books}
        found: dict[str, Atlas] = {}
        unusable = []
        for folder in self._workspace.settings.atlas:
            path = expand_user(folder).absolute()
            try:
                atlas = self._open(path)
            except KiwiError as problem:
                unusable.append(UnusableFolder(path.name, without_paths(problem.message)))
                continue
            if atlas.book.id in shelf_ids:
                found.setdefault(atlas.book.id, atlas)
            else:
                unusable.append(UnusableFolder(path.name, book=atlas.book.title or atlas.book.name))
        # After the settings: a folder that an owner has named counts before one that was created here.
        for path in self._atlas_folders.finished():
            with contextlib.suppress(KiwiError):  # the page of books offers to create it again
                atlas = self._open(path)
                if atlas.book.id in shelf_ids:
                    found.setdefault(atlas.book.id, atlas)
        return list(found.values()), unusable

    def find(self, book: str) -> Atlas | None:
        """The atlas of a book by its id; None if it has none."""
        return next((atlas for atlas in self.all()[0] if atlas.book.id == book), None)

    def get(self, book: str) -> Atlas:
        """The atlas of a book by its id."""
        atlas = self.find(book)
        if atlas is None:
            raise NoAtlas(
                f"The book {book[:100]!r} has no atlas.",
                remedy="An owner can create one on the Books page, or with 'kiwiresearch bulk'.",
            )
        return atlas

    def wait_for(self, atlas: Atlas, *recipes: Recipe) -> None:
        """Make sure that tables are computed; AtlasNotReady if that takes longer than TABLE_WAIT_S."""
        for recipe in recipes:
            if atlas.has(recipe):
                continue
            build = self._start_build(atlas, recipe)
            if not build.done.wait(TABLE_WAIT_S):
                raise AtlasNotReady
            if build.problem is not None:
                raise build.problem

    def cached_result(self, atlas: Atlas, key: tuple[Hashable, ...], run_query: Callable[[], T]) -> T:
        """The result of a query, from the cache if the same was asked of these shards before."""
        found: T = self._results.get((atlas.cache_folder, *key), lambda: self.run_limited(run_query))
        return found

    def run_limited(self, run_query: Callable[[], T]) -> T:
        """The result of a query when its turn comes; AtlasBusy if that takes longer than QUERY_QUEUE_TIMEOUT_S."""
        if not self._query_slots.acquire(timeout=QUERY_QUEUE_TIMEOUT_S):
            raise AtlasBusy
        try:
            return run_query()
        finally:
            self._query_slots.release()

    def policy_filter(self, atlas: Atlas) -> PolicyFilter:
        """The filter for pages that the policy hides; every result must pass through it."""
        return policy_filter_for(atlas.book, self._workspace.settings.policy, self._shelf.books)

    def _open(self, folder: Path) -> Atlas:
        stamp = _stamp(folder / MANIFEST)
        known = self._opened.get(folder)
        if known is None or known[0] != stamp:
            known = stamp, open_atlas(folder, self._workspace.folders.cache)
            self._opened[folder] = known
        return known[1]

    def _start_build(self, atlas: Atlas, recipe: Recipe) -> _TableBuild:
        """The build of a table, started unless it is running already; a failed one is tried again."""
        key = (atlas.cache_folder, recipe.name)
        with self._lock:
            build = self._builds.get(key)
            if build is None or build.done.is_set():
                build = self._builds[key] = _TableBuild()
                # A daemon, so that shutdown need not wait: an incomplete table is never visible.
                threading.Thread(
                    target=build.run, args=(atlas, recipe, self._build_lock), name="atlas", daemon=True
                ).start()
            return build


def overview_key(atlas: Atlas) -> tuple[Hashable, ...]:
    """The cache key of the overview, which shows more when more tables are computed."""
    return ("overview", atlas.has(GRAPH), atlas.has(CONTRADICTIONS))


def _stamp(file: Path) -> FileStamp | None:
    try:
        return file_stamp(file.stat())
    except OSError:
        return None


class ServerContext:
    """One shelf, open for many requests; `finder` is only used inside `locked_finder()`, by one thread at a time."""

    def __init__(
        self, workspace: Workspace, shelf: Shelf, *, is_partial_shelf: bool = False, public_url: str = ""
    ) -> None:
        self.workspace = workspace
        self.shelf = shelf
        self.is_partial_shelf = is_partial_shelf
        self.public_url = public_url.rstrip("/")
        """Where readers reach this server, such as 'http://127.0.0.1:8321'; links in answers start with it."""
        self.pending_settings: set[str] = set()
        """Saved settings that take effect at the next start."""
        self._finder = Finder(workspace, shelf, search_every_book=is_partial_shelf)
        self._finder_lock = threading.RLock()
        self._depth = 0
        self.atlases = Atlases(workspace, shelf)
        self.library = Library(workspace)
        self.book_tasks = BookTasks(workspace, self._use_titles)
        self.asker = Asker(self._finder, workspace.settings.ask, self._finder_lock)

    @contextlib.contextmanager
    def locked_finder(self) -> Iterator[Finder]:
        """The finder, for this thread alone, since books and their indexes are read by one thread at a time.

        On entering, books of other hosts may come and go; inside the block they stay the same.
        """
        with self._finder_lock:
            stop_if_abandoned()
            self._depth += 1
            try:
                if self._depth == 1:  # the lock is reentrant: inner uses must not change the books
                    with contextlib.suppress(
                        HostUnreachable
                    ):  # a host that has just left is noticed by the next request to it
                        self._finder.refresh()
                yield self._finder
            finally:
                self._depth -= 1

    def reload_books(self) -> None:
        """Use the current list of books at once; requests that are reading a book end first."""
        # Entering refreshes the list.
        with self.locked_finder():
            pass

    def use_settings(self, settings: Settings) -> None:
        """Use changed settings except those that are read only when the server starts."""
        with self._finder_lock:
            self.workspace.settings = settings
            self._finder.reload_models()

    def _use_titles(self, book: BookId) -> None:
        with self.locked_finder() as finder:
            finder.reload_titles(book)

    @contextlib.contextmanager
    def try_locked_finder(self, timeout_s: float) -> Iterator[Finder | None]:
        """Like `locked_finder`, but None if the lock is not free within `timeout_s`."""
        is_locked = self._finder_lock.acquire(timeout=timeout_s)
        try:
            yield self._finder if is_locked else None
        finally:
            if is_locked:
                self._finder_lock.release()

    def citation_url(self, cited: AnswerCitation) -> str:
        """Where a citation can be read, with its words marked."""
        quote = cited.citation.quote
        return self.page_url(quote.ref, span=(quote.start, quote.end))

    def page_url(self, ref: EntryRef, *, span: Sequence[int] = (), anchor: str = "") -> str:
        """Where a page can be read: at a section, or at a span of its text, which is marked."""
        url = f"{self._base()}/read/{ref.book}/{percent(ref.path, errors='replace')}"
        if span:
            return f"{url}?mark={span[0]}-{span[1]}#mark"
        return f"{url}#{percent(anchor, errors='replace')}" if anchor else url

    def _base(self) -> str:
        """The base of links: the address in the settings, or else the one the request was sent to."""
        return self.workspace.settings.serve.public_url.rstrip("/") or REQUEST_ADDRESS.get() or self.public_url

    def close(self) -> None:
        self.book_tasks.close()
        with self._finder_lock:
            self._finder.close()
            self.shelf.close()

    def __enter__(self) -> ServerContext:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()


COOKIE = "kiwiresearch_language"
MAX_ACCEPTED = 20


def catalogue_for(request: Request) -> Catalogue:
    """The texts in the language chosen on our pages, or else the first of the browser's languages that we have."""
    chosen = request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return catalogue_in(chosen)
    return catalogue_in(preferred_language(request.headers.get("accept-language", "")))


def preferred_language(header: str) -> str:
    """The supported language that an Accept-Language header ranks highest."""
    accepted = [_accepted_language(part) for part in header.split(",")[:MAX_ACCEPTED]]
    ranked = [(-weight, place, code) for place, (code, weight) in enumerate(accepted) if weight > 0]
    return next((code for _, _, code in sorted(ranked) if code in LANGUAGES), FALLBACK)


def _accepted_language(part: str) -> tuple[str, float]:
    code, _, parameter = part.strip().lower().partition(";")
    quality = parameter.strip().removeprefix("q=")
    try:
        weight = float(quality) if quality else 1.0
    except ValueError:
        weight = 0.0
    # Beyond these limits, and with "nan", it is not a weight.
    return code.strip().split("-")[0], weight if 0 <= weight <= 1 else 0.0
