"""The folder of a run in progress: its lock, its journal and the parts that grow."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from kiwiresearch.errors import FolderInUse, FolderTaken, RunError
from kiwiresearch.runs.journal import GrowingFile, Journal, content_digest, header_of
from kiwiresearch.runs.manifest import WORK_FOLDER
from kiwiresearch.system import FileLock

STEPS, LOCK, STAGING = "steps", "lock", "outputs"
PARTS = ("corpus", "claims")
"""The parts that grow with every page; each step in the journal says how long they are after it."""

SYSTEM_FILES = {".DS_Store", "Thumbs.db", "desktop.ini"}
"""Files that file managers create in every folder they open."""

MAX_TRIES = 100


class FolderLock(FileLock):
    """A lock whose file is removed at the end of a run, so a waiting process may lock a deleted file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def is_current(self) -> bool:
        """Whether the locked file is still the one at this path, which others would lock."""
        if self._handle is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._handle), self.path.stat())
        except FileNotFoundError:
            return False


@dataclass(frozen=True, slots=True)
class OpenWork:
    """The open lock, journal and parts of a run in progress."""

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
    """Lock a folder: only one process at a time works in it."""
    hidden = folder / WORK_FOLDER
    # Retried, since a run that ends removes the lock file and its folder while others wait for them.
    for _ in range(MAX_TRIES):
        lock = FolderLock(hidden / LOCK)
        try:
            if not _is_ours(hidden):
                raise foreign_files(folder, WORK_FOLDER)
            if not lock.acquire():
                break
        except (FileNotFoundError, FileExistsError):
            continue  # a run that ended has just removed the folder
        if lock.is_current():
            return lock
        lock.release()
    raise FolderInUse(
        f"Another run is writing to the folder {str(folder)!r}.",
        remedy="Wait until it finishes, or choose another folder.",
    )


def open_work(folder: Path, header: Mapping[str, str], lock: FolderLock) -> OpenWork:
    """Open the journal and the parts, cut back to the last step that is complete in all of them."""
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
    """Remove the working files of a run; leftovers are harmless."""
    hidden = folder / WORK_FOLDER
    shutil.rmtree(hidden / STAGING, ignore_errors=True)
    with contextlib.suppress(OSError):
        (hidden / STEPS).unlink(missing_ok=True)
        for name in PARTS:
            (hidden / name).unlink(missing_ok=True)
        if sys.platform == "win32":
            lock.release()  # Windows cannot remove an open file
        # Elsewhere the file is removed while locked: a process that locks it afterwards sees that it is not current.
        lock.path.unlink(missing_ok=True)
        hidden.rmdir()
    lock.release()


def remove_leftovers(folder: Path) -> None:
    """Remove the working files of a run that was killed just before it could do so."""
    if (folder / WORK_FOLDER).is_dir():
        with contextlib.suppress(OSError, RunError):
            remove_work(folder, take_lock(folder))


def discard_empty_run(folder: Path) -> None:
    """Remove the folder of a run that gathered nothing; a folder that holds anything else stays."""
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
    """Refuse a folder that holds another run."""
    if found.get("fingerprint") == header["fingerprint"]:
        return
    topic = str(found.get("topic", ""))
    other = " with other settings, other books or another version" if topic == header["topic"] else ""
    raise FolderTaken(
        f"The folder {str(folder)!r} already contains {which} run about {topic[:80]!r}{other}.",
        remedy="Choose another folder, or resume that run with the settings it was started with.",
    )


def holds_unfinished(folder: Path, header: Mapping[str, str]) -> bool:
    """Whether the folder holds this run, unfinished; FolderTaken if it holds another one."""
    steps = folder / WORK_FOLDER / STEPS
    found = header_of(steps)
    if found is None:
        return steps.exists()
    refuse_other_run(folder, found, header, "an unfinished")
    return True


def foreign_files(folder: Path, name: str) -> FolderTaken:
    return FolderTaken(
        f"The folder {str(folder)!r} contains files that do not belong to a run, such as {name!r}.",
        remedy="Choose an empty folder, or one that does not exist yet.",
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


def append_lines(name: str, part: GrowingFile, lines: bytes) -> dict[str, int | str]:
    """Append lines to a part; returns the fields for the journal's row."""
    if lines:
        part.append(lines)
    return {f"{name}_size": part.size, f"{name}_sha": content_digest(lines)}


def _size(file: Path) -> int:
    return file.lstat().st_size if os.path.lexists(file) else 0


def _align(journal: Journal, parts: Mapping[str, GrowingFile]) -> None:
    """Cut all files back to the last complete step: after a power cut, one may be ahead or end in zeros."""
    steps = 0
    sizes = dict.fromkeys(parts, 0)
    with ExitStack() as streams:
        readers = {name: streams.enter_context(part.path.open("rb")) for name, part in parts.items()}
        for row in journal.rows:
            after = {name: cast("int", row.get(f"{name}_size", size)) for name, size in sizes.items()}
            if not all(sizes[name] <= after[name] <= parts[name].size for name in parts):
                break
            appended = {name: readers[name].read(after[name] - sizes[name]) for name in parts}
            # After a power cut a file may have its full size and end in zeros, which only the hash reveals.
            if any(row.get(f"{name}_sha") not in (None, content_digest(new)) for name, new in appended.items()):
                break
            steps, sizes = steps + 1, after
    journal.truncate(steps)
    for name, part in parts.items():
        part.truncate(sizes[name])
