"""Jobs on the disk: a file beside each run's folder, changed only by the one process that holds the job's lock."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.disk import write_whole
from kiwiresearch.errors import BadSettings, CannotWrite, FolderTaken, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.job import Job, job_of, record_of
from kiwiresearch.research.remembered import Remembered, Stamp, stamp_of
from kiwiresearch.research.topics import folder_name
from kiwiresearch.research.work import FolderLock, discard

SUFFIX = ".job.json"
ID = re.compile(r"[^\W_][\w-]*-[1-9][0-9]*")
LONGEST_NAME = 40
"""How many characters of the topic are in an id: file names have at most 255 bytes, and a character has up to four."""


def runs_folder(desk: Desk) -> Path:
    """Where the runs of a server are kept."""
    return kept_in(desk, "runs", desk.settings.serve.runs)


def kept_in(desk: Desk, name: str, wanted: str) -> Path:
    """The folder that a user set for something the server makes, else one of the program's own."""
    if not wanted.strip():
        return (desk.folders.state / name).absolute()
    try:
        return Path(wanted).expanduser().absolute()
    except RuntimeError as problem:  # '~name' of nobody
        raise BadSettings(
            f"'serve.{name}' is {wanted!r}, and there is no such home.", remedy="Set it right."
        ) from problem


@dataclass(frozen=True, slots=True)
class Held:
    """A job that is this process's own until it is let go."""

    job: Job
    lock: FolderLock

    def let_go(self) -> None:
        if os.name == "posix":  # elsewhere a file that is open cannot be removed
            with contextlib.suppress(OSError):
                self.lock.path.unlink(missing_ok=True)
        self.lock.release()


class JobFiles:
    """The jobs of one folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._remembered: Remembered[Job | None] = Remembered()

    def read(self, job_id: str) -> Job:
        """The job as it was last written down."""
        job = self._read(job_id) if is_id(job_id) else None
        if job is None:
            raise RunNotFound(f"There is no job {job_id[:200]!r}.", remedy="'GET /api/research' lists all of them.")
        return job

    def all(self) -> Iterator[Job]:
        """All jobs; a file that is not as it was written is none, and one that did not change is not read again."""
        there = dict(sorted(self._there()))
        return (job for job in self._remembered.all(there, self._read).values() if job is not None)

    def _there(self) -> Iterator[tuple[str, Stamp]]:
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                job_id = entry.name.removesuffix(SUFFIX)
                if job_id != entry.name and is_id(job_id):
                    with contextlib.suppress(OSError):  # gone since
                        yield job_id, stamp_of(entry.stat(follow_symlinks=False))

    def write(self, job: Job) -> None:
        try:
            write_whole(self._file(job.id), canonical_json(record_of(job), indent=1) + "\n")
        except OSError as problem:
            raise self._cannot_write(problem) from problem
        finally:
            self._remembered.forget(job.id)

    def remove(self, job_id: str) -> None:
        """Take away the file of a job that somebody holds, and its run's folder if nothing was gathered there."""
        discard(self.folder / job_id)
        try:
            self._file(job_id).unlink(missing_ok=True)
        except OSError as problem:
            raise self._cannot_write(problem) from problem
        finally:
            self._remembered.forget(job_id)

    def hold(self, job_id: str) -> Held:
        """A job for this process alone, as it is now."""
        job = self.read(job_id)
        lock = self._acquired(job_id)
        if lock is None:
            raise FolderTaken(f"Another server works on the job {job_id!r}.", remedy="Ask that one.")
        return Held(self._read(job_id) or job, lock)

    def new(self, job: Job) -> Held:
        """The job under a new id, written down and held."""
        topic = folder_name(job.wish.name)[:LONGEST_NAME].strip("-_") or "topic"
        number = 1
        while True:
            job_id = f"{topic}-{number}"
            lock = None if self._is_used(job_id) else self._acquired(job_id)
            if lock is not None:
                held = Held(replace(job, id=job_id), lock)
                if not self._is_used(job_id):
                    return self.changed(held, held.job)
                held.let_go()
            number += 1

    def changed(self, held: Held, job: Job) -> Held:
        """The same job with its changes written down; it is let go if they cannot be."""
        try:
            self.write(job)
        except CannotWrite:
            held.let_go()
            raise
        return Held(job, held.lock)

    def _read(self, job_id: str) -> Job | None:
        file = self._file(job_id)
        try:
            if file.is_symlink():
                return None
            job = job_of(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return job if job.id == job_id else None

    def _file(self, job_id: str) -> Path:
        return self.folder / f"{job_id}{SUFFIX}"

    def _is_used(self, job_id: str) -> bool:
        return os.path.lexists(self._file(job_id)) or os.path.lexists(self.folder / job_id)

    def _acquired(self, job_id: str) -> FolderLock | None:
        """The lock of a job; None if another process has it."""
        lock = FolderLock(self.folder / f".{job_id}.lock")
        try:
            while lock.acquire():
                if lock.is_current():
                    return lock
                lock.release()  # its last holder has removed it meanwhile
        except OSError as problem:
            raise self._cannot_write(problem) from problem
        return None

    def _cannot_write(self, problem: OSError) -> CannotWrite:
        return CannotWrite(
            f"The folder of the runs cannot be written: {problem.strerror or problem}.",
            remedy="Make room in it, or set 'serve.runs' to a folder that can be written.",
        )


def is_id(text: str) -> bool:
    """Whether a text can be the id of a job: it never is the name of anything outside the folder."""
    return len(text) <= 2 * LONGEST_NAME and ID.fullmatch(text) is not None
