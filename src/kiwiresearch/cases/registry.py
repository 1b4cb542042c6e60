"""Finding cases: by anonymous id on a server, by name on the command line; moving one into or out of the store."""

from __future__ import annotations

import os
import shlex
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.cases.places import (
    CASE_FILE,
    SIDE_FILE_ENDINGS,
    CasePlace,
    FolderPlace,
    beginning_in,
    case_folders,
    checked_folder,
    find_case_folder,
    last_changed,
    new_case_folder,
    plugins_folder,
    rewording_errors,
)
from kiwiresearch.cases.repository import CaseRepository, FolderCases, StoredCases, copy_case, title_taken
from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken, NothingFound
from kiwiresearch.kin.store import locked_folder
from kiwiresearch.workspace import server_folder

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.cases.record_types import CaseSummary
    from kiwiresearch.cases.records import CachedCase
    from kiwiresearch.cases.repository import StoredCases
    from kiwiresearch.kin.loop import CaseScope, CaseSettings
    from kiwiresearch.kin.privacy import Mode
    from kiwiresearch.workspace import Finder, Workspace


MAX_OPEN_CASES = 4
"""How many recently used cases stay open with their computed values."""
WAIT_HINT = "Wait until it is done, or stop it."


def open_registry(workspace: Workspace) -> CaseRegistry:
    """The cases of a user's server."""
    root = server_folder(workspace, "cases", workspace.settings.serve.cases)
    return CaseRegistry(root, plugins_folder(workspace), workspace.settings.kin, repository=_stored(workspace, root))


def _stored(workspace: Workspace, root: Path) -> CaseRepository | None:
    if not workspace.settings.store.strip():
        return None
    from kiwiresearch.cases.repository import StoredCases

    return StoredCases.of(workspace, root, keeps_open=True)


