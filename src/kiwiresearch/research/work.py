"""What a run has open while it goes on: a lock, its journal, the corpus and the claims, in a hidden folder."""

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
from typing import Any

from kiwiresearch.disk import Lock
from kiwiresearch.errors import FolderInUse, FolderTaken, RunError
from kiwiresearch.research.journal import Journal, header_of
from kiwiresearch.research.manifest import HIDDEN
from kiwiresearch.research.part import Part, mark

STEPS, LOCK, OUTPUTS = "steps", "lock", "outputs"
PARTS = ("corpus", "claims")
"""What grows with every page; a step says of each how long it is after it."""

OF_THE_SYSTEM = {".DS_Store", "Thumbs.db", "desktop.ini"}
"""Files that appear by themselves in a folder that a person has looked at."""

TRIES = 100


class FolderLock(Lock):
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
class Work:
    """What a run that goes on has open."""

    lock: FolderLock
    journal: Journal
    parts: Mapping[str, Part]

    def close(self) -> None:
        with ExitStack() as last:
            last.callback(self.lock.release)
            for part in self.parts.values():
                last.callback(part.close)
            last.callback(self.journal.close)


def take_lock(folder: Path) -> FolderLock:
    """Only one process at a time works in a folder, and one only once."""
    hidden = folder / HIDDEN
    for _ in range(TRIES):
        lock = FolderLock(hidden / LOCK)
        try:
            if not _is_ours(hidden):
                raise stranger(folder, HIDDEN)
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


def begin(folder: Path, header: Mapping[str, str], lock: FolderLock) -> Work:
    """Open the journal and the parts, and keep of them what fits together."""
    hidden = folder / HIDDEN
    shutil.rmtree(hidden / OUTPUTS, ignore_errors=True)
    with ExitStack() as undo:
        journal = Journal(hidden / STEPS, header)
        undo.callback(journal.close)
        refuse_another(folder, journal.header, header, "an unfinished")
        parts = {}
        for name in PARTS:
            parts[name] = Part(hidden / name)
            undo.callback(parts[name].close)
        _bring_together(journal, parts)
        undo.pop_all()
    return Work(lock, journal, parts)


def remove(folder: Path, lock: FolderLock) -> None:
    """Remove all that a run needed only while it went on; what cannot be removed does no harm."""
    hidden = folder / HIDDEN
    shutil.rmtree(hidden / OUTPUTS, ignore_errors=True)
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


def sweep(folder: Path) -> None:
    """Remove what a run that was killed in its very last moment has left."""
    if (folder / HIDDEN).is_dir():
        with contextlib.suppress(OSError, RunError):
            remove(folder, take_lock(folder))


def discard(folder: Path) -> None:
    """Remove the folder of a run that gathered nothing; one that holds anything else stays as it is."""
    hidden = folder / HIDDEN
    with contextlib.suppress(OSError, RunError):
        if folder.is_symlink() or not names_in(folder) <= {HIDDEN}:
            return
        lock = take_lock(folder)
        try:
            is_bare = names_in(hidden) <= {STEPS, LOCK, *PARTS}
            if is_bare and not any(_size(hidden / name) for name in PARTS):
                remove(folder, lock)
                folder.rmdir()
        finally:
            lock.release()


def refuse_another(folder: Path, found: Mapping[str, Any], header: Mapping[str, str], which: str) -> None:
    """Two different runs do not share a folder."""
    if found.get("fingerprint") == header["fingerprint"]:
        return
    topic = str(found.get("topic", ""))
    other = " with other settings, other books or another version" if topic == header["topic"] else ""
    raise FolderTaken(
        f"The folder {str(folder)!r} holds {which} run on {topic[:80]!r}{other}.",
        remedy="Choose another folder, or go on with that run as it was begun.",
    )


def was_begun(folder: Path, header: Mapping[str, str]) -> bool:
    """Whether the folder holds this run, unfinished; an error if it holds another one."""
    steps = folder / HIDDEN / STEPS
    found = header_of(steps)
    if found is None:
        return steps.exists()
    refuse_another(folder, found, header, "an unfinished")
    return True


def stranger(folder: Path, name: str) -> FolderTaken:
    return FolderTaken(
        f"The folder {str(folder)!r} holds files that are not of a run, such as {name!r}.",
        remedy="Choose a folder that is empty, or one that does not exist yet.",
    )


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} - OF_THE_SYSTEM


def _is_ours(hidden: Path) -> bool:
    try:
        if not stat.S_ISDIR(hidden.lstat().st_mode):
            return False
    except FileNotFoundError:
        return True
    return header_of(hidden / STEPS) is not None or names_in(hidden) <= {STEPS, LOCK, OUTPUTS, *PARTS}


def added(name: str, part: Part, lines: bytes) -> dict[str, Any]:
    """Add lines to a part; what the journal's row must say of it."""
    if lines:
        part.append(lines)
    return {f"{name}_size": part.size, f"{name}_sha": mark(lines)}


def _size(file: Path) -> int:
    return file.lstat().st_size if os.path.lexists(file) else 0


def _bring_together(journal: Journal, parts: Mapping[str, Part]) -> None:
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
            if any(row.get(f"{name}_sha") not in (None, mark(new)) for name, new in news.items()):
                break
            steps, sizes = steps + 1, after
    journal.cut(steps)
    for name, part in parts.items():
        part.cut(sizes[name])
