"""A folder while it is being written: its plan, a journal line per finished batch, and finally the manifest."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from kiwiresearch.bulk.batch import BulkWork, FinishedBatch
from kiwiresearch.bulk.finished_folder import (
    MANIFEST,
    PLAN,
    WORK_FOLDER,
    BookIdentity,
    BulkManifest,
    ShardFile,
    TableFiles,
    file_sha256,
    identity_from_record,
    open_folder,
    rows_fingerprint,
    shard_name,
)
from kiwiresearch.bulk.tables import TABLES, RowTally
from kiwiresearch.errors import CannotWrite, FolderInUse, FolderTaken, KiwiError, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import FileLock, write_atomically

JOURNAL = f"{WORK_FOLDER}/done.jsonl"
ELSEWHERE_REMEDY = "Make the folder writable, or choose another with --out."


@dataclass(frozen=True, slots=True)
class BulkPlan:
    """The plan of a folder: the same plan resumes it, another one needs another folder."""

    book: BookIdentity
    what: tuple[str, ...]
    version: str
    fingerprint: str
    entries: int
    order: str
    """A hash of the list of entries."""
    batch: int


def plan_of(work: BulkWork, book: BookIdentity, version: str) -> BulkPlan:
    order = "sha256:" + sha256(work.entries.tobytes()).hexdigest()
    return BulkPlan(
        book, work.tables, version, rows_fingerprint(work.tables, version), len(work.entries), order, work.batch_size
    )


def read_plan(folder: Path) -> BulkPlan | None:
    """The plan of an unfinished folder; None if it has none."""
    try:
        record = json.loads((folder / PLAN).read_bytes())
        book, what = identity_from_record(record["book"]), tuple(record["what"])
        return BulkPlan(**{**record, "book": book, "what": what, "batch": int(record["batch"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise FolderTaken(
            f"The folder {str(folder)!r} contains unfinished work that cannot be read.", remedy="Choose another folder."
        ) from problem


def refuse_other_content(folder: Path, plan: BulkPlan) -> None:
    """Raise FolderTaken unless the folder is empty, or was started or finished for the same rows."""
    with translating_write_errors(folder):
        if not folder.is_dir():
            if folder.exists() or folder.is_symlink():
                raise FolderTaken(f"{str(folder)!r} is not a folder.", remedy="Choose another folder with --out.")
            return
        names = {path.name for path in folder.iterdir()}
    if MANIFEST in names:
        try:
            there = open_folder(folder).manifest
        except RunDamaged as problem:
            raise _taken(folder, "a manifest that cannot be used") from problem
        _refuse_other_rows(folder, plan, there)
    elif (found := read_plan(folder)) is not None:
        _refuse_other_rows(folder, plan, found)
        if found.order != plan.order:
            raise _taken(folder, "another file of the same book")
    elif names - {WORK_FOLDER}:
        raise FolderTaken(
            f"The folder {str(folder)!r} contains files that do not belong to a bulk folder.",
            remedy="Choose another folder with --out.",
        )


def _refuse_other_rows(folder: Path, plan: BulkPlan, there: BulkPlan | BulkManifest) -> None:
    if (there.book.id, there.book.checksum) != (plan.book.id, plan.book.checksum):
        raise _taken(folder, f"another book, {there.book.title!r} ({there.book.date or 'no date'})")
    if there.what != plan.what:
        raise _taken(folder, f"other tables of this book ({', '.join(there.what)})")
    if (there.version, there.fingerprint) != (plan.version, plan.fingerprint):
        raise _taken(folder, f"the same tables from another version of kiwiresearch ({there.version})")


def _taken(folder: Path, what: str) -> FolderTaken:
    return FolderTaken(
        f"The folder {str(folder)!r} contains {what}.", remedy="Choose another folder with --out, or delete this one."
    )


@contextmanager
def translating_write_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the system into CannotWrite, which names the folder and says what to do."""
    try:
        yield
    except (OSError, ValueError) as problem:
        raise CannotWrite.to(folder, problem, remedy=ELSEWHERE_REMEDY) from problem