class CaseRegistry:
    """All cases of a server, below one folder or in its store."""

    def __init__(
        self,
        root: Path,
        plugins: Path | None = None,
        scope: CaseScope | None = None,
        *,
        repository: CaseRepository | None = None,
    ) -> None:
        self.root = root
        self.plugins = plugins
        self._scope = scope
        self._repository = repository or FolderCases(root)
        self._open_cases: OrderedDict[str, tuple[Hashable, CachedCase]] = OrderedDict()
        self._summaries: dict[tuple[str, Mode], tuple[Hashable, CaseSummary]] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._state_lock = threading.RLock()
        self._start_lock = threading.Lock()
        """Two cases of the same name are started one after the other; readers do not wait for this lock."""

    def ids(self) -> tuple[str, ...]:
        """All cases, the most recently used first."""
        return self._repository.ids()

    def find(self, words: str) -> str:
        """The id of the case with this name."""
        return self._repository.find(words)

    def place(self, wanted: str) -> CasePlace:
        """Where a case is stored; NothingFound for an unknown id."""
        found = self._repository.place(wanted)
        if found is None:
            raise NothingFound(f"There is no case {wanted!r}.", remedy="'GET /api/family' lists all of them.")
        return found

    def folder(self, wanted: str) -> Path:
        """The folder on this machine for the files of a case."""
        return self.place(wanted).folder

    def books(self, wanted: str) -> tuple[str, ...]:
        """The ids of the books a case was started with; empty if it uses all books."""
        with self.reading(wanted) as case:
            return tuple(map(str, case.settings.books))

    @contextmanager
    def reading(self, wanted: str) -> Iterator[CachedCase]:
        """A case for reading, by one thread at a time; computed values are cached until the case changes."""
        place = self.place(wanted)
        with self._lock(wanted), rewording_errors(place.without_names):
            yield self._cached(wanted, place)

    def summary(self, wanted: str, mode: Mode) -> CaseSummary:
        """The summary of a case for lists."""
        from kiwiresearch.cases.records import summary_record

        place = self.place(wanted)
        with rewording_errors(place.without_names):
            stamp = place.stamp()
        known = self._summaries.get((wanted, mode))
        if known is None or known[0] != stamp:
            with self.reading(wanted) as case:
                known = self._summaries[wanted, mode] = stamp, summary_record(case, mode)
        return known[1]

    @contextmanager
    def changing(self, wanted: str) -> Iterator[Case]:
        """A case opened for changes, and locked for everybody else."""
        place = self.place(wanted)
        with rewording_errors(place.without_names), self._open_exclusively(place) as case:
            yield case

    def _open_exclusively(self, place: CasePlace) -> Case:
        from kiwiresearch.cases.case import Case

        with _anonymous_refusal():
            return Case.open(place, plugins=self.plugins, alone_s=0.0)

    def check_free(self, wanted: str, *, is_ours: bool = False) -> None:
        """Raise if the case is being worked on; `is_ours` if a job for it already waits here."""
        place = self.place(wanted)
        if is_ours:
            raise FolderTaken("This case is being worked on, or in line for it.", remedy=WAIT_HINT)
        with rewording_errors(place.without_names), _anonymous_refusal(), place.exclusive():
            pass

    def start(self, settings: CaseSettings, finder: Finder) -> str:
        """Start a case with the people in its settings, and return its id."""
        from kiwiresearch.cases.case import Case

        return self._begin(
            settings.seeds[0], lambda place: Case.start(place, settings, finder, plugins=self.plugins).close()
        )

    def begin_empty(self, name: str) -> str:
        """Start a case without any people."""
        from kiwiresearch.cases.case import Case
        from kiwiresearch.kin.loop import CaseSettings

        settings = CaseSettings.from_scope(self._scope) if self._scope else CaseSettings()
        return self._begin(name, lambda place: Case.empty(place, settings).close())

    def _begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        with self._start_lock:
            return self._repository.begin(name, make)

    def _cached(self, wanted: str, place: CasePlace) -> CachedCase:
        from kiwiresearch.cases.records import CachedCase

        stamp = place.stamp()
        with self._state_lock:
            kept = self._open_cases.pop(wanted, None)
        if kept is not None and kept[0] != stamp:
            kept[1].close()
            kept = None
        kept = kept or (stamp, CachedCase.open(place, plugins=self.plugins))
        with self._state_lock:
            self._open_cases[wanted] = kept
            for old in list(self._open_cases)[:-MAX_OPEN_CASES]:
                self._forget(old)
        return kept[1]

    def _forget(self, old: str) -> None:
        """Close a cached case, unless another thread is reading it."""
        lock = self._lock(old)
        if lock.acquire(blocking=False):
            try:
                self._open_cases.pop(old)[1].close()
            finally:
                lock.release()

    def _lock(self, wanted: str) -> threading.RLock:
        with self._state_lock:
            return self._locks.setdefault(wanted, threading.RLock())

    def close(self) -> None:
        with self._state_lock:
            for old in list(self._open_cases):
                self._forget(old)
        self._repository.close()


@contextmanager
def _anonymous_refusal() -> Iterator[None]:
    """Refuse a locked case without saying whose it is."""
    try:
        yield
    except FolderTaken as problem:
        raise FolderTaken("Another program is working on this case.", remedy=WAIT_HINT) from problem


def traceback_without_message(fault: BaseException) -> str:
    """The traceback of an error without its message, which may name people."""
    return "".join([*traceback.format_tb(fault.__traceback__), type(fault).__name__])


def stored_cases(workspace: Workspace) -> StoredCases | None:
    """The cases of the store, if the settings name one."""
    if not workspace.settings.store.strip():
        return None
    from kiwiresearch.cases.repository import StoredCases

    return StoredCases.of(workspace, server_folder(workspace, "cases", workspace.settings.serve.cases))


def all_case_places(workspace: Workspace) -> list[CasePlace]:
    """All cases, the most recently used first."""
    cases = stored_cases(workspace)
    if cases is None:
        return [FolderPlace(one) for one in sorted(case_folders(), key=last_changed, reverse=True)]
    return [place for one in cases.ids() if (place := cases.place(one)) is not None]


def find_case_place(workspace: Workspace, wanted: str) -> CasePlace:
    """The case of that name, or the most recently used one; with a store, a folder can be named too."""
    cases = stored_cases(workspace)
    if cases is not None and not (wanted and _is_folder(wanted)):
        place = cases.place(cases.find(wanted))
        if place is not None:  # it may have been removed since it was listed
            return place
    return FolderPlace(find_case_folder(wanted))


