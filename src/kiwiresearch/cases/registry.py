"""Finding cases: by anonymous id on a server, by name on the command line; moving one into or out of the store."""

from __future__ import annotations

import shlex
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.cases.case_location import (
    CASE_FILE,
    SIDE_FILE_ENDINGS,
    CaseLocation,
    FolderLocation,
    case_folders,
    checked_folder,
    find_case_folder,
    last_changed,
    new_case_folder,
    plugins_folder,
    rewording_errors,
    starting_in,
)
from kiwiresearch.cases.repository import CaseRepository, FolderCases, StoredCases, copy_case, title_taken_error
from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken, NothingFound
from kiwiresearch.kin.store import WAIT_REMEDY, locked_folder
from kiwiresearch.system import free_path
from kiwiresearch.workspace import server_folder

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.cases.json_records import CaseSummary
    from kiwiresearch.cases.record_builder import CachedCase
    from kiwiresearch.kin.loop import CaseScope, CaseSettings
    from kiwiresearch.kin.privacy import PrivacyMode
    from kiwiresearch.workspace import Finder, Workspace


MAX_OPEN_CASES = 4
"""How many recently used cases stay open with their computed values."""


def open_registry(workspace: Workspace) -> CaseRegistry:
    """The cases of a user's server."""
    repository = stored_cases(workspace, keeps_open=True)
    return CaseRegistry(
        _cases_folder(workspace), plugins_folder(workspace), workspace.settings.kin, repository=repository
    )


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
        self._summaries: dict[tuple[str, PrivacyMode], tuple[Hashable, CaseSummary]] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._state_lock = threading.RLock()
        self._start_lock = threading.Lock()
        """Two cases of the same name are started one after the other; readers do not wait for this lock."""

    def ids(self) -> tuple[str, ...]:
        """All cases, the most recently used first."""
        return self._repository.ids()

    def find(self, name: str) -> str:
        """The id of the case with this name."""
        return self._repository.find(name)

    def location(self, case_id: str) -> CaseLocation:
        """Where a case is stored; NothingFound for an unknown id."""
        found = self._repository.location(case_id)
        if found is None:
            raise NothingFound(f"The case {case_id!r} was not found.", remedy="'GET /api/family' lists all cases.")
        return found

    def folder(self, case_id: str) -> Path:
        """The folder on this machine for the files of a case."""
        return self.location(case_id).folder

    def books(self, case_id: str) -> tuple[str, ...]:
        """The ids of the books a case was started with; empty if it uses all books."""
        with self.reading(case_id) as case:
            return tuple(map(str, case.settings.books))

    @contextmanager
    def reading(self, case_id: str) -> Iterator[CachedCase]:
        """A case for reading, by one thread at a time; computed values are cached until the case changes."""
        location = self.location(case_id)
        with self._lock(case_id), rewording_errors(location.without_names):
            yield self._cached(case_id, location)

    def summary(self, case_id: str, mode: PrivacyMode) -> CaseSummary:
        """The summary of a case for lists."""
        from kiwiresearch.cases.record_builder import summary_record

        location = self.location(case_id)
        with rewording_errors(location.without_names):
            stamp = location.stamp()
        known = self._summaries.get((case_id, mode))
        if known is None or known[0] != stamp:
            with self.reading(case_id) as case:
                known = self._summaries[case_id, mode] = stamp, summary_record(case, mode)
        return known[1]

    @contextmanager
    def opened_exclusively(self, case_id: str) -> Iterator[Case]:
        """A case opened for changes, and locked for everybody else."""
        location = self.location(case_id)
        with rewording_errors(location.without_names), self._open_exclusively(location) as case:
            yield case

    @contextmanager
    def opened_for_edit(self, case_id: str) -> Iterator[Case]:
        """A case for a change by a person; waits only for the current research step, not for the research to end."""
        from kiwiresearch.cases.case import Case

        location = self.location(case_id)
        with rewording_errors(location.without_names), Case.open(location, plugins=self.plugins) as case:
            yield case
            location.touch()

    def _open_exclusively(self, location: CaseLocation) -> Case:
        from kiwiresearch.cases.case import Case

        with _anonymous_refusal():
            return Case.open(location, plugins=self.plugins, for_changes=True)

    def require_free(self, case_id: str, *, has_open_job: bool = False) -> None:
        """Raise if the case is being worked on; with `has_open_job`, a job for it waits or runs already."""
        location = self.location(case_id)
        if has_open_job:
            raise FolderTaken("Research on this case is already running or queued.", remedy=WAIT_REMEDY)
        with rewording_errors(location.without_names), _anonymous_refusal(), location.exclusive():
            pass

    def close_cached(self, case_id: str) -> None:
        """Close a case that was kept open for reading, so that its folder can be moved."""
        with self._state_lock:
            if case_id in self._open_cases:
                self._close_cached(case_id)

    def start(self, settings: CaseSettings, finder: Finder) -> str:
        """Start a case with the people in its settings, and return its id."""
        from kiwiresearch.cases.case import Case

        return self._start(
            settings.seeds[0], lambda location: Case.start(location, settings, finder, plugins=self.plugins).close()
        )

    def start_empty(self, name: str) -> str:
        """Start a case without any people."""
        from kiwiresearch.cases.case import Case
        from kiwiresearch.kin.loop import CaseSettings

        settings = CaseSettings.from_scope(self._scope) if self._scope else CaseSettings()
        return self._start(name, lambda location: Case.empty(location, settings).close())

    def _start(self, name: str, make: Callable[[CaseLocation], None]) -> str:
        with self._start_lock:
            return self._repository.start(name, make)

    def _cached(self, case_id: str, location: CaseLocation) -> CachedCase:
        from kiwiresearch.cases.record_builder import CachedCase

        # Before the case is opened: if it changes in between, the stamp is too old, and the case is opened again.
        stamp = location.stamp()
        with self._state_lock:
            cached = self._open_cases.pop(case_id, None)
        if cached is not None and cached[0] != stamp:
            cached[1].close()
            cached = None
        cached = cached or (stamp, CachedCase.open(location, plugins=self.plugins))
        with self._state_lock:
            self._open_cases[case_id] = cached
            for old in list(self._open_cases)[:-MAX_OPEN_CASES]:
                self._close_cached(old)
        return cached[1]

    def _close_cached(self, case_id: str) -> None:
        """Close a cached case, unless another thread is reading it."""
        lock = self._lock(case_id)
        # Waiting would be a deadlock: the thread that reads the case may need the state lock, which is held here.
        if lock.acquire(blocking=False):
            try:
                self._open_cases.pop(case_id)[1].close()
            finally:
                lock.release()

    def _lock(self, case_id: str) -> threading.RLock:
        with self._state_lock:
            return self._locks.setdefault(case_id, threading.RLock())

    def close(self) -> None:
        with self._state_lock:
            for old in list(self._open_cases):
                self._close_cached(old)
        self._repository.close()


