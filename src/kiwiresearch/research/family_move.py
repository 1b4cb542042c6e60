"""Taking a case from a folder into the store, or out of it again, and proving that nothing was lost on the way."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken
from kiwiresearch.research.family_folders import BESIDE, FILE, alone_in, checked_folder, folder_for, folder_of, new_in
from kiwiresearch.research.family_named import stored
from kiwiresearch.research.family_places import FolderPlace, retold
from kiwiresearch.research.family_stored import StoredCases, copy_case, taken

if TYPE_CHECKING:
    from kiwiresearch.research.desk import Desk

ASIDE = "moved-"
NO_STORE = "Name one: 'store = \"postgresql://…\"' in settings.toml, or KIWIRESEARCH_STORE."


@dataclass(frozen=True, slots=True)
class Moved:
    """A case at its new place."""

    title: str
    fingerprint: str
    """The hash over all its rows, which was the same at both places."""
    left: Path | None = None
    """The file that it was in, which is set aside."""


def move_in(desk: Desk, wanted: str, name: str = "") -> Moved:
    """Take the case of a folder into the store; its file is set aside, so that nobody goes on with it."""
    cases, place = _cases(desk), FolderPlace(folder_of(wanted))
    title = folder_for(name or place.folder.absolute().name).name
    with alone_in(place.folder):
        if not cases.is_free(title):
            raise taken(title)
        fingerprint = cases.take_in(place, title)
        return Moved(title, fingerprint, _set_aside(place))


def move_out(desk: Desk, wanted: str, to: str) -> Moved:
    """Take a case out of the store into a folder; then it is in the store no longer."""
    cases, target = _cases(desk), FolderPlace(checked_folder(to))
    found = cases.named(wanted)
    place = cases.place(found)
    if place is None:
        raise BadUsage(f"There is no case {wanted!r} in the store.")
    if target.where.exists():
        raise FolderTaken(f"There is a case in {to!r} already.", remedy="Name another folder with --to.")
    with retold(place.named), new_in(target.folder), place.alone():
        fingerprint = copy_case(place, target)
        cases.drop(found, place)
    return Moved(target.title, fingerprint)


def _cases(desk: Desk) -> StoredCases:
    cases = stored(desk)
    if cases is None:
        raise BadUsage("The settings name no store.", remedy=NO_STORE)
    return cases


def _set_aside(place: FolderPlace) -> Path:
    """A file that no command takes for a case any more."""
    left = _free(place.where.with_name(f"{ASIDE}{FILE}"))
    try:
        for ending in ("", *BESIDE):
            file = place.where.with_name(f"{FILE}{ending}")
            if file.exists():
                file.replace(left.with_name(f"{left.name}{ending}"))
    except OSError as problem:
        raise CannotWrite(
            f"The case is in the store, and its file {str(place.where)!r} cannot be set aside: {problem.strerror}.",
            remedy="Remove it by hand.",
        ) from problem
    return left


def _free(file: Path) -> Path:
    """The file, or the next of its name that nothing is at: what was set aside before stays."""
    names = (file.with_name(f"{file.stem}-{number}{file.suffix}") for number in count(2))
    return next(one for one in chain([file], names) if not os.path.lexists(one))
