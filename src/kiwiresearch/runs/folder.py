"""What is in a run's folder: the sealed manifest of a finished run; lock, journal and parts of one in progress."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from kiwiresearch.errors import FolderInUse, FolderTaken, RunDamaged, RunError, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.journal import GrowingFile, Journal, header_of, short_hash
from kiwiresearch.system import FileLock

SEAL = "seal"


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its seal; one that it had before is replaced."""
    return dict(record) | {SEAL: seal_of(record)}


def seal_of(record: Mapping[str, Any]) -> str:
    """The hash over all of a record but its seal."""
    told = canonical_json({name: value for name, value in record.items() if name != SEAL})
    return "sha256:" + sha256(told.encode("utf-8", "replace")).hexdigest()


MANIFEST = "manifest.json"
BRIEF, CLAIMS, CORPUS, GRAPH = "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json"
PICTURES = "pictures.json"
REPORT, REPORT_PAGE, LOG, TIMINGS = "report.md", "report.html", "run.log", "timings.json"
WORK_FOLDER = ".journal"
"""The folder inside a run's folder that holds the work as long as the run goes on."""


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the finished run in a folder."""
    file = path / MANIFEST
    try:
        if not file.is_file():
            raise _no_run(path)
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise RunDamaged(
            f"The file {str(file)!r} cannot be read: {problem.strerror}.",
            remedy="Check that you may read it.",
        ) from problem
    except (ValueError, RecursionError):
        found = None
    if not _is_of_a_run(found):
        raise RunDamaged(
            f"The file {str(file)!r} is not as a run writes it.",
            remedy="Do the run again in another folder.",
        )
    return dict(found)


def damaged_outputs(path: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The names of the outputs that are missing, or not as the run wrote them."""
    outputs: Mapping[str, Mapping[str, Any]] = manifest["outputs"]
    return sorted(name for name, output in outputs.items() if file_digest(path / name) != output["sha256"])


def file_digest(file: Path) -> str | None:
    """The hash of a file's bytes; None if there is no file that can be read."""
    try:
        if not file.is_file():  # a pipe would never end
            return None
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _no_run(path: Path) -> RunNotFound:
    if (path / WORK_FOLDER).is_dir():
        return RunNotFound(
            f"The run in {str(path)!r} is not finished.",
            remedy="Start it once more: it goes on where it stopped.",
        )
    what = f"run in {str(path)!r}" if path.is_dir() else f"folder {str(path)!r}"
    return RunNotFound(f"There is no {what}.", remedy="Name a folder that a run of kiwiresearch has written.")


def _is_of_a_run(found: Any) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("fingerprint"), str):
        return False
    outputs = found.get("outputs")
    return isinstance(outputs, dict) and all(_is_output(name, output) for name, output in outputs.items())


def _is_output(name: str, output: Any) -> bool:
    is_plain = name not in ("", ".", "..") and Path(name).name == name
    return is_plain and isinstance(output, dict) and isinstance(output.get("sha256"), str)


STEPS, LOCK, STAGING = "steps", "lock", "outputs"
PARTS = ("corpus", "claims")
"""What grows with every page; a step says of each how long it is after it."""

SYSTEM_FILES = {".DS_Store", "Thumbs.db", "desktop.ini"}
"""Files that appear by themselves in a folder that a person has looked at."""

TRIES = 100


class FolderLock(FileLock):
    """A lock whose file is removed at the end of a run, so that having it may come too late."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def is_current(self) -> bool:
        """Whether the file that is locked is the one that others would lock."""
        if self._handle is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._handle), self.path.stat())
        except FileNotFoundError:
            return False


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What a run that goes on has open."""

    lock: FolderLock
    journal: Journal
    parts: Mapping[str, GrowingFile]

    def close(self) -> None:
        with ExitStack() as last:
            last.callback(self.lock.release)
            for part in self.parts.values():
                last.callback(part.close)
            last.callback(self.journal.close)


def take_lock(folder: Path) -> FolderLock:
    """Only one process at a time works in a folder, and one only once."""
    hidden = folder / WORK_FOLDER
    for _ in range(TRIES):
        lock = FolderLock(hidden / LOCK)
        try:
            if not _is_ours(hidden):
                raise foreign_files(folder, WORK_FOLDER)
            if not lock.acquire():
                break
        except (FileNotFoundError, FileExistsError):
            continue  # a run that ended has removed the folder between two of these steps
        if lock.is_current():
            return lock
        lock.release()
    raise FolderInUse(
        f"Another run is writing to the folder {str(folder)!r}.",
        remedy="Wait until it has ended, or choose another folder.",
    )


