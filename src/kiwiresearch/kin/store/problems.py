"""What can go wrong with the database of a case, in words a person can act on."""

from __future__ import annotations

from contextlib import AbstractContextManager

from kiwiresearch.errors import FolderTaken, RunDamaged, StoreUnreachable
from kiwiresearch.store import problems
from kiwiresearch.store.problems import BACKUP, Kind

__all__ = ["BACKUP", "told"]

CASE = Kind("case", busy=FolderTaken, damaged=RunDamaged, away=StoreUnreachable)


def told(name: str) -> AbstractContextManager[None]:
    """Turn what the engine says about the case `name` into an error of ours; bugs keep their traceback."""
    return problems.told(name, CASE)
