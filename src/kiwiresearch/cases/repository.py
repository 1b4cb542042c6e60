"""All cases of a server: as folders, or in the shared store."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.cases.case_location import (
    CASE_FILE,
    START_HINT,
    CaseLocation,
    FolderLocation,
    SchemaLocation,
    case_folders,
    find_case_folder,
    last_changed,
    new_case_folder,
    rewording_errors,
    starting_in,
)
from kiwiresearch.errors import BadUsage, FolderTaken, KiwiError, RunDamaged, RunError, StoreError
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin.store import LOCK, locked_folder
from kiwiresearch.system import free_path, numbered
from kiwiresearch.workspace import folder_name, store_of

if TYPE_CHECKING:
    from kiwiresearch.kin.store import CaseSchemas
    from kiwiresearch.store import CaseEntry, Store
    from kiwiresearch.workspace import Workspace

ID_LETTERS = 12


class CaseRepository(Protocol):
    """All cases, by anonymous ids."""

    def ids(self) -> tuple[str, ...]:
        """All cases, the most recently used first."""

    def location(self, case_id: str) -> CaseLocation | None:
        """Where the case with this id is stored; None for an unknown id."""

    def find(self, name: str) -> str:
        """The id of the case with this name, or of the most recently used one."""

    def start(self, name: str, make: Callable[[CaseLocation], None]) -> str:
        """Let `make` create a case under this name, with a number if the name is taken, and return its id."""

    def close(self) -> None:
        """Close connections that were opened to find cases."""


def case_id_of(folder: Path) -> str:
    """An anonymous id, since the folder is named after a person who may be living."""
    return hashlib.sha256(b"case " + os.fsencode(folder.name)).hexdigest()[:ID_LETTERS]


class FolderCases:
    """Cases as folders; any case folder put there is found."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def ids(self) -> tuple[str, ...]:
        return tuple(map(case_id_of, sorted(self._folders(), key=last_changed, reverse=True)))

    def location(self, case_id: str) -> FolderLocation | None:
        found = next((path for path in self._folders() if case_id_of(path) == case_id), None)
        return None if found is None else FolderLocation(found)

    def find(self, name: str) -> str:
        if not name:
            return case_id_of(find_case_folder(cases=self._root))
        for path in self._folders():
            if name in (case_id_of(path), path.name, str(path)) or folder_name(name) == path.name:
                return case_id_of(path)
        raise BadUsage(
            f"The case {name!r} was not found on this server.",
            remedy=f"The server uses the cases in {str(self._root)!r}. Start one in the web interface, or set 'cases' "
            "under [serve] in your settings to the folder with your cases.",
        )

    def start(self, name: str, make: Callable[[CaseLocation], None]) -> str:
        location = FolderLocation(free_path(new_case_folder(name, cases=self._root)))
        with rewording_errors(location.without_names), starting_in(location.folder):
            make(location)
        return case_id_of(location.folder)

    def close(self) -> None:
        """Nothing to close."""

    def _folders(self) -> list[Path]:
        """The folders of cases, without links that lead outside."""
        return [
            path for path in case_folders(self._root) if not path.is_symlink() and not (path / CASE_FILE).is_symlink()
        ]


# '1f2e3d4c5b6a'; anything else cannot be an id and is not looked up.
ID = re.compile(rf"[0-9a-f]{{{ID_LETTERS}}}")
NEW_PREFIX = ".new-"
MAX_SECONDS_BEFORE_LOCK = 60
"""An empty folder that nobody has locked for longer was left by a killed process."""


