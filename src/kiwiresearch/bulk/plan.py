"""What a folder is to hold, and whether it is free for that: the same plan goes on, another needs another place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kiwiresearch.bulk.batch import Work
from kiwiresearch.bulk.manifest import Subject, fingerprint_of, subject_in
from kiwiresearch.bulk.reading import INSIDE, MANIFEST, PLAN, open_folder
from kiwiresearch.errors import CannotWrite, FolderTaken, RunDamaged

ELSEWHERE = "Make it a folder you may write to, or choose another one with --out."


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be made: the same plan goes on, another one needs another folder."""

    book: Subject
    what: tuple[str, ...]
    version: str
    fingerprint: str
    entries: int
    order: str
    """A hash of the entries in their order."""
    batch: int


def plan_of(work: Work, book: Subject, version: str) -> Plan:
    order = "sha256:" + sha256(work.entries.tobytes()).hexdigest()
    return Plan(book, work.what, version, fingerprint_of(work.what, version), len(work.entries), order, work.size)


def planned(folder: Path) -> Plan | None:
    """The plan of a folder that was left before it was finished."""
    try:
        told = json.loads((folder / PLAN).read_bytes())
        return Plan(
            **{**told, "book": subject_in(told["book"]), "what": tuple(told["what"]), "batch": int(told["batch"])}
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise FolderTaken(
            f"The folder {str(folder)!r} holds a plan that cannot be read.", remedy="Choose another folder."
        ) from problem


def refuse_strangers(folder: Path, plan: Plan) -> None:
    """Only an empty folder will do, or one that was begun or finished for the same rows."""
    with writing(folder):
        if not folder.is_dir():
            if folder.exists() or folder.is_symlink():
                raise FolderTaken(f"{str(folder)!r} is no folder.", remedy="Choose another name.")
            return
        names = {one.name for one in folder.iterdir()}
    if MANIFEST in names:
        try:
            there = open_folder(folder).manifest
        except RunDamaged as problem:
            raise _taken(folder, "a manifest that cannot be used") from problem
        _refuse(folder, plan, there.book, there.what, there.version, there.fingerprint)
    elif (found := planned(folder)) is not None:
        _refuse(folder, plan, found.book, found.what, found.version, found.fingerprint)
        if found.order != plan.order:
            raise _taken(folder, "another file of the same book")
    elif names - {INSIDE}:
        raise FolderTaken(f"The folder {str(folder)!r} holds something else.", remedy="Choose another with --out.")


def _refuse(folder: Path, plan: Plan, book: Subject, what: tuple[str, ...], version: str, fingerprint: str) -> None:
    if (book.id, book.checksum) != (plan.book.id, plan.book.checksum):
        raise _taken(folder, f"another book, {book.title!r} of {book.date or 'no date'}")
    if what != plan.what:
        raise _taken(folder, f"other tables of this book ({', '.join(what)})")
    if (version, fingerprint) != (plan.version, plan.fingerprint):
        raise _taken(folder, f"the same by another version of kiwiresearch ({version})")


def _taken(folder: Path, what: str) -> FolderTaken:
    return FolderTaken(
        f"The folder {str(folder)!r} holds {what}.", remedy="Choose another folder with --out, or remove this one."
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Whatever the system refuses inside becomes an error that names the folder and says what to do."""
    try:
        yield
    except (OSError, ValueError) as problem:
        raise CannotWrite.to(folder, problem, remedy=ELSEWHERE) from problem
