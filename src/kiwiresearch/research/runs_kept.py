"""Finished runs that live in the store: a host makes a copy of those that somebody there looks at."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.disk import write_whole
from kiwiresearch.errors import CannotWrite, RunError
from kiwiresearch.research.job_places import is_id
from kiwiresearch.research.job_removal import remove_copy
from kiwiresearch.research.manifest import MANIFEST, digest
from kiwiresearch.research.note_file import bring_notes
from kiwiresearch.research.part import writing
from kiwiresearch.research.work_kept import bring_files

if TYPE_CHECKING:
    from kiwiresearch.store.notes import NoteLines
    from kiwiresearch.store.open import Store


class KeptRuns:
    """The runs of a store, and their copies below a folder: of all of them the manifests, of some all files."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._names: dict[str, tuple[int, Mapping[str, str]]] = {}
        self._whole: dict[str, int] = {}
        """The revision of each run of which all files are here."""
        self._bringing = threading.Lock()

    @property
    def notes(self) -> NoteLines:
        """Where the notes on all runs are written."""
        return self._store.notes

    def list_all(self) -> None:
        """Have the manifest of every run here."""
        with self._bringing:
            there = dict(self._store.files.runs())
            for run_id in self._names.keys() - there.keys():
                self._forget(run_id)
            for run_id, revision in there.items():
                if is_id(run_id) and self._names.get(run_id, (0, {}))[0] != revision:
                    self._list(run_id, revision)

    def names(self, run_id: str) -> tuple[str, ...]:
        """The files that a run has in the store; none if it is not there."""
        return tuple(self._names.get(run_id, (0, {}))[1])

    def bring(self, run_id: str) -> None:
        """Have all files of a run here, and the notes on it, each as it was written; others are left alone."""
        if not is_id(run_id):
            return
        revision = self._store.files.revision(run_id)
        if revision is None:
            with self._bringing:
                self._forget(run_id)
            return
        with self._bringing:
            if self._names.get(run_id, (0, {}))[0] != revision:
                self._list(run_id, revision)
            names, folder = self._names[run_id][1], self._folder / run_id
            if MANIFEST not in names:  # a batch of answers is no run
                return
            if self._whole.get(run_id) != revision or not all((folder / name).is_file() for name in names):
                bring_files(self._store, run_id, folder, names)
                self._whole[run_id] = revision
        bring_notes(folder, self._store.notes)

    def _list(self, run_id: str, revision: int) -> None:
        names = self._store.files.names(run_id)
        file = self._folder / run_id / MANIFEST
        if MANIFEST in names and digest(file) != names[MANIFEST]:
            with writing(self._folder):
                write_whole(file, self._store.files.read(run_id, MANIFEST))
            self._date(run_id, file)
        self._names[run_id] = revision, names

    def _forget(self, run_id: str) -> None:
        """Remove the copy of a run that somebody has removed; of one that is only missing, it may be the last."""
        _, names = self._names.pop(run_id, (0, {}))
        self._whole.pop(run_id, None)
        folder = self._folder / run_id
        if MANIFEST in names and digest(folder / MANIFEST) == names[MANIFEST] and self._store.files.was_removed(run_id):
            with contextlib.suppress(RunError, CannotWrite):
                remove_copy(folder)

    def _date(self, run_id: str, file: Path) -> None:
        """Lists go by the time of the manifest: it is when the run ended, not when it came here."""
        job = self._store.jobs.get(run_id)
        with contextlib.suppress(ValueError, OSError):
            moment = datetime.fromisoformat(job.ended_at if job else "").timestamp()
            os.utime(file, (moment, moment))
