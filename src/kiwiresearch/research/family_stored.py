"""Cases in the store: each in a schema of its own on PostgreSQL, else in a file beside the store's."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadUsage, FolderTaken, KiwiError, RunDamaged, RunError, StoreError
from kiwiresearch.research.family_folders import BEGIN, LOCK, alone_in, folder_for
from kiwiresearch.research.family_kept import ID_LETTERS
from kiwiresearch.research.family_places import CasePlace, FolderPlace, SchemaPlace, retold
from kiwiresearch.research.stores import store_of
from kiwiresearch.research.topics import folder_name

if TYPE_CHECKING:
    from kiwiresearch.kin.store.schemas import Schemas
    from kiwiresearch.research.desk import Desk
    from kiwiresearch.store.cases import CaseRow
    from kiwiresearch.store.open import Store

ID = re.compile(rf"[0-9a-f]{{{ID_LETTERS}}}")
NEW = ".new-"
FEWEST_LETTERS = 4
"""So many letters of an id are enough to name a case, where no other begins so."""


class StoredCases:
    """The cases of a store. They are begun on this machine's disk, and come into the store when they are whole."""

    def __init__(self, store: Store, url: str, root: Path, *, keeps_open: bool = False) -> None:
        self._store = store
        self._url = url
        self._root = root
        self._keeps_open = keeps_open
        self._schemas: Schemas | None = None

    @classmethod
    def of(cls, desk: Desk, root: Path, *, keeps_open: bool = False) -> StoredCases:
        """Those of a desk; who asks often keeps connections open, and closes it in the end."""
        return cls(store_of(desk), desk.settings.store.strip(), root, keeps_open=keeps_open)

    def close(self) -> None:
        if self._schemas is not None:
            self._schemas.close()

    def ids(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.all())

    def all(self) -> list[CaseRow]:
        """All cases with the names their owner gave them, the one that was worked on last first."""
        return sorted(self._store.cases.all(), key=lambda one: one.changed_at, reverse=True)

    def place(self, wanted: str) -> CasePlace | None:
        found = self._store.cases.get(wanted) if ID.fullmatch(wanted) else None
        return None if found is None else self._place(found.id, found.name, found.place)

    def named(self, words: str) -> str:
        found = self._named(words) if words else next(iter(self.all()), None)
        if found is None:
            what = f"There is no case {words!r} in the store." if words else "There is no case in the store yet."
            raise BadUsage(what, remedy=f"{BEGIN}; a case in a folder is named by its path, such as cases/darwin.")
        return found.id

    def begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        with self.beginning(folder_for(name).name, is_numbered=True) as (case_id, place), retold(place.nameless):
            make(place)
        return case_id

    @contextmanager
    def beginning(self, title: str, *, is_numbered: bool = False) -> Iterator[tuple[str, CasePlace]]:
        """The id of a new case, and a place to make it at; it is in the store when that was done without an error."""
        self._sweep()
        folder = self._root / f"{NEW}{secrets.token_hex(8)}"
        case_id = secrets.token_hex(ID_LETTERS // 2)
        try:
            with alone_in(folder):
                place = FolderPlace(folder, title)
                yield case_id, place
                self.take_in(place, title, case_id, is_numbered=is_numbered)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def take_in(self, source: CasePlace, title: str, case_id: str = "", *, is_numbered: bool = False) -> str:
        """Keep the same case in the store, under a name that is free; the fingerprint that proves it is the same."""
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
        from kiwiresearch.store.cases import CaseRow

        now = self._now()
        for name in names:
            if self._store.cases.add(CaseRow(case_id, name, where, now, now)):
                return
        raise taken(name)

    def remove(self, case_id: str) -> None:
        """Remove a case for good, while nobody works on it; what was removed in part is removed whole."""
        place = self.place(case_id)
        if place is None:
            return
        with ExitStack() as held:
            with suppress(RunDamaged):  # its tables are gone already
                held.enter_context(place.alone())
            self.drop(case_id, place)

    def drop(self, case_id: str, place: CasePlace) -> None:
        """Remove a case that whoever calls has for themselves."""
        _discard(place)
        self._store.cases.remove(case_id)

    def is_free(self, title: str) -> bool:
        return all(one.name != title for one in self._store.cases.all())

    def _named(self, words: str) -> CaseRow | None:
        rows = self._store.cases.all()
        called = [one for one in rows if one.name in (words, folder_name(words))]
        begun = [one for one in rows if len(words) >= FEWEST_LETTERS and one.id.startswith(words)]
        return next(iter(called), begun[0] if len(begun) == 1 else None)

    def _place(self, case_id: str, name: str, place: str) -> CasePlace:
        touch = partial(self._touch, case_id)
        if self._store.is_shared:
            return SchemaPlace(self._opened, self._store.files, place, name, self._root / case_id, touch)
        return FolderPlace(self._beside / place, name, touch)

    def _touch(self, case_id: str) -> None:
        with suppress(StoreError):  # the case itself is as it was written
            self._store.cases.note_change(case_id, at=self._now())

    def _now(self) -> str:
        """The time of the store, which all hosts share."""
        return datetime.fromtimestamp(self._store.now(), UTC).isoformat(timespec="microseconds")

    @property
    def _opened(self) -> Schemas:
        if self._schemas is None:
            from kiwiresearch.kin.store.schemas import Schemas

            self._schemas = Schemas(self._url, keeps_open=self._keeps_open)
        return self._schemas

    @property
    def _beside(self) -> Path:
        from kiwiresearch.store.place import file_of

        file = file_of(self._url)
        return file.with_name(f"{file.stem}-cases")

    def _sweep(self) -> None:
        """Remove what processes that were killed have left of cases they began; one just begun has no file yet."""
        for folder in self._root.glob(f"{NEW}*"):
            with suppress(RunError, OSError):
                if any(file.name != LOCK for file in folder.iterdir()):
                    with alone_in(folder):
                        FolderPlace(folder).discard()
                    shutil.rmtree(folder, ignore_errors=True)


def _discard(place: CasePlace) -> None:
    place.discard()
    shutil.rmtree(place.folder, ignore_errors=True)


def copy_case(source: CasePlace, target: CasePlace) -> str:
    """Make the same case at another place and prove that it is the same; its fingerprint."""
    from kiwiresearch.kin.store.case import CaseStore

    with CaseStore.open(source.where, str) as store:
        store.copy_to(target.where)
        before = store.fingerprint()
    with CaseStore.open(target.where, str) as copy:
        after = copy.fingerprint()
    if after != before:
        target.discard()
        raise RunDamaged(
            "The copy of the case is not the same as the case, so it was not kept.",
            remedy="Prove the case with 'kiwiresearch kin verify', then try again.",
        )
    return before


def taken(title: str) -> FolderTaken:
    return FolderTaken(f"There is a case {title!r} in the store already.", remedy="Give it another name.")


def _names(title: str) -> Iterator[str]:
    yield title
    for number in count(2):
        yield f"{title}-{number}"
