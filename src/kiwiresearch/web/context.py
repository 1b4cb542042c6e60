"""What all routes share: the open shelf, who answers on it, its atlases, addresses of pages, the reader's language."""

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

from kiwiresearch.ask.answer import AnswerCitation
from kiwiresearch.atlas.atlas import Atlas, Recipe, open_atlas
from kiwiresearch.atlas.contradictions import CONTRADICTIONS
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.atlas.queries import PolicyFilter
from kiwiresearch.errors import HostAway, KiwiError, without_paths
from kiwiresearch.messages.catalogue import FALLBACK, LANGUAGES, Catalogue, catalogue_in
from kiwiresearch.web.guard.identity import ServerToken, current_visitor
from kiwiresearch.web.guard.requests import REQUEST_ADDRESS
from kiwiresearch.web.problems import NoAtlas, Refused
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.atlas import atlas_screen
from kiwiresearch.workspace.file_cache import RecentCache
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.library import Shelf

WAIT_S = 4.0
"""How long a request waits for what is being worked out."""
RETRY_AFTER_S = 10
MAX_CONCURRENT = 2
"""Questions that are answered at a time, each with the memory that DuckDB may have; one table is worked out beside."""
QUEUE_TIMEOUT_S = 30.0
"""How long a question waits for its turn."""
MAX_CACHED = 200
"""Answers that are kept, those asked for last: each is a page of rows."""
T = TypeVar("T")


class AtlasNotReady(Refused):
    """What was asked for is being worked out, and will be there later."""

    def __init__(self) -> None:
        super().__init__(
            503, "This is being worked out from the whole book.", "Ask again soon.", {"Retry-After": str(RETRY_AFTER_S)}
        )


@dataclass(slots=True)
class _Work:
    """One table that is being worked out, by one thread."""

    done: threading.Event = field(default_factory=threading.Event)
    problem: Exception | None = None

    def run(self, atlas: Atlas, recipe: Recipe, turn: threading.Lock) -> None:
        try:
            with turn:
                atlas.files(recipe)
        except Exception as problem:  # whoever waits for the table hears of it
            self.problem = problem
        finally:
            self.done.set()


@dataclass(frozen=True, slots=True)
class UnusableFolder:
    """A folder of the settings that cannot be shown, and why."""

    name: str
    why: str = ""
    book: str = ""
    """The title of its book, where that is all that is missing."""


class Atlases:
    """The atlases of one server; folders are looked at again when their manifests change."""

    def __init__(self, workspace: Workspace, shelf: Shelf) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self._lock = threading.Lock()
        self._answering = threading.BoundedSemaphore(MAX_CONCURRENT)
        self._working = threading.Lock()
        self._opened: dict[Path, tuple[tuple[int, int], Atlas]] = {}
        self._works: dict[tuple[Path, str], _Work] = {}
        self._answers: RecentCache[tuple[Hashable, ...], Any] = RecentCache(MAX_CACHED)

    def all(self) -> tuple[list[Atlas], list[UnusableFolder]]:
        """Those that can be shown, each book once, and the folders that cannot."""
        here = {book.id for book in self._shelf.books}
        found: dict[str, Atlas] = {}
        unusable = []
        for folder in self._workspace.settings.atlas:
            path = Path(folder).expanduser().absolute()
            try:
                atlas = self._open(path)
            except KiwiError as problem:
                unusable.append(UnusableFolder(path.name, without_paths(problem.message)))
                continue
            if atlas.book.id in here:
                found.setdefault(atlas.book.id, atlas)
            else:
                unusable.append(UnusableFolder(path.name, book=atlas.book.title or atlas.book.name))
        return list(found.values()), unusable

    def get(self, book: str) -> Atlas:
        """The atlas of a book by its id."""
        atlas = next((one for one in self.all()[0] if one.book.id == book), None)
        if atlas is None:
            raise NoAtlas(
                f"There is no atlas of the book {book[:100]!r} here.",
                remedy="'kiwiresearch bulk' makes one; then name its folder in the setting 'atlas'.",
            )
        return atlas

    def wait_for(self, atlas: Atlas, *recipes: Recipe) -> None:
        """See to it that some tables are worked out; AtlasNotReady where that takes longer than a reader waits."""
        for recipe in recipes:
            if atlas.has(recipe):
                continue
            work = self._work_on(atlas, recipe)
            if not work.done.wait(WAIT_S):
                raise AtlasNotReady
            if work.problem is not None:
                raise work.problem

    def cached(self, atlas: Atlas, question: tuple[Hashable, ...], answer: Callable[[], T]) -> T:
        """The answer to a question, from before where the same was asked of the same shards."""
        key = (atlas.cache_folder, *question)
        found: T = self._answers.get(key, lambda: self.run_limited(answer))
        return found

    def run_limited(self, answer: Callable[[], T]) -> T:
        """The answer to a question in its turn; AtlasNotReady where too many are before it."""
        if not self._answering.acquire(timeout=QUEUE_TIMEOUT_S):
            raise AtlasNotReady
        try:
            return answer()
        finally:
            self._answering.release()

    def screen(self, atlas: Atlas) -> PolicyFilter:
        """What the policy of the desk hides: every answer goes through it."""
        return atlas_screen(atlas.book, self._workspace.settings.policy, self._shelf.books)

    def _open(self, folder: Path) -> Atlas:
        stamp = _stamp(folder / "manifest.json")
        known = self._opened.get(folder)
        if known is None or known[0] != stamp:
            known = stamp, open_atlas(folder, self._workspace.folders.cache)
            self._opened[folder] = known
        return known[1]

    def _work_on(self, atlas: Atlas, recipe: Recipe) -> _Work:
        """The work on a table, begun unless it is under way; one that failed is tried again."""
        key = (atlas.cache_folder, recipe.name)
        with self._lock:
            work = self._works.get(key)
            if work is None or work.done.is_set():
                work = self._works[key] = _Work()
                # A server that ends does not wait for it: a table appears whole or not at all.
                threading.Thread(
                    target=work.run, args=(atlas, recipe, self._working), name="atlas", daemon=True
                ).start()
            return work


