"""The cases of a server: known by ids that name nobody, read side by side, changed by one at a time."""

from __future__ import annotations

import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import FolderTaken, NothingFound
from kiwiresearch.research.family_folders import plugins_of
from kiwiresearch.research.family_kept import CaseKeeping, FolderCases, case_id
from kiwiresearch.research.family_places import CasePlace, retold
from kiwiresearch.research.job_places import kept_in

if TYPE_CHECKING:
    from kiwiresearch.kin.loop.settings import Scope
    from kiwiresearch.kin.privacy.redact import Mode
    from kiwiresearch.research.desk import Desk
    from kiwiresearch.research.family import Case, CaseSettings
    from kiwiresearch.research.family_seen import SeenCase
    from kiwiresearch.research.finding import Finder

__all__ = ["Cases", "case_id", "cases_of"]

MOST_SEEN = 4
"""Of how many cases what was worked out is kept, those that were asked for last."""
STAYS = "Wait until it is done, or stop it."


def cases_of(desk: Desk) -> Cases:
    """The cases of a user's server."""
    root = kept_in(desk, "cases", desk.settings.serve.cases)
    return Cases(root, plugins_of(desk), desk.settings.kin, kept=_stored(desk, root))


def _stored(desk: Desk, root: Path) -> CaseKeeping | None:
    if not desk.settings.store.strip():
        return None
    from kiwiresearch.research.family_stored import StoredCases

    return StoredCases.of(desk, root, keeps_open=True)


class Cases:
    """All cases of a server: below one folder, unless they are kept elsewhere."""

    def __init__(
        self,
        root: Path,
        plugins: Path | None = None,
        scope: Scope | None = None,
        *,
        kept: CaseKeeping | None = None,
    ) -> None:
        self.root = root
        self.plugins = plugins
        self._scope = scope
        self._kept = kept or FolderCases(root)
        self._seen: OrderedDict[str, tuple[Hashable, SeenCase]] = OrderedDict()
        self._told: dict[tuple[str, Mode], tuple[Hashable, dict[str, Any]]] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._changing = threading.RLock()
        self._beginning = threading.Lock()
        """Two cases of one name are begun one after the other, however long that takes; who reads does not wait."""

    def ids(self) -> tuple[str, ...]:
        """The cases there are, the one that was worked on last first."""
        return self._kept.ids()

    def named(self, words: str) -> str:
        """The id of the case that its owner calls so."""
        return self._kept.named(words)

    def place(self, wanted: str) -> CasePlace:
        """Where a case is; a name that is no id leads nowhere."""
        found = self._kept.place(wanted)
        if found is None:
            raise NothingFound(f"There is no case {wanted!r}.", remedy="'GET /api/family' lists all of them.")
        return found

    def folder(self, wanted: str) -> Path:
        """Where this machine keeps files for a case."""
        return self.place(wanted).folder

    def books(self, wanted: str) -> tuple[str, ...]:
        """The ids of the books that a case was begun with; none where it uses the whole shelf."""
        with self.seen(wanted) as case:
            return tuple(map(str, case.settings.books))

    @contextmanager
    def seen(self, wanted: str) -> Iterator[SeenCase]:
        """A case to be read, by one thread at a time; what was worked out is kept until the case changes."""
        place = self.place(wanted)
        with self._lock(wanted), retold(place.nameless):
            yield self._as_it_is(wanted, place)

    def summary(self, wanted: str, mode: Mode) -> dict[str, Any]:
        """What a list says of a case."""
        from kiwiresearch.research.family_seen import summary_record

        place = self.place(wanted)
        with retold(place.nameless):
            stamp = place.stamp()
        known = self._told.get((wanted, mode))
        if known is None or known[0] != stamp:
            with self.seen(wanted) as case:
                known = self._told[wanted, mode] = stamp, summary_record(case, mode)
        return known[1]

    @contextmanager
    def changing(self, wanted: str) -> Iterator[Case]:
        """A case to be changed, while nobody else changes it."""
        place = self.place(wanted)
        with retold(place.nameless), self._opened_alone(place) as case:
            yield case

    def _opened_alone(self, place: CasePlace) -> Case:
        from kiwiresearch.research.family import Case

        with _or_told():
            return Case.open(place, plugins=self.plugins, alone_s=0.0)

    def check_free(self, wanted: str, *, is_ours: bool = False) -> None:
        """Refuse a case that somebody works on; `is_ours` if it is in line here already."""
        place = self.place(wanted)
        if is_ours:
            raise FolderTaken("This case is being worked on, or in line for it.", remedy=STAYS)
        with retold(place.nameless), _or_told(), place.alone():
            pass

    def start(self, settings: CaseSettings, finder: Finder) -> str:
        """Begin a case with the people of its settings; the id it has from now on."""
        from kiwiresearch.research.family import Case

        return self._begin(
            settings.seeds[0], lambda place: Case.start(place, settings, finder, plugins=self.plugins).close()
        )

    def begin_empty(self, name: str) -> str:
        """Begin a case in which nobody is known yet."""
        from kiwiresearch.research.family import Case, CaseSettings

        settings = CaseSettings.within(self._scope) if self._scope else CaseSettings()
        return self._begin(name, lambda place: Case.empty(place, settings).close())

    def _begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        with self._beginning:
            return self._kept.begin(name, make)

    def _as_it_is(self, wanted: str, place: CasePlace) -> SeenCase:
        from kiwiresearch.research.family_seen import SeenCase

        stamp = place.stamp()
        with self._changing:
            kept = self._seen.pop(wanted, None)
        if kept is not None and kept[0] != stamp:
            kept[1].close()
            kept = None
        kept = kept or (stamp, SeenCase.open(place, plugins=self.plugins))
        with self._changing:
            self._seen[wanted] = kept
            for old in list(self._seen)[:-MOST_SEEN]:
                self._forget(old)
        return kept[1]

    def _forget(self, old: str) -> None:
        """Close a case, unless somebody reads it just now."""
        lock = self._lock(old)
        if lock.acquire(blocking=False):
            try:
                self._seen.pop(old)[1].close()
            finally:
                lock.release()

    def _lock(self, wanted: str) -> threading.RLock:
        with self._changing:
            return self._locks.setdefault(wanted, threading.RLock())

    def close(self) -> None:
        with self._changing:
            for old in list(self._seen):
                self._forget(old)
        self._kept.close()


@contextmanager
def _or_told() -> Iterator[None]:
    """Who comes second is told so, without whose case it is."""
    try:
        yield
    except FolderTaken as problem:
        raise FolderTaken("Another program is working on this case.", remedy=STAYS) from problem


def wordless(fault: BaseException) -> str:
    """Where in the program a fault is, without what it says, which may name somebody."""
    return "".join([*traceback.format_tb(fault.__traceback__), type(fault).__name__])