def open_work(folder: Path, header: Mapping[str, str], lock: FolderLock) -> OpenWork:
    """Open the journal and the parts, and keep of them what fits together."""
    hidden = folder / WORK_FOLDER
    shutil.rmtree(hidden / STAGING, ignore_errors=True)
    with ExitStack() as undo:
        journal = Journal(hidden / STEPS, header)
        undo.callback(journal.close)
        refuse_other_run(folder, journal.header, header, "an unfinished")
        parts = {}
        for name in PARTS:
            parts[name] = GrowingFile(hidden / name)
            undo.callback(parts[name].close)
        _align(journal, parts)
        undo.pop_all()
    return OpenWork(lock, journal, parts)


def remove_work(folder: Path, lock: FolderLock) -> None:
    """Remove all that a run needed only while it went on; what cannot be removed does no harm."""
    hidden = folder / WORK_FOLDER
    shutil.rmtree(hidden / STAGING, ignore_errors=True)
    with contextlib.suppress(OSError):
        (hidden / STEPS).unlink(missing_ok=True)
        for name in PARTS:
            (hidden / name).unlink(missing_ok=True)
        if sys.platform == "win32":
            lock.release()  # a file that is open cannot be removed there
        # Elsewhere it is removed while it is held: who gets it afterwards sees that it is no longer in its place.
        lock.path.unlink(missing_ok=True)
        hidden.rmdir()
    lock.release()


def remove_leftovers(folder: Path) -> None:
    """Remove what a run that was killed in its very last moment has left."""
    if (folder / WORK_FOLDER).is_dir():
        with contextlib.suppress(OSError, RunError):
            remove_work(folder, take_lock(folder))


def discard_empty_run(folder: Path) -> None:
    """Remove the folder of a run that gathered nothing; one that holds anything else stays as it is."""
    hidden = folder / WORK_FOLDER
    with contextlib.suppress(OSError, RunError):
        if folder.is_symlink() or not names_in_folder(folder) <= {WORK_FOLDER}:
            return
        lock = take_lock(folder)
        try:
            is_bare = names_in_folder(hidden) <= {STEPS, LOCK, *PARTS}
            if is_bare and not any(_size(hidden / name) for name in PARTS):
                remove_work(folder, lock)
                folder.rmdir()
        finally:
            lock.release()


def refuse_other_run(folder: Path, found: Mapping[str, Any], header: Mapping[str, str], which: str) -> None:
    """Two different runs do not share a folder."""
    if found.get("fingerprint") == header["fingerprint"]:
        return
    topic = str(found.get("topic", ""))
    other = " with other settings, other books or another version" if topic == header["topic"] else ""
    raise FolderTaken(
        f"The folder {str(folder)!r} holds {which} run on {topic[:80]!r}{other}.",
        remedy="Choose another folder, or go on with that run as it was begun.",
    )


def holds_unfinished(folder: Path, header: Mapping[str, str]) -> bool:
    """Whether the folder holds this run, unfinished; an error if it holds another one."""
    steps = folder / WORK_FOLDER / STEPS
    found = header_of(steps)
    if found is None:
        return steps.exists()
    refuse_other_run(folder, found, header, "an unfinished")
    return True


def foreign_files(folder: Path, name: str) -> FolderTaken:
    return FolderTaken(
        f"The folder {str(folder)!r} holds files that are not of a run, such as {name!r}.",
        remedy="Choose a folder that is empty, or one that does not exist yet.",
    )


def names_in_folder(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} - SYSTEM_FILES


def _is_ours(hidden: Path) -> bool:
    try:
        if not stat.S_ISDIR(hidden.lstat().st_mode):
            return False
    except FileNotFoundError:
        return True
    return header_of(hidden / STEPS) is not None or names_in_folder(hidden) <= {STEPS, LOCK, STAGING, *PARTS}


def append_lines(name: str, part: GrowingFile, lines: bytes) -> dict[str, Any]:
    """Add lines to a part; what the journal's row must say of it."""
    if lines:
        part.append(lines)
    return {f"{name}_size": part.size, f"{name}_sha": short_hash(lines)}


def _size(file: Path) -> int:
    return file.lstat().st_size if os.path.lexists(file) else 0


def _align(journal: Journal, parts: Mapping[str, GrowingFile]) -> None:
    """After a power cut one of them may be ahead of the others, or hold zeros at its end."""
    steps = 0
    sizes = dict.fromkeys(parts, 0)
    with ExitStack() as streams:
        readers = {name: streams.enter_context(part.path.open("rb")) for name, part in parts.items()}
        for row in journal.rows:
            after = {name: row.get(f"{name}_size", size) for name, size in sizes.items()}
            if not all(sizes[name] <= after[name] <= parts[name].size for name in parts):
                break
            news = {name: readers[name].read(after[name] - sizes[name]) for name in parts}
            if any(row.get(f"{name}_sha") not in (None, short_hash(new)) for name, new in news.items()):
                break
            steps, sizes = steps + 1, after
    journal.truncate(steps)
    for name, part in parts.items():
        part.truncate(sizes[name])
