"""What can go wrong with a database, in words a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError, NoResultFound, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError

BACKUP = "Take it from a backup."
AGAIN = "Wait until it is done, then try again."
LOCKED = "is being written by another process"
BUSY = "is used by too many at once"
MORE = "Try again, or let the server have more connections."
OTHER_SCHEMA = "Make the schema, or name another."
LOOK = "Check that the server runs and the address is right."
ROOM = "Make room, then go on."


@dataclass(frozen=True, slots=True)
class Kind:
    """What a database holds, and which errors tell of it."""

    noun: str
    busy: type[KiwiError]
    damaged: type[KiwiError]
    away: type[KiwiError]


class _Said(NamedTuple):
    """What an engine says, and what that means to a user."""

    words: str
    error: type[KiwiError]
    text: str
    remedy: str


def _table(kind: Kind) -> tuple[_Said, ...]:
    other = f"is no {kind.noun}: it is another kind of file"
    return (
        _Said("database is locked", kind.busy, LOCKED, AGAIN),
        _Said("canceling statement due to lock timeout", kind.busy, LOCKED, AGAIN),
        _Said("deadlock detected", kind.busy, LOCKED, "Try again."),
        _Said("too many clients", kind.busy, BUSY, MORE),
        _Said("remaining connection slots", kind.busy, BUSY, MORE),
        _Said("disk is full", CannotWrite, "cannot be written: the disk is full", ROOM),
        _Said("no space left", CannotWrite, "cannot be written: the disk is full", ROOM),
        _Said("disk i/o error", CannotWrite, "cannot be written: the disk is full or failing", ROOM),
        _Said("readonly database", CannotWrite, "may only be read", "Check who may write the file and its folder."),
        _Said("read-only transaction", CannotWrite, "may only be read", "Name the server that can be written."),
        _Said("permission denied", CannotWrite, "may not be used by you", "Check the permissions."),
        _Said("authentication failed", kind.away, "does not let you in", "Check the user and the password."),
        _Said('database "', kind.away, "is not on its server", "Make the database, or name another."),
        _Said('role "', kind.away, "does not know you", "Make the user on its server, or name another."),
        _Said("no schema has been selected", kind.away, "names a schema that is not there", OTHER_SCHEMA),
        _Said("unable to open", CannotWrite, "cannot be opened", "Check that the folder is there and can be written."),
        _Said("not a database", kind.damaged, other, f"Name the file of a {kind.noun}."),
        _Said("malformed", kind.damaged, "is damaged", BACKUP),
        _Said("no such table", kind.damaged, "is damaged: a table of it is missing", BACKUP),
        _Said('relation "', kind.damaged, "is damaged: a table of it is missing", BACKUP),
        _Said("no such column", kind.damaged, "is damaged: a column of it is missing", BACKUP),
        _Said("connection", kind.away, "cannot be reached", LOOK),
    )


@contextmanager
def told(name: str, kind: Kind) -> Iterator[None]:
    """Turn what the engine says about the database `name` into an error of ours; bugs keep their traceback."""
    try:
        yield
    except (UnicodeEncodeError, UnicodeDecodeError) as problem:
        raise BadUsage(
            f"The {kind.noun} {name!r} was given a text with half a character in it, which no database keeps.",
            remedy="Read the source again with another encoding.",
        ) from problem
    except UnicodeError as problem:  # no server can have such a name
        raise kind.away(f"The {kind.noun} {name!r} cannot be reached.", remedy=LOOK) from problem
    except NoResultFound as problem:
        raise kind.damaged(f"The {kind.noun} {name!r} is damaged: a row of it is missing.", remedy=BACKUP) from problem
    except PoolTimeout as problem:
        raise kind.busy(f"The {kind.noun} {name!r} {BUSY}.", remedy="Try again.") from problem
    except (DBAPIError, StatementError, sqlite3.Error) as problem:
        if isinstance(problem, StatementError) and isinstance(problem.orig, KiwiError):
            raise problem.orig from problem  # a value was refused before the engine saw it
        said = problem.orig if isinstance(problem, StatementError) else problem
        known = _known(name, kind, str(said))
        if known is None and isinstance(problem, OperationalError) and not isinstance(said, sqlite3.Error):
            known = kind.away(f"The {kind.noun} {name!r} cannot be reached.", remedy=LOOK)  # a server has many words
        if known is None:
            raise
        raise known from problem


def _known(name: str, kind: Kind, said: str) -> KiwiError | None:
    lowered = said.lower()
    for row in _table(kind):
        if row.words in lowered:
            return row.error(f"The {kind.noun} {name!r} {row.text}.", remedy=row.remedy)
    if "nul" in lowered and ("0x00" in lowered or "cannot contain" in lowered):
        return BadUsage(
            f"The {kind.noun} {name!r} was given a text with a NUL character in it, which PostgreSQL does not keep.",
            remedy="Remove the character from the source.",
        )
    return None
