"""Making the tables of a new store, bringing older ones up to date, and refusing what is newer or no store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlalchemy import Connection, insert, inspect, select, update

from kiwiresearch.errors import CannotWrite, StoreDamaged
from kiwiresearch.store.columns import METADATA
from kiwiresearch.store.database import Database
from kiwiresearch.store.problems import BACKUP
from kiwiresearch.store.tables import STORE

VERSION = 1
MIGRATIONS: Mapping[int, Callable[[Connection], None]] = MappingProxyType({})
"""For each version but the first: what makes a store of the version before into one of it."""
PAUSE_S = 0.01


def make_ready(db: Database) -> None:
    """Have the tables there, in the version that this program knows; any number of processes may do so at once."""
    _make_file(db)
    with db.reading() as connection:
        version = _version(connection, db)
    if db.is_file:
        _log_ahead(db)
    if version != VERSION:
        with db.writing("tables") as connection:
            _bring_up(connection, _version(connection, db))


def _make_file(db: Database) -> None:
    if db.path is None:
        return
    try:
        db.path.parent.mkdir(parents=True, exist_ok=True)
        if not db.path.exists():  # it will hold a secret: nobody else may read it
            os.close(os.open(db.path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as problem:
        why = "a file is where its folder should be" if isinstance(problem, FileExistsError) else problem.strerror
        raise CannotWrite(
            f"The store {db.name!r} cannot be made: {why}.",
            remedy="Check the folder's permissions and the space on the disk.",
        ) from problem


def _version(connection: Connection, db: Database) -> int:
    """The version of the store that is there; 0 where nothing is."""
    there = set(inspect(connection).get_table_names())
    if STORE.name not in there:
        if there if db.is_file else there & set(METADATA.tables):
            raise StoreDamaged(
                f"{db.name!r} is no store: the tables of one are not in it.", remedy="Name another file or address."
            )
        return 0
    found = connection.execute(select(STORE.c.value).where(STORE.c.name == "version")).scalar()
    if found is None or not found.isdecimal():
        raise StoreDamaged(f"The store {db.name!r} is damaged: nothing says of which version it is.", remedy=BACKUP)
    if int(found) > VERSION:
        raise StoreDamaged(
            f"The store {db.name!r} was made by a newer kiwiresearch: its tables are of version {found},"
            f" and this one knows {VERSION} at most.",
            remedy="Update kiwiresearch; the store was not touched.",
        )
    return int(found)


def _bring_up(connection: Connection, version: int) -> None:
    """Inside one transaction, so that a store is of one version or of another."""
    if version == 0:
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(insert(STORE).values(name="version", value=str(VERSION)))
        return
    for number in range(version + 1, VERSION + 1):
        MIGRATIONS[number](connection)
    connection.execute(update(STORE).where(STORE.c.name == "version").values(value=str(VERSION)))


def _log_ahead(db: Database) -> None:
    """Only who is alone can change how a file is written, and nobody is told when that is."""
    until = time.monotonic() + db.busy_s
    while not db.log_ahead() and time.monotonic() < until:
        time.sleep(PAUSE_S)
