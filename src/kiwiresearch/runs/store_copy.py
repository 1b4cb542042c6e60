"""Runs in the shared store: uploads step by step, downloads to a host on demand, and removal."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kiwiresearch.errors import CannotWrite, RunError, StoreUnreachable
from kiwiresearch.runs.journal import reporting_write_errors
from kiwiresearch.runs.manifest import (
    MANIFEST,
    SIGNATURE,
    TIMINGS,
    WORK_FOLDER,
    file_digest,
    is_file_name,
    read_manifest,
)
from kiwiresearch.runs.note_file import LOCK, NOTES, download_notes
from kiwiresearch.runs.unfinished_run import remove_work, take_lock
from kiwiresearch.system import write_atomically, write_pieces_atomically
from kiwiresearch.workspace import ANSWERS, UNFINISHED_ANSWERS, is_job_id

if TYPE_CHECKING:
    from kiwiresearch.store import NoteLines, Store


class WorkStopped(Exception):
    """The work stopped between two steps, as requested."""


class JobLost(Exception):
    """Another worker has leased the job."""


T = TypeVar("T")

RETRY_S = 1.0
"""How long to wait before asking an unreachable store again."""


class JobFilesCopy:
    """The files of an unfinished job, which grow in a local folder and are copied into the store at every step.

    Only the holder of the job can copy: a worker that lost its lease gets LeaseLost, and what it does afterwards is
    discarded.
    """

    def __init__(self, store: Store, holder: str, job_id: str, folder: Path, names: Sequence[str]) -> None:
        self._store, self._holder, self._job = store, holder, job_id
        self._folder = folder
        self._names = names
        self._sizes: dict[str, int] = {}
        self.stop = threading.Event()
        """Once it is set, the job no longer waits for an unreachable store."""

    def restore(self) -> bool:
        """Restore the folder to its state after the last complete step, on any host; local files are replaced.

        True if nothing is left to do: an earlier worker had finished, but died before it could report that.
        """
        if self._retrying(lambda: self._store.run_files.names(self._job)):
            self._retrying(lambda: download_files(self._store, self._job, self._folder))
            self._retrying(lambda: self._store.unfinished_files.drop(self._job))
            return True
        hidden = self._folder / WORK_FOLDER
        self._sizes = self._retrying(lambda: self._store.unfinished_files.sizes(self._job))
        with reporting_write_errors(self._folder):
            shutil.rmtree(hidden, ignore_errors=True)
            for name in self._names:
                if name in self._sizes:
                    hidden.mkdir(parents=True, exist_ok=True)
                    self._retrying(partial(self._restore_part, name))
        return False

    def _restore_part(self, name: str) -> None:
        with (self._folder / WORK_FOLDER / name).open("wb") as stream:
            for piece in self._store.unfinished_files.read(self._job, name):
                stream.write(piece)

    def copy(self) -> None:
        """Copy everything appended since the last call; after this returns, the step is safe."""
        pieces = {}
        for name in self._names:
            file, before = self._folder / WORK_FOLDER / name, self._sizes.get(name, 0)
            size = file.stat().st_size if file.exists() else 0
            if size != before:
                # A resumed run may have cut the file back to its last complete step.
                start = min(before, size)
                pieces[name] = (start, _read(file, start, size))
                self._sizes[name] = size
        if pieces:
            # A retry with the same start puts the same bytes in the same place.
            self._retrying(lambda: self._store.unfinished_files.append(self._holder, self._job, pieces))

    def finish(self, names: Iterable[str]) -> None:
        """Put the finished files into the store, all of them or none."""
        files = {name: self._folder / name for name in names}
        self._retrying(lambda: self._store.run_files.put(self._holder, self._job, files))
        self._retrying(lambda: self._store.unfinished_files.drop(self._job))

    def _retrying(self, ask: Callable[[], T]) -> T:
        """Call the store, retrying while it is unreachable."""
        while True:
            try:
                return ask()
            except StoreUnreachable as problem:
                if self.stop.wait(RETRY_S):
                    raise WorkStopped from problem


def download_files(store: Store, run_id: str, folder: Path, names: Mapping[str, str] | None = None) -> None:
    """Download the files of a finished run into a folder; files that are already identical are not downloaded."""
    wanted = store.run_files.names(run_id) if names is None else names
    plain = {name: sha for name, sha in wanted.items() if is_file_name(name)}
    with reporting_write_errors(folder):
        # The manifest comes last, since a folder that has one counts as a finished run.
        for name, sha in sorted(plain.items(), key=lambda row: (row[0] == MANIFEST, row)):
            if file_digest(folder / name) != sha:
                write_pieces_atomically(folder / name, store.run_files.pieces(run_id, name))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder / WORK_FOLDER)  # left by an earlier attempt on this host


def _read(file: Path, start: int, end: int) -> bytes:
    if end <= start:
        return b""
    with file.open("rb") as stream:
        stream.seek(start)
        return stream.read(end - start)


def remove_run(store: Store, run_id: str, folder: Path) -> None:
    """Remove a run and its notes, here and for all hosts; its id is not used again."""
    remove_run_files(folder)
    store.notes.remove(run_id)
    store.run_files.remove(run_id, keep_id=True)


def remove_run_files(folder: Path) -> None:
    """Remove the files of a run from its folder while nothing works on it; a folder that holds anything else stays."""
    if folder.is_symlink() or not folder.is_dir():
        return
    hidden = folder / WORK_FOLDER
    with reporting_write_errors(folder):
        if not hidden.is_symlink():
            (hidden / UNFINISHED_ANSWERS).unlink(missing_ok=True)
        lock = take_lock(folder)
        try:
            for file in map(folder.joinpath, _names(folder)):
                if file.is_file() and not file.is_symlink():
                    file.unlink()
        finally:
            remove_work(folder, lock)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _names(folder: Path) -> list[str]:
    """The files that a run may write, the manifest last: a removal that was interrupted needs it to know the names."""
    try:
        outputs = list(read_manifest(folder).outputs)
    except RunError:
        outputs = []
    return [*outputs, TIMINGS, SIGNATURE, ANSWERS, NOTES, LOCK, MANIFEST]


class StoredRuns:
    """The runs in a store, and their copies in a folder: all manifests, and all files of some runs."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._names: dict[str, tuple[int, Mapping[str, str]]] = {}
        self._complete: dict[str, int] = {}
        """The revision of each run whose files are all here."""
        self._download_lock = threading.Lock()

    @property
    def notes(self) -> NoteLines:
        """Where the notes on all runs are stored."""
        return self._store.notes

    def download_manifests(self) -> None:
        """Download the manifest of every run."""
        with self._download_lock:
            revisions = dict(self._store.run_files.runs())
            for run_id in self._names.keys() - revisions.keys():
                self._forget(run_id)
            for run_id, revision in revisions.items():
                if is_job_id(run_id):
                    self._download_manifest(run_id, revision)

    def deleted(self) -> frozenset[str]:
        """The runs in the trash of the store, which no host shows."""
        return self._store.removed.deleted("run")

    def names(self, run_id: str) -> tuple[str, ...]:
        """The names of a run's files in the store; none if it is not there."""
        return tuple(self._names.get(run_id, (0, {}))[1])

    def download(self, run_id: str) -> None:
        """Download all files of a run, as they were written, and its notes; does nothing if the store lacks it."""
        if not is_job_id(run_id):
            return
        revision = self._store.run_files.revision(run_id)
        if revision is None:
            with self._download_lock:
                self._forget(run_id)
            return
        with self._download_lock:
            self._download_manifest(run_id, revision)
            names, folder = self._names[run_id][1], self._folder / run_id
            if MANIFEST not in names:  # a batch of answers is not a run
                return
            if self._complete.get(run_id) != revision or not all((folder / name).is_file() for name in names):
                download_files(self._store, run_id, folder, names)
                self._complete[run_id] = revision
        download_notes(folder, self._store.notes)

    def _download_manifest(self, run_id: str, revision: int) -> None:
        if self._names.get(run_id, (0, {}))[0] == revision:
            return
        names = self._store.run_files.names(run_id)
        file = self._folder / run_id / MANIFEST
        if MANIFEST in names and file_digest(file) != names[MANIFEST]:
            with reporting_write_errors(self._folder):
                write_atomically(file, self._store.run_files.read(run_id, MANIFEST))
            self._set_file_time(run_id, file)
        self._names[run_id] = revision, names

    def _forget(self, run_id: str) -> None:
        """Remove the local copy of a removed run. If the run is merely missing there, this may be the last copy."""
        _, names = self._names.pop(run_id, (0, {}))
        self._complete.pop(run_id, None)
        folder = self._folder / run_id
        if (
            MANIFEST in names
            and file_digest(folder / MANIFEST) == names[MANIFEST]
            and self._store.run_files.was_removed(run_id)
        ):
            with contextlib.suppress(RunError, CannotWrite):
                remove_run_files(folder)

    def _set_file_time(self, run_id: str, file: Path) -> None:
        """Set the file's time to the end of the run: lists are sorted by it, not by when it was downloaded."""
        job = self._store.jobs.get(run_id)
        with contextlib.suppress(ValueError, OSError):
            moment = datetime.fromisoformat(job.ended_at if job else "").timestamp()
            os.utime(file, (moment, moment))