@contextmanager
def _anonymous_refusal() -> Iterator[None]:
    """Refuse a locked case without saying whose it is."""
    try:
        yield
    except FolderTaken as problem:
        raise FolderTaken("Another program is using this case.", remedy=WAIT_REMEDY) from problem


def traceback_without_message(fault: BaseException) -> str:
    """The traceback of an error without its message, which may name people."""
    return "".join([*traceback.format_tb(fault.__traceback__), type(fault).__name__])


def stored_cases(workspace: Workspace, *, keeps_open: bool = False) -> StoredCases | None:
    """The cases of the store, if the settings name one."""
    if not workspace.settings.is_shared_store:
        return None
    return StoredCases.of(workspace, _cases_folder(workspace), keeps_open=keeps_open)


def _cases_folder(workspace: Workspace) -> Path:
    return server_folder(workspace, "cases", workspace.settings.serve.cases)


def all_case_locations(workspace: Workspace) -> list[CaseLocation]:
    """All cases, the most recently used first."""
    cases = stored_cases(workspace)
    if cases is None:
        return [FolderLocation(path) for path in sorted(case_folders(), key=last_changed, reverse=True)]
    return [location for identifier in cases.ids() if (location := cases.location(identifier)) is not None]


def find_case_location(workspace: Workspace, name_or_folder: str) -> CaseLocation:
    """The case of that name, or the most recently used one; with a store, a folder can be named too."""
    cases = stored_cases(workspace)
    if cases is not None and not (name_or_folder and _is_folder(name_or_folder)):
        location = cases.location(cases.find(name_or_folder))
        if location is not None:  # it may have been removed since it was listed
            return location
    return FolderLocation(find_case_folder(name_or_folder))


