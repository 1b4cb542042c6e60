"""Which case a user means on the command line: one of the store where there is one, else a folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadUsage, FolderTaken
from kiwiresearch.research.family_folders import (
    FILE,
    all_cases,
    changed,
    checked_folder,
    folder_for,
    folder_of,
    new_in,
)
from kiwiresearch.research.family_places import CasePlace, FolderPlace
from kiwiresearch.research.job_places import kept_in

if TYPE_CHECKING:
    from kiwiresearch.research.desk import Desk
    from kiwiresearch.research.family_stored import StoredCases


def stored(desk: Desk) -> StoredCases | None:
    """The cases of the store, if the settings name one."""
    if not desk.settings.store.strip():
        return None
    from kiwiresearch.research.family_stored import StoredCases

    return StoredCases.of(desk, kept_in(desk, "cases", desk.settings.serve.cases))


def all_places(desk: Desk) -> list[CasePlace]:
    """The cases there are, the one that was worked on last first."""
    cases = stored(desk)
    if cases is None:
        return [FolderPlace(one) for one in sorted(all_cases(), key=changed, reverse=True)]
    return [place for one in cases.ids() if (place := cases.place(one)) is not None]


def place_named(desk: Desk, wanted: str) -> CasePlace:
    """The case of that name, else the one that was worked on last; a folder can be named beside a store as well."""
    cases = stored(desk)
    if cases is not None and not (wanted and _is_folder(wanted)):
        place = cases.place(cases.named(wanted))
        if place is not None:  # it may have gone since it was named
            return place
    return FolderPlace(folder_of(wanted))


def is_there(desk: Desk, wanted: str) -> bool:
    """Whether there is a case of that name, or any if none is named."""
    with suppress(BadUsage):
        place_named(desk, wanted)
        return True
    return False


@contextmanager
def new_place(desk: Desk, wanted: str, name: str) -> Iterator[CasePlace]:
    """A place to begin a case at, called as it is wanted, else after somebody's name; it is taken if that is done."""
    cases = stored(desk)
    if cases is not None:
        title = folder_for(wanted or name).name
        if not cases.is_free(title):
            raise _taken(f"There is a case {title!r} in the store already.", title, "give another name")
        with cases.beginning(title) as (_, place):
            yield place
        return
    folder = checked_folder(wanted) if wanted else folder_for(name)
    if (folder / FILE).exists():
        raise _taken(f"There is a case in {str(folder)!r} already.", str(folder), "name another folder")
    with new_in(folder):
        yield FolderPlace(folder)


def _taken(problem: str, case: str, otherwise: str) -> FolderTaken:
    go_on = f"Go on with it: kiwiresearch kin run --case {shlex.quote(case)}"
    return FolderTaken(problem, remedy=f"{go_on}; or {otherwise} with --case.")


def _is_folder(wanted: str) -> bool:
    """Whether a case is in a folder of this path; a bare name is a name of the store."""
    folder = checked_folder(wanted)
    return wanted != folder.name and (folder / FILE).is_file()
