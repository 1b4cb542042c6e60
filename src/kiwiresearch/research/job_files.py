"""Jobs as they were kept before there was a store: a file beside each run's folder, taken over once."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import StoreError
from kiwiresearch.research.job import STATES, Job, JobState, wish_of
from kiwiresearch.research.job_places import is_id
from kiwiresearch.research.job_rows import row_of

if TYPE_CHECKING:
    from kiwiresearch.store.open import Store

SUFFIX = ".job.json"
TAKEN = ".job.json.taken"
"""What their names end in afterwards: nothing that somebody asked for is thrown away."""


def take_over(folder: Path, store: Store) -> None:
    """Put the jobs of a folder into the store, as they are; files that are no jobs stay where they are."""
    found = sorted(_jobs(folder), key=lambda job: (job.turn, job.id))
    if not found:
        return
    with contextlib.suppress(StoreError):  # another time, then
        for job in found:
            store.jobs.put(row_of(job))
            with contextlib.suppress(OSError):
                (folder / f"{job.id}{SUFFIX}").replace(folder / f"{job.id}{TAKEN}")
                (folder / f".{job.id}.lock").unlink(missing_ok=True)


def _jobs(folder: Path) -> Iterator[Job]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            job_id = entry.name.removesuffix(SUFFIX)
            if job_id != entry.name and is_id(job_id) and entry.is_file(follow_symlinks=False):
                job = _read(Path(entry.path))
                if job is not None and job.id == job_id:
                    yield job


def _read(file: Path) -> Job | None:
    try:
        return _job_of(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _job_of(row: Any) -> Job:
    if row["state"] not in STATES:
        raise ValueError(f"no state of a job: {row['state']!r}")
    known: dict[str, Any] = {name: int(row[name]) for name in ("turn", "attempt", "pages", "kept")}
    for name in ("id", "story", "problem", "remedy", "asked_at", "started_at", "ended_at"):
        known[name] = str(row[name])
    # What ran when its server ended goes on by itself.
    state: JobState = "queued" if row["state"] == "running" else row["state"]
    return Job(wish=wish_of(row["wish"]), state=state, **known)
