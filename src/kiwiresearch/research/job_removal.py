"""Removing what a job has made: from the store, from its folder here, and a family file that nobody waits for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import NothingFound, RunError
from kiwiresearch.research.family_cases import Cases
from kiwiresearch.research.job import FamilyWish, Job
from kiwiresearch.research.job_places import ANSWERS, GROWING
from kiwiresearch.research.manifest import HIDDEN, MANIFEST, read_manifest
from kiwiresearch.research.note_file import LOCK, NOTES
from kiwiresearch.research.part import writing
from kiwiresearch.research.run import TIMINGS
from kiwiresearch.research.work import remove, take_lock

if TYPE_CHECKING:
    from kiwiresearch.store.open import Store


def remove_run(store: Store, run_id: str, folder: Path) -> None:
    """Remove a run with the notes on it, here and for all hosts; its id is not given again."""
    remove_copy(folder)
    store.notes.remove(run_id)
    store.files.remove(run_id, keep_id=True)


def remove_copy(folder: Path) -> None:
    """Remove the files of a run from its folder, while nobody works on it; a folder that holds anything else stays."""
    if folder.is_symlink() or not folder.is_dir():
        return
    hidden = folder / HIDDEN
    with writing(folder):
        if not hidden.is_symlink():
            (hidden / GROWING).unlink(missing_ok=True)
        lock = take_lock(folder)
        try:
            for file in map(folder.joinpath, _names(folder)):
                if file.is_file() and not file.is_symlink():
                    file.unlink()
        finally:
            remove(folder, lock)
    with contextlib.suppress(OSError):
        folder.rmdir()


def drop_upload(cases: Cases, job: Job, others: Iterable[Job]) -> None:
    """Keep the family file of a job no longer, unless one of the others has yet to take it in."""
    wish = job.wish
    if not isinstance(wish, FamilyWish) or not wish.upload:
        return
    waiting = (one.wish for one in others if one.id != job.id and one.state != "done")
    same = (wish.case, wish.upload)
    if not any(isinstance(one, FamilyWish) and (one.case, one.upload) == same for one in waiting):
        with contextlib.suppress(NothingFound):  # the case is gone, and its files with it
            cases.place(wish.case).drop_file(wish.upload)


def _names(folder: Path) -> list[str]:
    """What a run writes, the manifest last: it tells the names to whoever has to begin again."""
    try:
        outputs = list(read_manifest(folder)["outputs"])
    except RunError:
        outputs = []
    return [*outputs, TIMINGS, ANSWERS, NOTES, LOCK, MANIFEST]
