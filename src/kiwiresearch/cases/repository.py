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
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.cases.places import (
    CASE_FILE,
    START_HINT,
    CasePlace,
    FolderPlace,
    SchemaPlace,
    beginning_in,
    case_folders,
    find_case_folder,
    last_changed,
    new_case_folder,
    rewording_errors,
)
from kiwiresearch.errors import BadUsage, FolderTaken, KiwiError, RunDamaged, RunError, StoreError
from kiwiresearch.kin.store import LOCK, locked_folder
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

    def place(self, wanted: str) -> CasePlace | None:
        """Where the case with this id is stored; None for an unknown id."""

    def find(self, words: str) -> str:
        """The id of the case with this name, or of the most recently used one."""

    def begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        """Let `make` create a case under this name, with a number if the name is taken, and return its id."""

    def close(self) -> None:
        """Close connections that were opened to find cases."""


def case_id(folder: Path) -> str:
    """An anonymous id, since the folder is named after a person who may be living."""
    return hashlib.sha256(b"case " + os.fsencode(folder.name)).hexdigest()[:ID_LETTERS]


class FolderCases:
    """Cases as folders; any case folder put there is found."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def ids(self) -> tuple[str, ...]:
        return tuple(map(case_id, sorted(self._folders(), key=last_changed, reverse=True)))

    def place(self, wanted: str) -> FolderPlace | None:
        found = next((one for one in self._folders() if case_id(one) == wanted), None)
        return None if found is None else FolderPlace(found)

    def find(self, words: str) -> str:
        if not words:
            return case_id(find_case_folder(cases=self._root))
        for one in self._folders():
            if words in (case_id(one), one.name, str(one)) or folder_name(words) == one.name:
                return case_id(one)
        raise BadUsage(
            f"The server has no case {words!r}.",
            remedy=f"Its cases are those in {str(self._root)!r}: begin one at the desk, or name the folder "
            "that holds yours in 'cases' below [serve] in the settings.",
        )

    def begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        place = FolderPlace(_free(new_case_folder(name, cases=self._root)))
        with rewording_errors(place.without_names), beginning_in(place.folder):
            make(place)
        return case_id(place.folder)

    def close(self) -> None:
        """Nothing to close."""

    def _folders(self) -> list[Path]:
        """The folders of cases, without links that lead outside."""
        return [one for one in case_folders(self._root) if not one.is_symlink() and not (one / CASE_FILE).is_symlink()]


def _free(folder: Path) -> Path:
    """The folder, or the next numbered one if something exists there."""
    number, found = 1, folder
    while os.path.lexists(found):
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


ID = re.compile(rf"[0-9a-f]{{{ID_LETTERS}}}")
NEW = ".new-"
MIN_ID_LETTERS = 4
"""How many characters of an id are enough to name a case, if they are unique."""


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
        return tuple(one.id for one in self.all())

    def all(self) -> list[CaseEntry]:
        """All cases with their owner's names for them, the most recently used first."""
        return sorted(self._store.cases.all(), key=lambda one: one.changed_at, reverse=True)

    def place(self, wanted: str) -> CasePlace | None:
        found = self._store.cases.get(wanted) if ID.fullmatch(wanted) else None
        return None if found is None else self._place(found.id, found.name, found.place)

    def find(self, words: str) -> str:
        found = self._named(words) if words else next(iter(self.all()), None)
        if found is None:
            what = f"There is no case {words!r} in the store." if words else "There is no case in the store yet."
            raise BadUsage(what, remedy=f"{START_HINT}; a case in a folder is named by its path, such as cases/darwin.")
        return found.id

    def begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        with (
            self.beginning(new_case_folder(name).name, is_numbered=True) as (case_id, place),
            rewording_errors(place.without_names),
        ):
            make(place)
        return case_id

    @contextmanager
    def beginning(self, title: str, *, is_numbered: bool = False) -> Iterator[tuple[str, CasePlace]]:
        """The id of a new case and a place to create it; it is moved into the store if no error is raised."""
        self._sweep()
        folder = self._root / f"{NEW}{secrets.token_hex(8)}"
        case_id = secrets.token_hex(ID_LETTERS // 2)
        try:
            with locked_folder(folder):
                place = FolderPlace(folder, title)
                yield case_id, place
                self.take_in(place, title, case_id, is_numbered=is_numbered)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def take_in(self, source: CasePlace, title: str, case_id: str = "", *, is_numbered: bool = False) -> str:
        """Copy a case into the store under a free name, and return the fingerprint that proves the copy."""
        case_id = case_id or secrets.token_hex(ID_LETTERS // 2)
        where = self._opened.schema(case_id) if self._store.is_shared else case_id
        target = self._place(case_id, title, where)
        try:
            fingerprint = copy_case(source, target)
            self._add(case_id, _names(title) if is_numbered else iter([title]), where)
        except BaseException:
            with suppress(KiwiError):
                _discard(target)
            raise
        return fingerprint

    def _add(self, case_id: str, names: Iterator[str], where: str) -> None:
        from kiwiresearch.store import CaseEntry

        now = self._now()
        for name in names:
            if self._store.cases.add(CaseEntry(case_id, name, where, now, now)):
                return
        raise title_taken(name)

    def remove(self, case_id: str) -> None:
        """Remove a case for good while nobody works on it, even if parts of it are already gone."""
        place = self.place(case_id)
        if place is None:
            return
        with ExitStack() as held:
            with suppress(RunDamaged):  # its tables are already gone
                held.enter_context(place.exclusive())
            self.drop(case_id, place)

    def drop(self, case_id: str, place: CasePlace) -> None:
        """Remove a case that the caller has locked."""
        _discard(place)
        self._store.cases.remove(case_id)

    def is_free(self, title: str) -> bool:
        return all(one.name != title for one in self._store.cases.all())

    def _named(self, words: str) -> CaseEntry | None:
        rows = self._store.cases.all()
        called = [one for one in rows if one.name in (words, folder_name(words))]
        begun = [one for one in rows if len(words) >= MIN_ID_LETTERS and one.id.startswith(words)]
        return next(iter(called), begun[0] if len(begun) == 1 else None)

    def _place(self, case_id: str, name: str, place: str) -> CasePlace:
        touch = partial(self._touch, case_id)
        if self._store.is_shared:
            return SchemaPlace(self._opened, self._store.files, place, name, self._root / case_id, touch)
        return FolderPlace(self._beside / place, name, touch)

    def _touch(self, case_id: str) -> None:
        with suppress(StoreError):  # the case itself is unchanged
            self._store.cases.note_change(case_id, at=self._now())

    def _now(self) -> str:
        """The time of the store's server, which all hosts share."""
        return datetime.fromtimestamp(self._store.now(), UTC).isoformat(timespec="microseconds")

    @property
    def _opened(self) -> CaseSchemas:
        if self._schemas is None:
            from kiwiresearch.kin.store import CaseSchemas

            self._schemas = CaseSchemas(self._url, keeps_open=self._keeps_open)
        return self._schemas

    @property
    def _beside(self) -> Path:
        from kiwiresearch.store import file_path

        file = file_path(self._url)
        return file.with_name(f"{file.stem}-cases")

    def _sweep(self) -> None:
        """Remove what killed processes left; a case that is being started has no file yet."""
        for folder in self._root.glob(f"{NEW}*"):
            with suppress(RunError, OSError):
                if any(file.name != LOCK for file in folder.iterdir()):
                    with locked_folder(folder):
                        FolderPlace(folder).discard()
                    shutil.rmtree(folder, ignore_errors=True)


def _discard(place: CasePlace) -> None:
    place.discard()
    shutil.rmtree(place.folder, ignore_errors=True)


def copy_case(source: CasePlace, target: CasePlace) -> str:
    """Copy a case, verify that the copy is the same, and return its fingerprint."""
    from kiwiresearch.kin.store import CaseStore

    with CaseStore.open(source.database, str) as store:
        store.copy_to(target.database)
        before = store.fingerprint()
    with CaseStore.open(target.database, str) as copy:
        after = copy.fingerprint()
    if after != before:
        target.discard()
        raise RunDamaged(
            "The copy of the case is not the same as the case, so it was not kept.",
            remedy="Prove the case with 'kiwiresearch kin verify', then try again.",
        )
    return before


def title_taken(title: str) -> FolderTaken:
    return FolderTaken(f"There is a case {title!r} in the store already.", remedy="Give it another name.")


def _names(title: str) -> Iterator[str]:
    yield title
    for number in count(2):
        yield f"{title}-{number}"
