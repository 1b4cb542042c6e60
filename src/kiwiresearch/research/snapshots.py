"""Two snapshots of a book, claim by claim: what was added, withdrawn and changed, and what is disputed by now.

Pages are compared one by one and then forgotten: what is kept are a few bytes an entry, and the paths that moved.
A page whose text is the same costs no more than reading it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from typing import Any

from kiwiresearch.bulk.run import Progress
from kiwiresearch.errors import BadUsage, PageHidden
from kiwiresearch.research.book_pairs import BookSeen, book_keys
from kiwiresearch.research.snapshots_across import Across
from kiwiresearch.research.snapshots_change import PageAt, PageChange
from kiwiresearch.research.snapshots_crew import Crew, Sides, changes_of, crew, texts_of
from kiwiresearch.research.snapshots_page import as_renamed, page_change
from kiwiresearch.research.snapshots_pages import Moves, gone, moves, pair_of, pairs
from kiwiresearch.research.snapshots_places import Place, opened
from kiwiresearch.zim.guarded import REMEDY

__all__ = ["Place", "Snapshots", "check", "diff", "snapshots"]

MOST_TEXTS = 200_000
"""So many pages that went are remembered by their text, to be known under another path."""

LEADS_ONLY = "One of the books holds introductions only, so nothing else is compared."
CLAIMS_ONLY = "A folder has only its table of claims, so pages that claim nothing count as not there."
PAIRS_LEFT_OUT = "Of some subjects so many pages speak that not all their claims were compared with each other."
TEXTS_LEFT_OUT = (
    "So many pages are gone that none was looked for under another path by its text, but by redirects and titles."
)


def diff(old: Place, new: Place, *, workers: int = 0, force: bool = False) -> Generator[PageChange, None, None]:
    """What became of every page: those of the new snapshot in its order, then those that it does not have.

    The same snapshots give the same changes in the same order, whatever the number of processes.
    `force` compares two books that are no snapshots of one.
    """
    with snapshots(old, new, workers=workers, force=force) as both:
        yield from both.changes()


@contextmanager
def snapshots(old: Place, new: Place, *, workers: int = 0, force: bool = False) -> Iterator[Snapshots]:
    """Both snapshots, open; refused if they are not two of one book, unless `force` says that this is meant."""
    with closing(opened(old)) as before, closing(opened(new)) as after:
        if not force:
            check(before.book, after.book)
        yield Snapshots((old, new), Sides(before, after), workers)


class Snapshots:
    """Two snapshots that are open."""

    def __init__(self, places: tuple[Place, Place], sides: Sides, workers: int) -> None:
        self._places = places
        self._sides = sides
        self._workers = workers
        self.old = sides.old.book
        self.new = sides.new.book
        self.notes = [LEADS_ONLY] if sides.old.lead_only != sides.new.lead_only else []
        self.notes += [] if sides.old.knows_all and sides.new.knows_all else [CLAIMS_ONLY]
        self.notes += [f"Pages that {whose} hides are not compared." for whose in dict.fromkeys(self._hiding())]
        """What a reader should know of how they were compared."""

    def record(self) -> dict[str, Any]:
        return {"new": asdict(self.new), "notes": self.notes, "old": asdict(self.old)}

    def page(self, words: str) -> PageChange:
        """What became of one page, named by its title or path; PageHidden where a policy hides it."""
        whose = next(self._hiding(words), "")
        if whose:
            raise PageHidden(f"The page {words!r} is hidden by {whose}.", remedy=REMEDY)
        return page_change(pair_of(words, self._sides.old, self._sides.new), self._sides.old, self._sides.new)

    def _hiding(self, title: str = "") -> Iterator[str]:
        """Whose policy hides a page of this title in one of the snapshots, or any page at all."""
        for place, side in zip(self._places, (self._sides.old, self._sides.new), strict=True):
            book, path = side.book, place.path
            titles = place.policy.titles_of((book.id, book.name, book.title, path.name, path.stem))
            if titles.has(title) if title else titles:
                yield place.policy.whose

    def changes(self, tell: Callable[[Progress], None] = lambda _: None) -> Iterator[PageChange]:
        """What became of every page."""
        known = moves(self._sides.old, self._sides.new)
        pages = self._sides.new.pages + known.gone
        with ExitStack() as stack:
            across = stack.enter_context(Across()) if self._places[1].index else None
            people = stack.enter_context(crew(*self._places, self._sides, self._workers))
            errors = 0
            for done, change in enumerate(self._each(people, known), start=1):
                errors += change.state == "unreadable"
                tell(Progress(done, max(done, pages), kept=0, errors=errors))
                yield change
                if across:
                    across.keep(change, self._sides.new)
            if across:
                yield from across.contradicted(self._sides.new.said(), self._sides.new.language)
                self.notes += [PAIRS_LEFT_OUT] if across.left_out else []

    def _each(self, people: Crew, known: Moves) -> Iterator[PageChange]:
        old, new = self._sides.old, self._sides.new
        texts = self._texts(people, known)
        taken: set[str] = set()
        for change in people.each(changes_of, pairs(old, new, known)):
            path = texts.pop(change.digest, "") if change.digest else ""
            if path:
                taken.add(path)
                yield as_renamed(change, PageAt(path, old.title(path)))
            else:
                yield change
        left = (pair for pair in gone(old, new, known) if pair.old not in taken)
        yield from people.each(changes_of, left)

    def _texts(self, people: Crew, known: Moves) -> dict[str, str]:
        """The paths of pages that went, by their text; of several with one text, none is known by it."""
        if known.gone > MOST_TEXTS:
            self.notes.append(TEXTS_LEFT_OUT)
            return {}
        found: dict[str, str] = {}
        went = list(gone(self._sides.old, self._sides.new, known)) if known.gone else []
        for pair, digest in zip(went, people.each(texts_of, went), strict=True):
            if digest:
                found[digest] = "" if digest in found else pair.old
        return found


def check(old: BookSeen, new: BookSeen) -> None:
    """Refuse two books that are no snapshots of one, and a snapshot with itself."""
    if old.id == new.id:
        raise BadUsage(
            f"Both are the same snapshot of {new.title!r}: they have the same UUID.",
            remedy="Name an older and a newer one, or compare them all the same with --force.",
        )
    keys = book_keys([old], [new])
    if keys[old.id] != keys[new.id]:
        raise BadUsage(
            f"{old.name or old.title!r} and {new.name or new.title!r} are no snapshots of one book: "
            "their names or their languages differ.",
            remedy="Compare them all the same with --force.",
        )