def case_exists(workspace: Workspace, wanted: str) -> bool:
    """Whether there is a case of that name, or any case if no name is given."""
    with suppress(BadUsage):
        find_case_place(workspace, wanted)
        return True
    return False


@contextmanager
def new_case_place(workspace: Workspace, wanted: str, name: str) -> Iterator[CasePlace]:
    """A place for a new case, with the given name or named after a person; it is reserved once the case is started."""
    cases = stored_cases(workspace)
    if cases is not None:
        title = new_case_folder(wanted or name).name
        if not cases.is_free(title):
            raise _already_there(f"There is a case {title!r} in the store already.", title, "give another name")
        with cases.beginning(title) as (_, place):
            yield place
        return
    folder = checked_folder(wanted) if wanted else new_case_folder(name)
    if (folder / CASE_FILE).exists():
        raise _already_there(f"There is a case in {str(folder)!r} already.", str(folder), "name another folder")
    with beginning_in(folder):
        yield FolderPlace(folder)


def _already_there(problem: str, case: str, otherwise: str) -> FolderTaken:
    go_on = f"Go on with it: kiwiresearch kin run --case {shlex.quote(case)}"
    return FolderTaken(problem, remedy=f"{go_on}; or {otherwise} with --case.")


def _is_folder(wanted: str) -> bool:
    """Whether this path is a folder with a case; with a store, a bare name means a case in the store."""
    folder = checked_folder(wanted)
    return wanted != folder.name and (folder / CASE_FILE).is_file()


ASIDE = "moved-"
NO_STORE = "Name one: 'store = \"postgresql://…\"' in settings.toml, or KIWIRESEARCH_STORE."


@dataclass(frozen=True, slots=True)
class MovedCase:
    """A case that was moved."""

    title: str
    fingerprint: str
    """The hash of all its rows, which was the same at both places."""
    left: Path | None = None
    """The original file, which was set aside."""


def move_into_store(workspace: Workspace, wanted: str, name: str = "") -> MovedCase:
    """Move a case from a folder into the store; its file is set aside, so that nobody continues with it."""
    cases, place = _cases(workspace), FolderPlace(find_case_folder(wanted))
    title = new_case_folder(name or place.folder.absolute().name).name
    with locked_folder(place.folder):
        if not cases.is_free(title):
            raise title_taken(title)
        fingerprint = cases.take_in(place, title)
        return MovedCase(title, fingerprint, _set_aside(place))


def move_out_of_store(workspace: Workspace, wanted: str, to: str) -> MovedCase:
    """Move a case out of the store into a folder."""
    cases, target = _cases(workspace), FolderPlace(checked_folder(to))
    found = cases.find(wanted)
    place = cases.place(found)
    if place is None:
        raise BadUsage(f"There is no case {wanted!r} in the store.")
    if target.database.exists():
        raise FolderTaken(f"There is a case in {to!r} already.", remedy="Name another folder with --to.")
    with rewording_errors(place.with_title), beginning_in(target.folder), place.exclusive():
        fingerprint = copy_case(place, target)
        cases.drop(found, place)
    return MovedCase(target.title, fingerprint)


def _cases(workspace: Workspace) -> StoredCases:
    cases = stored_cases(workspace)
    if cases is None:
        raise BadUsage("The settings name no store.", remedy=NO_STORE)
    return cases


def _set_aside(place: FolderPlace) -> Path:
    """Rename the file of a case so that no command recognises it as one."""
    left = _free(place.database.with_name(f"{ASIDE}{CASE_FILE}"))
    try:
        for ending in ("", *SIDE_FILE_ENDINGS):
            file = place.database.with_name(f"{CASE_FILE}{ending}")
            if file.exists():
                file.replace(left.with_name(f"{left.name}{ending}"))
    except OSError as problem:
        raise CannotWrite(
            f"The case is in the store, and its file {str(place.database)!r} cannot be set aside: {problem.strerror}.",
            remedy="Remove it by hand.",
        ) from problem
    return left


def _free(file: Path) -> Path:
    """The path, or the next free numbered one, so that files set aside earlier are not overwritten."""
    names = (file.with_name(f"{file.stem}-{number}{file.suffix}") for number in count(2))
    return next(one for one in chain([file], names) if not os.path.lexists(one))