def overview_key(atlas: Atlas) -> tuple[Hashable, ...]:
    """The question for the overview, whose answer grows with what has been worked out."""
    return ("overview", atlas.has(GRAPH), atlas.has(CONTRADICTIONS))


def _stamp(file: Path) -> tuple[int, int]:
    try:
        seen = file.stat()
    except OSError:
        return (0, 0)
    return seen.st_mtime_ns, seen.st_size


class ServerContext:
    """One shelf, open for many requests; `finder` is only used inside `locked_finder()`, by one thread at a time."""

    def __init__(self, workspace: Workspace, shelf: Shelf, *, all_books: bool = False, public_url: str = "") -> None:
        self.desk = workspace
        self.shelf = shelf
        self.all_books = all_books
        self.public_url = public_url.rstrip("/")
        """Where readers reach this server, such as 'http://127.0.0.1:8321': links in answers begin with it."""
        token = workspace.settings.serve.token
        self._reading_key = f"~{ServerToken(token).reading}" if token else ""
        self._finder = Finder(workspace, shelf, all_books=all_books)
        self._reading = threading.RLock()
        self._depth = 0
        self.atlases = Atlases(workspace, shelf)
        self.asker = Asker(self._finder, workspace.settings.ask, self._reading)

    @contextlib.contextmanager
    def locked_finder(self) -> Iterator[Finder]:
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
    def try_locked_finder(self, timeout_s: float) -> Iterator[Finder | None]:
        """The same, for those who would rather go without than wait for long: None where somebody has the books."""
        is_ours = self._reading.acquire(timeout=timeout_s)
        try:
            yield self._finder if is_ours else None
        finally:
            if is_ours:
                self._reading.release()

    def citation_url(self, cited: AnswerCitation) -> str:
        """Where a citation is read, its words marked."""
        quote = cited.citation.quote
        return self.page_url(quote.ref, span=(quote.start, quote.end))

    def page_url(self, ref: EntryRef, *, span: Sequence[int] = (), anchor: str = "") -> str:
        """Where a page is read: at a section, or at words of its text, which are marked then."""
        key = f"~{current_visitor().reading_key}" if current_visitor().reading_key else self._reading_key
        url = f"{self._base()}/read/{ref.book}{key}/{percent(ref.path, errors='replace')}"
        if span:
            return f"{url}?mark={span[0]}-{span[1]}#mark"
        return f"{url}#{percent(anchor, errors='replace')}" if anchor else url

    def _base(self) -> str:
        """What links begin with: the address the user gave, else the one that the request itself was sent to."""
        return self.desk.settings.serve.public_url.rstrip("/") or REQUEST_ADDRESS.get() or self.public_url

    def close(self) -> None:
        with self._reading:
            self._finder.close()
            self.shelf.close()

    def __enter__(self) -> ServerContext:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()


COOKIE = "kiwiresearch_language"
MAX_ACCEPTED = 20


def catalogue_for(request: Request) -> Catalogue:
    """The words a reader wants: those chosen on a page of ours, else the first the browser asks for that are here."""
    chosen = request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return catalogue_in(chosen)
    return catalogue_in(preferred(request.headers.get("accept-language", "")))


def preferred(header: str) -> str:
    """The language of ours that an Accept-Language header wants most."""
    wishes = [_accepted_language(part) for part in header.split(",")[:MAX_ACCEPTED]]
    wanted = [(-weight, place, code) for place, (code, weight) in enumerate(wishes) if weight > 0]
    return next((code for _, _, code in sorted(wanted) if code in LANGUAGES), FALLBACK)


def _accepted_language(part: str) -> tuple[str, float]:
    code, _, quality = part.strip().partition(";")
    try:
        weight = float(quality.strip().removeprefix("q=")) if quality.strip() else 1.0
    except ValueError:
        weight = 0.0
    return code.strip().lower().split("-")[0], weight
