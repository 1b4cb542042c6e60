"""What can go wrong with a database, in words a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError, NoResultFound, StatementError

from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken, KiwiError, RunDamaged, RunNotFound


class _Said(NamedTuple):
    """What an engine says, and what that means to a user."""

    words: str
    error: type[KiwiError]
    text: str
    remedy: str


BACKUP = "Take it from a backup."
LOCKED = "is being written by another process"
TABLE = (
    _Said("database is locked", FolderTaken, LOCKED, "Wait until it is done, then try again."),
    _Said("canceling statement due to lock timeout", FolderTaken, LOCKED, "Wait until it is done, then try again."),
    _Said("deadlock detected", FolderTaken, LOCKED, "Try again."),
    _Said("disk is full", CannotWrite, "cannot be written: the disk is full", "Make room, then go on."),
    _Said("no space left", CannotWrite, "cannot be written: the disk is full", "Make room, then go on."),
    _Said("disk i/o error", CannotWrite, "cannot be written: the disk is full or failing", "Make room, then go on."),
    _Said("readonly database", CannotWrite, "may only be read", "Check the permissions of the file and its folder."),
    _Said("permission denied", CannotWrite, "may not be used by you", "Check the permissions."),
    _Said("unable to open", CannotWrite, "cannot be opened", "Check that the folder is there and can be written."),
    _Said("not a database", RunDamaged, "is no case: it is another kind of file", "Name the file of a case."),
    _Said("malformed", RunDamaged, "is damaged", BACKUP),
    _Said("no such table", RunDamaged, "is damaged: a table of it is missing", BACKUP),
    _Said("no such column", RunDamaged, "is damaged: a column of it is missing", BACKUP),
    _Said("connection", RunNotFound, "cannot be reached", "Check that the server runs and the address is right."),
)


@contextmanager
def told(name: str) -> Iterator[None]:
    """Turn what the engine says about the case `name` into an error of ours; bugs keep their traceback."""
    try:
        yield
    except UnicodeError as problem:
        raise BadUsage(
            f"The case {name!r} was given a text with half a character in it, which no database keeps.",
            remedy="Read the source again with another encoding.",
        ) from problem
    except NoResultFound as problem:
        raise RunDamaged(f"The case {name!r} is damaged: a row of it is missing.", remedy=BACKUP) from problem
    except (DBAPIError, StatementError, sqlite3.Error) as problem:
        known = _known(name, str(problem.orig if isinstance(problem, StatementError) else problem))
        if known is None:
            raise
        raise known from problem


def _known(name: str, said: str) -> KiwiError | None:
    lowered = said.lower()
    for row in TABLE:
        if row.words in lowered:
            return row.error(f"The case {name!r} {row.text}.", remedy=row.remedy)
    if "nul" in lowered and ("0x00" in lowered or "cannot contain" in lowered):
        return BadUsage(
            f"The case {name!r} was given a text with a NUL character in it, which PostgreSQL does not keep.",
            remedy="Remove the character from the source.",
        )
    return None