class StoredCases:
    """The cases of a store. They are started on this machine's disk, and moved into the store when complete."""

    def __init__(self, store: Store, url: str, root: Path, *, keeps_open: bool = False) -> None:
        self._store = store
        self._url = url
        self._root = root
        self._keeps_open = keeps_open
        self._schemas: CaseSchemas | None = None

    @classmethod
    def of(cls, workspace: Workspace, root: Path, *, keeps_open: bool = False) -> StoredCases:
        """The stored cases of a workspace; with `keeps_open`, connections stay open until it is closed."""
        return cls(store_of(workspace), workspace.settings.store.strip(), root, keeps_open=keeps_open)

    def close(self) -> None:
        if self._schemas is not None:
            self._schemas.close()

    def ids(self) -> tuple[str, ...]:
        return tuple(entry.id for entry in self.all())

    def all(self) -> list[CaseEntry]:
        """All cases with their owner's names for them, the most recently used first."""
        return sorted(self._not_deleted(), key=lambda entry: entry.changed_at, reverse=True)

    def _not_deleted(self) -> list[CaseEntry]:
        deleted = self._store.removed.deleted("family")
        return [entry for entry in self._store.cases.all() if entry.id not in deleted]

    def location(self, case_id: str) -> CaseLocation | None:
        found = self._store.cases.get(case_id) if ID.fullmatch(case_id) else None
        if found is None or found.id in self._store.removed.deleted("family"):
            return None
        return self._location(found.id, found.name, found.place)

    def find(self, name: str) -> str:
        found = self._named(name) if name else next(iter(self.all()), None)
        if found is None:
            what = f"The store has no case named {name!r}." if name else "The store has no cases yet."
            raise BadUsage(
                what, remedy=f"{START_HINT}. To use a case in a folder, enter its path, for example cases/darwin."
            )
        return found.id

    def start(self, name: str, make: Callable[[CaseLocation], None]) -> str:
        with (
            self.starting(new_case_folder(name).name, is_numbered=True) as (case_id, location),
            rewording_errors(location.without_names),
        ):
            make(location)
        return case_id

    @contextmanager
    def starting(self, title: str, *, is_numbered: bool = False) -> Iterator[tuple[str, CaseLocation]]:
        """The id of a new case and a location to create it; it is moved into the store if no error is raised."""
        folder = self._root / f"{NEW_PREFIX}{secrets.token_hex(8)}"
        case_id = secrets.token_hex(ID_LETTERS // 2)
        try:
            with locked_folder(folder):
                self._remove_leftovers(folder.stat().st_mtime)
                location = FolderLocation(folder, title)
                yield case_id, location
                self.copy_into_store(location, title, case_id, is_numbered=is_numbered)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def copy_into_store(self, source: CaseLocation, title: str, case_id: str = "", *, is_numbered: bool = False) -> str:
        """Copy a case into the store under a free name, and return the fingerprint that proves the copy."""
        case_id = case_id or secrets.token_hex(ID_LETTERS // 2)
        stored_at = self._open_schemas.schema(case_id) if self._store.is_server else case_id
        target = self._location(case_id, title, stored_at)
        try:
            fingerprint = copy_case(source, target)
            self._add(case_id, numbered(title) if is_numbered else iter([title]), stored_at)
        except BaseException:
            with suppress(KiwiError):
                _discard(target)
            raise
        return fingerprint

    def _add(self, case_id: str, names: Iterator[str], stored_at: str) -> None:
        from kiwiresearch.store import CaseEntry

        now = self._now()
        for name in names:
            # The unique name decides between hosts that start a case of the same name at the same time.
            if self._store.cases.add(CaseEntry(case_id, name, stored_at, now, now)):
                return
        raise title_taken_error(name)

    def remove(self, case_id: str) -> None:
        """Remove a case for good while nobody works on it, even if parts of it are already gone."""
        location = self.location(case_id)
        if location is None:
            return
        with ExitStack() as held:
            with suppress(RunDamaged):  # its tables are already gone
                held.enter_context(location.exclusive())
            self.drop(case_id, location)

    def drop(self, case_id: str, location: CaseLocation) -> None:
        """Remove a case that the caller has locked."""
        _discard(location)
        self._store.cases.remove(case_id)

    def is_free(self, title: str) -> bool:
        """Whether no case has this name; FolderTaken if it is that of one in the trash."""
        same = next((entry for entry in self._store.cases.all() if entry.name == title), None)
        if same is not None and same.id in self._store.removed.deleted("family"):
            raise FolderTaken(
                f"A deleted case has the name {title!r}.",
                remedy="Choose another name, or restore or empty the trash in the web interface, at /archive.",
            )
        return same is None

    def _named(self, name: str) -> CaseEntry | None:
        rows = self._not_deleted()
        called = [entry for entry in rows if entry.name in (name, folder_name(name))]
        by_prefix = [entry for entry in rows if is_start_of_id(name, entry.id)]
        return next(iter(called), by_prefix[0] if len(by_prefix) == 1 else None)

    def _location(self, case_id: str, name: str, stored_at: str) -> CaseLocation:
        touch = partial(self._touch, case_id)
        if self._store.is_server:
            return SchemaLocation(
                self._open_schemas, self._store.run_files, stored_at, name, self._root / case_id, touch
            )
        return FolderLocation(self._case_files_folder / stored_at, name, touch)

    def _touch(self, case_id: str) -> None:
        with suppress(StoreError):  # the case itself is unchanged
            self._store.cases.note_change(case_id, at=self._now())

    def _now(self) -> str:
        """The time of the store's server, which all hosts share."""
        return datetime.fromtimestamp(self._store.now(), UTC).isoformat(timespec="microseconds")

    @property
    def _open_schemas(self) -> CaseSchemas:
        if self._schemas is None:
            from kiwiresearch.kin.store import CaseSchemas

            self._schemas = CaseSchemas(self._url, keeps_open=self._keeps_open)
        return self._schemas

    @property
    def _case_files_folder(self) -> Path:
        from kiwiresearch.store import file_path

        file = file_path(self._url)
        return file.with_name(f"{file.stem}-cases")

    def _remove_leftovers(self, now: float) -> None:
        """Remove what killed processes left; `now` is the time of a folder that was just made."""
        for folder in self._root.glob(f"{NEW_PREFIX}*"):
            with suppress(RunError, OSError):
                # The folder of a case that is being started is there, with its lock, before the lock is taken.
                has_begun = any(file.name != LOCK for file in folder.iterdir())
                # The lock of a folder that is in use raises an error, which leaves the folder alone.
                if has_begun or folder.stat().st_mtime < now - MAX_SECONDS_BEFORE_LOCK:
                    with locked_folder(folder):
                        FolderLocation(folder).discard()
                    shutil.rmtree(folder, ignore_errors=True)


def _discard(location: CaseLocation) -> None:
    location.discard()
    shutil.rmtree(location.folder, ignore_errors=True)


def copy_case(source: CaseLocation, target: CaseLocation) -> str:
    """Copy a case with the media of imported files, verify that the copy is the same, and return its fingerprint."""
    from kiwiresearch.cases.import_log import copy_media
    from kiwiresearch.kin.store import CaseStore

    with CaseStore.open(source.database, str) as store:
        store.copy_to(target.database)
        before = store.fingerprint()
    with CaseStore.open(target.database, str) as copy:
        after = copy.fingerprint()
        copy_media(copy, source, target)
    if after != before:
        target.discard()
        raise RunDamaged(
            "The copy of the case was not identical to the original, so it was discarded.",
            remedy="Check the case with 'kiwiresearch kin verify', then try again.",
        )
    return before


def title_taken_error(title: str) -> FolderTaken:
    return FolderTaken(f"The store already has a case named {title!r}.", remedy="Choose another name.")
