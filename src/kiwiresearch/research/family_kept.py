"""Where all cases of a server are kept: here, as folders below one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kiwiresearch.errors import BadUsage
from kiwiresearch.research.family_folders import FILE, all_cases, changed, folder_for, folder_of, new_in
from kiwiresearch.research.family_places import CasePlace, FolderPlace, retold
from kiwiresearch.research.topics import folder_name

ID_LETTERS = 12


class CaseKeeping(Protocol):
    """All cases there are, by ids that name nobody."""

    def ids(self) -> tuple[str, ...]:
        """The cases there are, the one that was worked on last first."""

    def place(self, wanted: str) -> CasePlace | None:
        """Where the case of an id is; what is no id leads nowhere."""

    def named(self, words: str) -> str:
        """The id of the case that its owner calls so; without words, of the one that was worked on last."""

    def begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        """Have a case made that is called so, or nearly; the id it has from now on."""

    def close(self) -> None:
        """Let go of what was opened to find cases."""


def case_id(folder: Path) -> str:
    """What a case is called outside: its folder has the name of a person, who may be living."""
    return hashlib.sha256(b"case " + os.fsencode(folder.name)).hexdigest()[:ID_LETTERS]


class FolderCases:
    """Cases as folders: whoever puts one there has added it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def ids(self) -> tuple[str, ...]:
        return tuple(map(case_id, sorted(self._folders(), key=changed, reverse=True)))

    def place(self, wanted: str) -> FolderPlace | None:
        found = next((one for one in self._folders() if case_id(one) == wanted), None)
        return None if found is None else FolderPlace(found)

    def named(self, words: str) -> str:
        if not words:
            return case_id(folder_of(cases=self._root))
        for one in self._folders():
            if words in (case_id(one), one.name, str(one)) or folder_name(words) == one.name:
                return case_id(one)
        raise BadUsage(
            f"The server has no case {words!r}.",
            remedy=f"Its cases are those in {str(self._root)!r}: begin one at the desk, or name the folder "
            "that holds yours in 'cases' below [serve] in the settings.",
        )

    def begin(self, name: str, make: Callable[[CasePlace], None]) -> str:
        place = FolderPlace(_free(folder_for(name, cases=self._root)))
        with retold(place.nameless), new_in(place.folder):
            make(place)
        return case_id(place.folder)

    def close(self) -> None:
        """Nothing is open."""

    def _folders(self) -> list[Path]:
        """A link that leads elsewhere is no case of this server."""
        return [one for one in all_cases(self._root) if not one.is_symlink() and not (one / FILE).is_symlink()]


def _free(folder: Path) -> Path:
    """The folder, or the next one of its name that nothing is at."""
    number, found = 1, folder
    while os.path.lexists(found):
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found