def case_exists(workspace: Workspace, name_or_folder: str) -> bool:
    """Whether there is a case of that name, or any case if no name is given."""
    with suppress(BadUsage):
        find_case_location(workspace, name_or_folder)
        return True
    return False


@contextmanager
def new_case_location(workspace: Workspace, name_or_folder: str, name: str) -> Iterator[CaseLocation]:
    """A location for a new case, with the given name or that of a person; it is reserved once the case is started."""
    cases = stored_cases(workspace)
    if cases is not None:
        title = new_case_folder(name_or_folder or name).name
        if not cases.is_free(title):
            raise _already_there(f"The store already has a case named {title!r}.", title, "choose another name")
        with cases.starting(title) as (_, location):
            yield location
        return
    folder = checked_folder(name_or_folder) if name_or_folder else new_case_folder(name)
    if (folder / CASE_FILE).exists():
        raise _already_there(
            f"The folder {str(folder)!r} already contains a case.", str(folder), "choose another folder"
        )
    with starting_in(folder):
        yield FolderLocation(folder)


def _already_there(problem: str, case: str, otherwise: str) -> FolderTaken:
    go_on = f"To continue it: kiwiresearch kin run --case {shlex.quote(case)}"
    return FolderTaken(problem, remedy=f"{go_on}. To start a new one, {otherwise} with --case.")


def _is_folder(name_or_folder: str) -> bool:
    """Whether this path is a folder with a case; with a store, a bare name means a case in the store."""
    folder = checked_folder(name_or_folder)
    return name_or_folder != folder.name and (folder / CASE_FILE).is_file()


MOVED_PREFIX = "moved-"
NO_STORE = "Set 'store = \"postgresql://…\"' in settings.toml, or KIWIRESEARCH_STORE."


@dataclass(frozen=True, slots=True)
class MovedCase:
    """A case that was moved."""

    title: str
    fingerprint: str
    """The hash of all its rows, which was the same at both locations."""
    old_file: Path | None = None
    """The original file under its new name."""


def move_into_store(workspace: Workspace, name_or_folder: str, name: str = "") -> MovedCase:
    """Move a case from a folder into the store; its file is set aside, so that nobody continues with it."""
    cases, location = _cases(workspace), FolderLocation(find_case_folder(name_or_folder))
    title = new_case_folder(name or location.folder.absolute().name).name
    with locked_folder(location.folder):
        if not cases.is_free(title):
            raise title_taken_error(title)
        fingerprint = cases.copy_into_store(location, title)
        return MovedCase(title, fingerprint, _rename_old_file(location))


def move_out_of_store(workspace: Workspace, name_or_folder: str, to: str) -> MovedCase:
    """Move a case out of the store into a folder."""
    cases, target = _cases(workspace), FolderLocation(checked_folder(to))
    found = cases.find(name_or_folder)
    location = cases.location(found)
    if location is None:
        raise BadUsage(f"The store has no case named {name_or_folder!r}.")
    if target.database.exists():
        raise FolderTaken(f"The folder {to!r} already contains a case.", remedy="Choose another folder with --to.")
    with rewording_errors(location.with_title), starting_in(target.folder), location.exclusive():
        fingerprint = copy_case(location, target)
        cases.drop(found, location)
    return MovedCase(target.title, fingerprint)


def _cases(workspace: Workspace) -> StoredCases:
    cases = stored_cases(workspace)
    if cases is None:
        raise BadUsage("No store is set up.", remedy=NO_STORE)
    return cases


def _rename_old_file(location: FolderLocation) -> Path:
    """Rename the file of a case so that no command recognises it as one."""
    old_file = free_path(location.database.with_name(f"{MOVED_PREFIX}{CASE_FILE}"), location.database.suffix)
    try:
        for ending in ("", *SIDE_FILE_ENDINGS):
            file = location.database.with_name(f"{CASE_FILE}{ending}")
            if file.exists():
                file.replace(old_file.with_name(f"{old_file.name}{ending}"))
    except OSError as problem:
        raise CannotWrite(
            f"The case was moved, but its old file {str(location.database)!r} cannot be renamed: {problem.strerror}.",
            remedy="Delete the old file yourself.",
        ) from problem
    return old_file
