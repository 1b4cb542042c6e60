"""The atlases of a server: folders of the setting `atlas` whose book is on the shelf, and work under way for them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kiwiresearch.atlas.atlas import Atlas, Recipe, open_atlas
from kiwiresearch.atlas.contradictions import CONTRADICTIONS
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.atlas.screen import Screen
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.screening import screen_of
from kiwiresearch.web.problems import NoAtlas, Refused, without_places
from kiwiresearch.zim.library import Shelf

PATIENCE_S = 4.0
"""How long a request waits for what is being worked out."""
LATER_S = 10
AT_ONCE = 2
"""Questions that are answered at a time, each with the memory that DuckDB may have; one table is worked out beside."""
TURN_S = 30.0
"""How long a question waits for its turn."""
MOST_KEPT = 200
"""Answers that are kept, those asked for last: each is a page of rows."""
T = TypeVar("T")


class StillWorking(Refused):
    """What was asked for is being worked out, and will be there later."""

    def __init__(self) -> None:
        super().__init__(
            503, "This is being worked out from the whole book.", "Ask again soon.", {"Retry-After": str(LATER_S)}
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
class Unusable:
    """A folder of the settings that cannot be shown, and why."""

    name: str
    why: str = ""
    book: str = ""
    """The title of its book, where that is all that is missing."""


class Atlases:
    """The atlases of one server; folders are looked at again when their manifests change."""

    def __init__(self, desk: Desk, shelf: Shelf) -> None:
        self._desk = desk
        self._shelf = shelf
        self._lock = threading.Lock()
        self._answering = threading.BoundedSemaphore(AT_ONCE)
        self._working = threading.Lock()
        self._opened: dict[Path, tuple[tuple[int, int], Atlas]] = {}
        self._works: dict[tuple[Path, str], _Work] = {}
        self._answers: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()

    def all(self) -> tuple[list[Atlas], list[Unusable]]:
        """Those that can be shown, each book once, and the folders that cannot."""
        here = {book.id for book in self._shelf.books}
        found: dict[str, Atlas] = {}
        unusable = []
        for folder in self._desk.settings.atlas:
            path = Path(folder).expanduser().absolute()
            try:
                atlas = self._open(path)
            except KiwiError as problem:
                unusable.append(Unusable(path.name, without_places(problem.message)))
                continue
            if atlas.book.id in here:
                found.setdefault(atlas.book.id, atlas)
            else:
                unusable.append(Unusable(path.name, book=atlas.book.title or atlas.book.name))
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
        """See to it that some tables are worked out; StillWorking where that takes longer than a reader waits."""
        for recipe in recipes:
            if atlas.has(recipe):
                continue
            work = self._begun(atlas, recipe)
            if not work.done.wait(PATIENCE_S):
                raise StillWorking
            if work.problem is not None:
                raise work.problem

    def kept(self, atlas: Atlas, question: tuple[Hashable, ...], answer: Callable[[], T]) -> T:
        """The answer to a question, from before where the same was asked of the same shards."""
        key = (atlas.kept, *question)
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]  # type: ignore[no-any-return]
        found = self.answered(answer)
        with self._lock:
            self._answers[key] = found
            while len(self._answers) > MOST_KEPT:
                self._answers.popitem(last=False)
        return found

    def answered(self, answer: Callable[[], T]) -> T:
        """The answer to a question in its turn; StillWorking where too many are before it."""
        if not self._answering.acquire(timeout=TURN_S):
            raise StillWorking
        try:
            return answer()
        finally:
            self._answering.release()

    def screen(self, atlas: Atlas) -> Screen:
        """What the policy of the desk hides: every answer goes through it."""
        return screen_of(atlas.book, self._desk.settings.policy, self._shelf.books)

    def _open(self, folder: Path) -> Atlas:
        stamp = _stamp(folder / "manifest.json")
        known = self._opened.get(folder)
        if known is None or known[0] != stamp:
            known = stamp, open_atlas(folder, self._desk.folders.cache)
            self._opened[folder] = known
        return known[1]

    def _begun(self, atlas: Atlas, recipe: Recipe) -> _Work:
        """The work on a table, begun unless it is under way; one that failed is tried again."""
        key = (atlas.kept, recipe.name)
        with self._lock:
            work = self._works.get(key)
            if work is None or work.done.is_set():
                work = self._works[key] = _Work()
                # A server that ends does not wait for it: a table appears whole or not at all.
                threading.Thread(
                    target=work.run, args=(atlas, recipe, self._working), name="atlas", daemon=True
                ).start()
            return work


def glance(atlas: Atlas) -> tuple[Hashable, ...]:
    """The question for the overview, whose answer grows with what has been worked out."""
    return ("overview", atlas.has(GRAPH), atlas.has(CONTRADICTIONS))


def _stamp(file: Path) -> tuple[int, int]:
    try:
        seen = file.stat()
    except OSError:
        return (0, 0)
    return seen.st_mtime_ns, seen.st_size
