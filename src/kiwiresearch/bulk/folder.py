"""The folder while it is made: a plan, a line for each batch that is done, and in the end the manifest."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from kiwiresearch.bulk.batch import Finished
from kiwiresearch.bulk.checking import sha_of
from kiwiresearch.bulk.digest import Tally
from kiwiresearch.bulk.manifest import Manifest, ShardFile, TableFiles, shard_name
from kiwiresearch.bulk.plan import Plan, planned, refuse_strangers, writing
from kiwiresearch.bulk.reading import INSIDE, MANIFEST, PLAN, open_folder
from kiwiresearch.bulk.tables import TABLES
from kiwiresearch.disk import Lock, write_whole
from kiwiresearch.errors import FolderInUse, KiwiError
from kiwiresearch.ids import canonical_json


@dataclass(slots=True)
class OutFolder:
    """A folder that is being filled, by one process at a time."""

    folder: Path
    plan: Plan
    done: dict[int, dict[str, ShardFile]] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)

    def keep(self, finished: Finished) -> None:
        """Write the shards of a batch, then the line that says so; a batch without one of its tables is refused."""
        if sorted(shard.table for shard in finished.shards) != sorted(self._names):
            raise KiwiError(
                f"Batch {finished.number:,} came back without all of its tables.",
                remedy="Every machine must have the same version of kiwiresearch; then start it again.",
            )
        shards: dict[str, ShardFile] = {}
        line: dict[str, dict[str, Any] | None] = {}
        with writing(self.folder):
            for shard in finished.shards:
                name = shard_name(shard.table, finished.number)
                line[shard.table] = None
                if shard.content:
                    write_whole(self.folder / name, shard.content)
                    told = "sha256:" + sha256(shard.content).hexdigest()
                    shards[shard.table] = ShardFile(name, shard.tally.rows, len(shard.content), told)
                    line[shard.table] = {**asdict(shards[shard.table]), "total": f"{shard.tally.total:x}"}
            with self._journal.open("ab") as stream:
                stream.write(canonical_json({"number": finished.number, "shards": line}).encode() + b"\n")
        self.done[finished.number] = shards
        for shard in finished.shards:
            self._add(shard.table, shard.tally)

    def finish(self) -> Manifest:
        """Write the manifest, and take away what was only needed on the way."""
        tables = {name: self._table(name) for name in self._names}
        plan = self.plan
        manifest = Manifest(plan.book, plan.version, plan.what, plan.fingerprint, plan.entries, tables)
        with writing(self.folder):
            write_whole(self.folder / MANIFEST, canonical_json(manifest.record(), indent=1) + "\n")
            self._journal.unlink(missing_ok=True)
            self._plan.unlink(missing_ok=True)
        return manifest

    def _table(self, name: str) -> TableFiles:
        tally = self.tallies.get(name, Tally())
        shards = tuple(self.done[number][name] for number in sorted(self.done) if name in self.done[number])
        return TableFiles(tally.rows, tally.digest, shards)

    def _add(self, table: str, tally: Tally) -> None:
        self.tallies[table] = self.tallies.get(table, Tally()) + tally

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.plan.what, "errors")

    @property
    def errors(self) -> int:
        return self.tallies.get("errors", Tally()).rows

    @property
    def _journal(self) -> Path:
        return self.folder / INSIDE / "done.jsonl"

    @property
    def _plan(self) -> Path:
        return self.folder / PLAN

    def begin(self) -> None:
        """Write the plan, or find out how far it got when it was left."""
        with writing(self.folder):
            for table in TABLES:
                for part in (self.folder / table).glob(".*"):
                    part.unlink()  # what a process that was killed had begun to write
            if self._plan.exists():
                self._go_on()
            else:
                self._journal.unlink(missing_ok=True)
                write_whole(self._plan, canonical_json(asdict(self.plan), indent=1) + "\n")

    def _go_on(self) -> None:
        """Take what is done and still as it was written."""
        whole: list[bytes] = []
        lines = self._journal.read_bytes().splitlines(keepends=True) if self._journal.exists() else []
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, OSError):
                number, shards = self._kept(json.loads(line))
                if number not in self.done and line.endswith(b"\n"):
                    self.done[number] = {name: shard for name, (shard, _) in shards.items()}
                    for name, (_, tally) in shards.items():
                        self._add(name, tally)
                    whole.append(line)
        write_whole(self._journal, b"".join(whole))

    def _kept(self, told: Any) -> tuple[int, dict[str, tuple[ShardFile, Tally]]]:
        """A line of the journal that names all tables, with their shards there; ValueError and the like if it is none.

        A table without rows has no shard.
        """
        shards = {}
        if not isinstance(told["number"], int) or told["shards"].keys() != set(self._names):
            raise ValueError("no line of a journal")
        for name, one in told["shards"].items():
            if one is None:
                continue
            shard = ShardFile(one["file"], one["rows"], one["bytes"], one["sha256"])
            if shard.file != shard_name(name, told["number"]) or sha_of(self.folder / shard.file) != shard.sha256:
                raise ValueError("not as it was written")
            shards[name] = (shard, Tally(shard.rows, int(one["total"], 16)))
        return told["number"], shards


@contextmanager
def filled(folder: Path, plan: Plan) -> Iterator[OutFolder | Manifest]:
    """The folder, locked and begun; its manifest if it was finished before. FolderTaken if it is another's."""
    refuse_strangers(folder, plan)
    lock = Lock(folder / INSIDE / "lock")
    with writing(folder):
        if not lock.acquire():
            raise FolderInUse(
                f"Another process is writing to {str(folder)!r}.", remedy="Wait for it, or choose another folder."
            )
    try:
        refuse_strangers(folder, plan)
        if (folder / MANIFEST).exists():
            there = open_folder(folder)
            there.check_files()
            yield there.manifest
        else:
            out = OutFolder(folder, planned(folder) or plan)
            out.begin()
            yield out
    finally:
        lock.release()
