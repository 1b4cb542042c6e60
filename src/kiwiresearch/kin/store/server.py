"""What only a case on a PostgreSQL server needs: its schema, its locks, and how a change of it is noticed."""

from __future__ import annotations

import contextlib
import re

from sqlalchemy import Connection, text, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from kiwiresearch.errors import BadUsage, FolderInUse, StoreUnreachable
from kiwiresearch.kin.store.alone import WAIT
from kiwiresearch.kin.store.ledger import AuditHeadRow
from kiwiresearch.kin.store.tables import table

WRITER = 543_197_702
"""The advisory lock that makes a PostgreSQL case have one writer, as a file has."""
HOLDER = 543_197_704
"""The advisory lock of who works on a case, however many steps that takes."""
NOTICED = ("tcp_keepalives_idle = 5", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
"""Settings by which the server notices within half a minute that the holder's machine is gone."""
SCHEMA = re.compile(r"[a-z_][a-z0-9_]*")
OWN = "hashtext(coalesce(current_schema(), current_setting('search_path')))"
"""The case by its schema, also while that is yet to be made: no two cases wait for each other."""
TRY = text(f"SELECT pg_try_advisory_lock(:key, {OWN}), pg_backend_pid()")
WAIT_FOR = text(f"SELECT pg_advisory_lock(:key, {OWN})")
UNLOCK = text(f"SELECT pg_advisory_unlock(:key, {OWN})")
WRITE = text(f"SELECT pg_advisory_xact_lock(:key, {OWN}), pg_backend_pid()")


def make_schema(connection: Connection) -> None:
    """Make the schema that the address names, if it is not there; it stays if the transaction does."""
    if connection.execute(text("SELECT current_schema()")).scalar() is not None:
        return
    named = str(connection.execute(text("SHOW search_path")).scalar())
    if SCHEMA.fullmatch(named) is None:
        raise BadUsage(f"There is no schema {named!r} on the server.", remedy="Name one that is there.")
    connection.execute(text(f"CREATE SCHEMA {named}"))


def hold(connection: Connection, name: str, *, patience_s: float) -> int:
    """Let nobody else change the case while this connection lives; the server's number for it.

    The lock is the connection's own: whoever has lost it can write nothing more through it.
    """
    taken, backend = connection.execute(TRY, {"key": HOLDER}).one()
    if not taken and not (patience_s and _waited(connection, patience_s)):
        raise FolderInUse(f"Another command is working on the case {name!r}.", remedy=WAIT)
    for setting in NOTICED:
        connection.execute(text(f"SET {setting}"))
    connection.commit()
    return int(backend)


def let_go(connection: Connection) -> None:
    """Let others change the case now: the server sees only some time later that a connection was closed."""
    with contextlib.suppress(SQLAlchemyError):  # one that is lost holds nothing any more
        connection.rollback()
        connection.execute(UNLOCK, {"key": HOLDER})
        connection.commit()


def _waited(connection: Connection, patience_s: float) -> bool:
    """Wait for the lock as the server does, which gives it on at once; whether that was in time."""
    connection.execute(text(f"SET LOCAL lock_timeout = {max(1, int(patience_s * 1000))}"))
    try:
        connection.execute(WAIT_FOR, {"key": HOLDER})
    except OperationalError as problem:
        if "lock timeout" not in str(problem.orig):
            raise
        connection.rollback()
        return False
    return True


def begin_write(connection: Connection, name: str, holder: int) -> None:
    """Wait until no other step is under way; a `holder` that is not this connection has lost the case."""
    backend = connection.execute(WRITE, {"key": WRITER}).one()[1]
    if holder not in (0, backend):
        raise StoreUnreachable(
            f"The server of the case {name!r} was away meanwhile, and others may have changed it.",
            remedy="Open the case again: nothing is lost but the step under way.",
        )


def mark(connection: Connection) -> None:
    """Have the change noticed: a row that was written anew has another transaction to its name."""
    connection.execute(update(table(AuditHeadRow)).values(seq=AuditHeadRow.seq))
