"""What a run has open while it goes on: a lock, its journal and the corpus, in a hidden folder of their own."""

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
from kiwiresearch.errors import FolderTaken, RunError
from kiwiresearch.research.journal import Journal, header_of
from kiwiresearch.research.manifest import HIDDEN
from kiwiresearch.research.part import Part, mark

STEPS, CORPUS, LOCK, OUTPUTS = "steps", "corpus", "lock", "outputs"
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
    corpus: Part

    def close(self) -> None:
        with ExitStack() as last:
            last.callback(self.lock.release)
            last.callback(self.corpus.close)
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
    raise FolderTaken(
        f"Another run is writing to the folder {str(folder)!r}.",
        remedy="Wait until it has ended, or choose another folder.",
    )


def begin(folder: Path, header: Mapping[str, str], lock: FolderLock) -> Work:
    """Open journal and corpus, and keep of both what fits together."""
    hidden = folder / HIDDEN
    shutil.rmtree(hidden / OUTPUTS, ignore_errors=True)
    with ExitStack() as undo:
        journal = Journal(hidden / STEPS, header)
        undo.callback(journal.close)
        refuse_another(folder, journal.header, header, "an unfinished")
        corpus = Part(hidden / CORPUS)
        undo.callback(corpus.close)
        _bring_together(journal, corpus)
        undo.pop_all()
    return Work(lock, journal, corpus)


def remove(folder: Path, lock: FolderLock) -> None:
    """Remove all that a run needed only while it went on; what cannot be removed does no harm."""
    hidden = folder / HIDDEN
    shutil.rmtree(hidden / OUTPUTS, ignore_errors=True)
    with contextlib.suppress(OSError):
        (hidden / STEPS).unlink(missing_ok=True)
        (hidden / CORPUS).unlink(missing_ok=True)
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


def refuse_another(folder: Path, found: Mapping[str, Any], header: Mapping[str, str], which: str) -> None:
    """Two different runs do not share a folder."""
    if found.get("fingerprint") == header["fingerprint"]:
        return
    topic = str(found.get("topic", ""))
    other = " with other settings, other books or another version" if topic == header["topic"] else ""
    raise FolderTaken(
        f"The folder {str(folder)!r} holds {which} run on {topic[:80]!r}{other}.",
        remedy="Choose another folder, or give the command that began that run.",
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
    return header_of(hidden / STEPS) is not None or names_in(hidden) <= {STEPS, CORPUS, LOCK, OUTPUTS}


def _bring_together(journal: Journal, corpus: Part) -> None:
    """After a power cut one of the two may be ahead of the other, or hold zeros at its end."""
    steps = size = 0
    with corpus.path.open("rb") as stream:
        for row in journal.rows:
            after = row.get("corpus_size", size)
            if not size <= after <= corpus.size:
                break
            added = stream.read(after - size)
            if row.get("corpus_sha") not in (None, mark(added)):
                break
            steps, size = steps + 1, after
    journal.cut(steps)
    corpus.cut(size)