@dataclass(slots=True)
class OutputFolder:
    """A folder that is being written, by one process at a time."""

    folder: Path
    plan: BulkPlan
    done: dict[int, dict[str, ShardFile]] = field(default_factory=dict)
    tallies: dict[str, RowTally] = field(default_factory=dict)

    def add_batch(self, finished: FinishedBatch) -> None:
        """Write the shards of a batch, then its journal line; KiwiError if the batch lacks a table."""
        if sorted(shard.table for shard in finished.shards) != sorted(self._names):
            raise KiwiError(
                f"Batch {finished.number:,} does not have all of its tables.",
                remedy="Install the same version of kiwiresearch on every machine, then start again.",
            )
        shards: dict[str, ShardFile] = {}
        line: dict[str, dict[str, Any] | None] = {}
        with translating_write_errors(self.folder):
            for shard in finished.shards:
                name = shard_name(shard.table, finished.number)
                line[shard.table] = None
                if shard.content:
                    write_atomically(self.folder / name, shard.content)
                    digest = "sha256:" + sha256(shard.content).hexdigest()
                    shards[shard.table] = ShardFile(name, shard.tally.rows, len(shard.content), digest)
                    line[shard.table] = {**asdict(shards[shard.table]), "total": f"{shard.tally.total:x}"}
            # Not synced: after a power cut, `_resume` compares the hashes and repeats the batches that were lost.
            with self._journal.open("ab") as stream:
                stream.write(canonical_json({"number": finished.number, "shards": line}).encode() + b"\n")
        self.done[finished.number] = shards
        for shard in finished.shards:
            self._add(shard.table, shard.tally)

    def finish(self) -> BulkManifest:
        """Write the manifest, and remove plan and journal."""
        tables = {name: self._table(name) for name in self._names}
        plan = self.plan
        manifest = BulkManifest(plan.book, plan.version, plan.what, plan.fingerprint, plan.entries, tables)
        with translating_write_errors(self.folder):
            write_atomically(self.folder / MANIFEST, canonical_json(manifest.record(), indent=1) + "\n")
            self._journal.unlink(missing_ok=True)
            self._plan.unlink(missing_ok=True)
        return manifest

    def _table(self, name: str) -> TableFiles:
        tally = self.tallies.get(name, RowTally())
        shards = tuple(self.done[index][name] for index in sorted(self.done) if name in self.done[index])
        return TableFiles(tally.rows, tally.digest, shards)

    def _add(self, table: str, tally: RowTally) -> None:
        self.tallies[table] = self.tallies.get(table, RowTally()) + tally

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.plan.what, "errors")

    @property
    def errors(self) -> int:
        return self.tallies.get("errors", RowTally()).rows

    @property
    def _journal(self) -> Path:
        return self.folder / JOURNAL

    @property
    def _plan(self) -> Path:
        return self.folder / PLAN

    def start(self) -> None:
        """Write the plan, or resume an unfinished folder."""
        with translating_write_errors(self.folder):
            for table in TABLES:
                for part in (self.folder / table).glob(".*"):
                    part.unlink()  # a partial file of a process that was killed
            if self._plan.exists():
                self._resume()
            else:
                self._journal.unlink(missing_ok=True)
                write_atomically(self._plan, canonical_json(asdict(self.plan), indent=1) + "\n")

    def _resume(self) -> None:
        """Take over the batches in the journal whose shards are unchanged."""
        valid: list[bytes] = []
        lines = self._journal.read_bytes().splitlines(keepends=True) if self._journal.exists() else []
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, OSError):
                number, shards = self._journal_entry(json.loads(line))
                if number not in self.done and line.endswith(b"\n"):
                    self.done[number] = {name: shard for name, (shard, _) in shards.items()}
                    for name, (_, tally) in shards.items():
                        self._add(name, tally)
                    valid.append(line)
        write_atomically(self._journal, b"".join(valid))

    def _journal_entry(self, record: Any) -> tuple[int, dict[str, tuple[ShardFile, RowTally]]]:
        """The number and shards of a journal line, if it names all tables and the shards are unchanged.

        ValueError or the like if not. A table without rows has no shard.
        """
        shards = {}
        if not isinstance(record["number"], int) or record["shards"].keys() != set(self._names):
            raise ValueError("no line of a journal")
        for name, item in record["shards"].items():
            if item is None:
                continue
            shard = ShardFile(item["file"], item["rows"], item["bytes"], item["sha256"])
            is_named = shard.file == shard_name(name, record["number"])
            if not is_named or file_sha256(self.folder / shard.file) != shard.sha256:
                raise ValueError("not as it was written")
            shards[name] = (shard, RowTally(shard.rows, int(item["total"], 16)))
        return record["number"], shards


@contextmanager
def locked_output(folder: Path, plan: BulkPlan) -> Iterator[OutputFolder | BulkManifest]:
    """The folder, locked and ready to write, or the manifest of a finished one; FolderTaken if it has other rows."""
    # Before the lock, so that no lock file is put into a folder of others; and again once nobody else writes there.
    refuse_other_content(folder, plan)
    lock = FileLock(folder / WORK_FOLDER / "lock")
    with translating_write_errors(folder):
        if not lock.acquire():
            raise FolderInUse(
                f"Another process is writing to {str(folder)!r}.",
                remedy="Wait until it finishes, or choose another folder.",
            )
    try:
        refuse_other_content(folder, plan)
        if (folder / MANIFEST).exists():
            there = open_folder(folder)
            there.check_files()
            yield there.manifest
        else:
            out = OutputFolder(folder, read_plan(folder) or plan)
            out.start()
            yield out
    finally:
        lock.release()
