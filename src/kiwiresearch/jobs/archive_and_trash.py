"""Research and families that were archived or deleted, all restorable; deleted ones are kept for thirty days."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from kiwiresearch.errors import CannotWrite, FolderTaken, KiwiError, RunNotFound, WrongJobState
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import FileLock, write_atomically
from kiwiresearch.workspace import file_stamp, is_job_id

if TYPE_CHECKING:
    from kiwiresearch.cases import CaseRegistry
    from kiwiresearch.jobs.job import Job
    from kiwiresearch.runs import Runs
    from kiwiresearch.store import RemovedRows

WorkKind = Literal["run", "family"]
"""As in the store and in addresses; the job of a family is of the kind `kin`."""
RemovedState = Literal["archived", "deleted"]
KEEP_DAYS = 30
LOCK_TIMEOUT_S = 5.0
NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RemovedItem:
    """A run or a family that was archived or deleted."""

    kind: WorkKind
    id: str
    state: RemovedState
    at: str
    title: str = ""
    """The topic of a run; empty for a family, whose name may be that of a living person."""
    folder: str = ""
    """The name of its folder, to which it returns."""
    user: str = ""
    """Who requested a run; with the time below, it decides who may restore it."""
    requested_at: str = ""
    """When a run was requested."""


@dataclass(frozen=True, slots=True)
class RemovableWork:
    """The runs and families that can be archived or deleted, and how the queue finds and removes jobs."""

    folder: Path
    """The folder of the runs."""
    runs: Runs
    cases: CaseRegistry
    get_job: Callable[[str], Job]
    has_open_job: Callable[[str], bool]
    """Whether research on a family is running or queued."""
    remove_run: Callable[[str], object]
    """Removes a run with its job, for good."""
    remove_family: Callable[[str], object]
    """Removes a family from the store, for good."""


ITEM_KEYS = {field.name: field.name for field in fields(RemovedItem)} | {"requested_at": "made"}
"""The fields, and their names in the file and in the store."""


class RemovedList(Protocol):
    """The list of what was archived or deleted."""

    def items(self) -> tuple[RemovedItem, ...]:
        """All that is archived or deleted."""

    def put(self, item: RemovedItem) -> None:
        """Add something, or change its state."""

    def drop(self, item: RemovedItem) -> bool:
        """Take something off the list; False if somebody else was first."""


class RemovedInStore:
    """The list in a store, which all its hosts share; what it lists stays where it is."""

    def __init__(self, rows: RemovedRows) -> None:
        self._rows = rows

    def items(self) -> tuple[RemovedItem, ...]:
        return tuple(_known_items(asdict(row) for row in self._rows.all()))

    def put(self, item: RemovedItem) -> None:
        from kiwiresearch.store import RemovedRow

        self._rows.put(RemovedRow(item.kind, item.id, item.state, item.at, item.title, item.user, item.requested_at))

    def drop(self, item: RemovedItem) -> bool:
        return self._rows.drop(item.kind, item.id, item.state)


class RemovedInFile:
    """The list in a file of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._cached_items: tuple[object, tuple[RemovedItem, ...]] = (None, ())

    @property
    def _file(self) -> Path:
        return self._folder / "items.json"

    def items(self) -> tuple[RemovedItem, ...]:
        with self._lock:
            try:
                stamp = file_stamp(self._file.stat())
            except OSError:
                return ()
            if self._cached_items[0] != stamp:
                self._cached_items = stamp, tuple(self._read())
            return self._cached_items[1]

    def _read(self) -> list[RemovedItem]:
        try:
            return list(_known_items(self._rows()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []

    def _rows(self) -> list[dict[str, str]]:
        """The list as it is in the file, also what a newer version has written."""
        try:
            return list(json.loads(self._file.read_text(encoding="utf-8"))["items"])
        except FileNotFoundError:
            return []

    def put(self, item: RemovedItem) -> None:
        self._change(item, [item])

    def drop(self, item: RemovedItem) -> bool:
        return self._change(item, [])

    def _change(self, gone: RemovedItem, new: Sequence[RemovedItem]) -> bool:
        """Rewrite the list, which another process may be doing too; returns whether `gone` was in it."""
        lock = FileLock(self._folder / "items.lock")
        with self._lock:
            try:
                if not lock.wait(LOCK_TIMEOUT_S):
                    raise CannotWrite("The trash is in use by another process.", remedy="Try again.")
                before = self._rows()
                kept = [row for row in before if (row.get("kind"), row.get("id")) != (gone.kind, gone.id)]
                # Rows of a newer version are kept, although this one does not show them.
                rows = [*kept, *({key: getattr(added, name) for name, key in ITEM_KEYS.items()} for added in new)]
                write_atomically(self._file, canonical_json({"items": rows}, indent=2))
                return len(kept) < len(before)
            except OSError as problem:
                raise CannotWrite.to(self._folder, problem, remedy="Check its permissions.") from problem
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise CannotWrite(
                    f"The list of the trash, {str(self._file)!r}, cannot be read.",
                    remedy="Move the file to another folder.",
                ) from problem
            finally:
                lock.release()


def _known_items(rows: Iterable[Mapping[str, object]]) -> Iterator[RemovedItem]:
    """The rows that this version knows."""
    for row in rows:
        found = RemovedItem(**{name: str(row[key]) for name, key in ITEM_KEYS.items() if key in row})  # type: ignore[arg-type]
        if found.kind in get_args(WorkKind) and found.state in get_args(RemovedState):
            yield found


class ArchiveAndTrash:
    """What was archived or deleted: on this machine, or in a store for all its hosts.

    On one machine, the folder of something deleted is moved to the trash, so that nothing else finds it. In a store
    it stays, and whatever lists runs or families leaves out those in the trash. Its job keeps its row in both cases,
    which the queue hides meanwhile.
    """

    def __init__(
        self, folder: Path, work: RemovableWork, now: Callable[[], str], stored: RemovedRows | None = None
    ) -> None:
        self._folder = folder
        self._work = work
        self._cases = work.cases
        self._now = now
        self._is_stored = stored is not None
        self._list: RemovedList = RemovedInFile(folder) if stored is None else RemovedInStore(stored)

    def items(self, state: RemovedState) -> list[RemovedItem]:
        """All that is archived, or deleted; the latest first."""
        return sorted(
            (item for item in self._list.items() if item.state == state),
            key=lambda item: item.at,
            reverse=True,
        )

    def ids(self, kind: WorkKind, *states: RemovedState) -> frozenset[str]:
        """The ids of what is in one of these states."""
        return frozenset(item.id for item in self._list.items() if item.kind == kind and item.state in states)

    def get(self, kind: WorkKind, item_id: str) -> RemovedItem:
        found = next(
            (item for item in self._list.items() if (item.kind, item.id) == (kind, item_id)),
            None,
        )
        if found is None:
            raise RunNotFound("This is neither archived nor deleted.", remedy="Reload the page.")
        return found

    def archive(self, kind: WorkKind, item_id: str) -> None:
        """Hide something from lists; it can still be opened."""
        self._list.put(self._item_for(kind, item_id, "archived"))

    def delete(self, kind: WorkKind, item_id: str) -> None:
        """Move something to the trash."""
        self.purge_old()
        item = self._item_for(kind, item_id, "deleted")
        source = self._folder_of(item)
        if kind == "family":
            self._cases.require_free(item_id, has_open_job=self._work.has_open_job(item_id))
            self._cases.close_cached(item_id)
        if self._is_stored:
            self._list.put(item)
            return
        # The folder first: a list that names what is not in the trash could not be put right.
        self._move(source, self._trashed(item))
        try:
            self._list.put(item)
        except KiwiError:
            self._move(self._trashed(item), source)
            raise

    def restore(self, kind: WorkKind, item_id: str) -> None:
        """Put something back where it was."""
        item = self.get(kind, item_id)
        if item.state == "deleted" and not self._is_stored:
            self._move(self._trashed(item), self._folder_of(item))
        self._list.drop(item)

    def purge(self, items: Sequence[RemovedItem]) -> None:
        """Delete things in the trash for good."""
        for item in items:
            # Another host may have restored it, or be deleting it.
            if item.state != "deleted" or not self._list.drop(item):
                continue
            if not self._is_stored:
                shutil.rmtree(self._trashed(item), ignore_errors=True)
            if item.kind == "run":
                self._work.remove_run(item.id)
            elif self._is_stored:
                self._work.remove_family(item.id)

    def purge_old(self) -> None:
        """Delete for good what was deleted more than thirty days ago."""
        now = _moment(self._now())
        if now == NEVER:
            return
        self.purge([item for item in self.items("deleted") if now - _moment(item.at) > timedelta(days=KEEP_DAYS)])

    def _item_for(self, kind: WorkKind, item_id: str, state: RemovedState) -> RemovedItem:
        """The entry for an existing run or family; raises if it is missing or in use."""
        if kind == "family":
            return RemovedItem(kind, item_id, state, self._now(), folder=self._cases.folder(item_id).name)
        title, user, requested_at = "", "", ""
        try:
            job = self._work.get_job(item_id)
        except RunNotFound:
            title = self._work.runs.get(item_id).topic
        else:
            if job.is_open:
                raise WrongJobState(f"{job.request.name!r} is still running or queued.", remedy="Stop it first.")
            title, user, requested_at = job.request.name, job.user, job.asked_at
        return RemovedItem(kind, item_id, state, self._now(), title, item_id, user, requested_at)

    def _folder_of(self, item: RemovedItem) -> Path:
        """Where it belongs; an id that could lead out of its folder is refused."""
        if item.kind == "family":
            return self._cases.root / Path(item.folder).name
        if not is_job_id(item.id) and item.id not in {run.id for run in self._work.runs.all()}:
            raise RunNotFound("This research was not found.", remedy="Reload the page.")
        return self._work.folder / Path(item.folder).name

    def _trashed(self, item: RemovedItem) -> Path:
        return self._folder / item.kind / Path(item.id).name

    def _move(self, source: Path, target: Path) -> None:
        if not source.exists():  # a job that read nothing has no folder
            return
        if target.exists():
            raise FolderTaken(
                "Something else is already in the place it would go back to.", remedy="Move that file or folder first."
            )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(source, target)
        except OSError as problem:
            raise CannotWrite.to(target.parent, problem, remedy="Check the permissions of the folder.") from problem


def _moment(text: str) -> datetime:
    """A timestamp that we wrote; NEVER if it is unreadable, so that nothing is deleted because of it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return NEVER
    return found if found.tzinfo else found.replace(tzinfo=UTC)
