"""The cases of a server: known by ids that name nobody, read side by side, changed by one at a time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import FolderTaken, KiwiError, NothingFound
from kiwiresearch.research.family_folders import FILE, all_cases, alone_in, changed, folder_for, new_in, plugins_of
from kiwiresearch.research.job_files import kept_in
from kiwiresearch.research.remembered import Stamp, stamp_of

if TYPE_CHECKING:
    from kiwiresearch.kin.loop.settings import Scope
    from kiwiresearch.kin.privacy.redact import Mode
    from kiwiresearch.research.desk import Desk
    from kiwiresearch.research.family import Case, CaseSettings
    from kiwiresearch.research.family_seen import SeenCase
    from kiwiresearch.research.finding import Finder

ID_LETTERS = 12
MOST_SEEN = 4
"""Of how many cases what was worked out is kept, those that were asked for last."""
STAYS = "Wait until it is done, or stop it."


def cases_of(desk: Desk) -> Cases:
    """The cases of a user's server."""
    return Cases(kept_in(desk, "cases", desk.settings.serve.cases), plugins_of(desk), desk.settings.kin)


def case_id(folder: Path) -> str:
    """What a case is called outside: its folder has the name of a person, who may be living."""
    return hashlib.sha256(b"case " + os.fsencode(folder.name)).hexdigest()[:ID_LETTERS]


class Cases:
    """All cases below one folder."""

    def __init__(self, root: Path, plugins: Path | None = None, scope: Scope | None = None) -> None:
        self.root = root
        self.plugins = plugins
        self._scope = scope
        self._seen: OrderedDict[str, tuple[tuple[Stamp, ...], SeenCase]] = OrderedDict()
        self._told: dict[tuple[str, Mode], tuple[tuple[Stamp, ...], dict[str, Any]]] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._changing = threading.RLock()

    def ids(self) -> tuple[str, ...]:
        """The cases there are, the one that was worked on last first."""
        return tuple(map(case_id, sorted(self._folders(), key=changed, reverse=True)))

    def folder(self, wanted: str) -> Path:
        """The folder of a case; a name that is no id leads nowhere."""
        found = next((one for one in self._folders() if case_id(one) == wanted), None)
        if found is None:
            raise NothingFound(f"There is no case {wanted!r}.", remedy="'GET /api/family' lists all of them.")
        return found

    def _folders(self) -> list[Path]:
        """A link that leads elsewhere is no case of this server."""
        return [one for one in all_cases(self.root) if not one.is_symlink() and not (one / FILE).is_symlink()]

    @contextmanager
    def seen(self, wanted: str) -> Iterator[SeenCase]:
        """A case to be read, by one thread at a time; what was worked out is kept until the case changes."""
        folder = self.folder(wanted)
        with self._lock(wanted), nameless_in(folder):
            yield self._as_it_is(wanted, folder)

    def summary(self, wanted: str, mode: Mode) -> dict[str, Any]:
        """What a list says of a case."""
        from kiwiresearch.research.family_seen import summary_record

        stamps = _stamps(self.folder(wanted))
        known = self._told.get((wanted, mode))
        if known is None or known[0] != stamps:
            with self.seen(wanted) as case:
                known = self._told[wanted, mode] = stamps, summary_record(case, mode)
        return known[1]

    @contextmanager
    def changing(self, wanted: str) -> Iterator[Case]:
        """A case to be changed, while nobody else changes it."""
        from kiwiresearch.research.family import Case

        folder = self.folder(wanted)
        with _alone(folder), nameless_in(folder), Case.open(folder, plugins=self.plugins) as case:
            yield case

    def check_free(self, wanted: str, *, is_ours: bool = False) -> None:
        """Refuse a case that somebody works on; `is_ours` if it is in line here already."""
        folder = self.folder(wanted)
        if is_ours:
            raise FolderTaken("This case is being worked on, or in line for it.", remedy=STAYS)
        with _alone(folder), nameless_in(folder):
            pass

    def start(self, settings: CaseSettings, finder: Finder) -> str:
        """Begin a case with the people of its settings; the id it has from now on."""
        from kiwiresearch.research.family import Case

        return self._begin(
            settings.seeds[0], lambda folder: Case.start(folder, settings, finder, plugins=self.plugins).close()
        )

    def begin_empty(self, name: str) -> str:
        """Begin a case in which nobody is known yet."""
        from kiwiresearch.research.family import Case, CaseSettings

        settings = CaseSettings.within(self._scope) if self._scope else CaseSettings()
        return self._begin(name, lambda folder: Case.empty(folder, settings).close())

    def _begin(self, name: str, make: Callable[[Path], None]) -> str:
        with self._changing:
            folder = _free(folder_for(name, cases=self.root))
            with nameless_in(folder), new_in(folder):
                make(folder)
        return case_id(folder)

    def _as_it_is(self, wanted: str, folder: Path) -> SeenCase:
        from kiwiresearch.research.family_seen import SeenCase

        stamps = _stamps(folder)
        with self._changing:
            kept = self._seen.pop(wanted, None)
        if kept is not None and kept[0] != stamps:
            kept[1].close()
            kept = None
        kept = kept or (stamps, SeenCase.open(folder, plugins=self.plugins))
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


def _free(folder: Path) -> Path:
    """The folder, or the next one of its name that nothing is at."""
    number, found = 1, folder
    while os.path.lexists(found):
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


def _stamps(folder: Path) -> tuple[Stamp, ...]:
    """By what a change of a case is noticed: its newest words stand in the log beside it."""
    found = []
    for name in (FILE, f"{FILE}-wal"):
        with contextlib.suppress(OSError):
            status = (folder / name).stat()
            if status.st_size:
                found.append(stamp_of(status))
    return tuple(found)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(alone_in(folder))
        except FolderTaken as problem:
            raise FolderTaken("Another program is working on this case.", remedy=STAYS) from problem
        yield


@contextmanager
def nameless_in(folder: Path) -> Iterator[None]:
    """What goes wrong is told without the name of the folder."""
    try:
        yield
    except KiwiError as problem:
        problem.message, problem.remedy = _nameless(folder, problem.message), _nameless(folder, problem.remedy)
        problem.args = (problem.message,)
        raise


def wordless(fault: BaseException) -> str:
    """Where in the program a fault is, without what it says, which may name somebody."""
    return "".join([*traceback.format_tb(fault.__traceback__), type(fault).__name__])


def _nameless(folder: Path, text: str) -> str:
    """The folder of all cases is named in place of the case's own, which has the name of a person."""
    within = text.replace(f"The folder {str(folder)!r}", f"The folder of a case in {str(folder.parent)!r}")
    return within.replace(str(folder / FILE), FILE).replace(str(folder), "its folder")
