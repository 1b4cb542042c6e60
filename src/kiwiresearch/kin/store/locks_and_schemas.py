"""Where a case is stored: its folder, which one process at a time may change, or a schema of a PostgreSQL database."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Text, literal_column, select, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.schema import DropSchema

from kiwiresearch.errors import BadUsage, CannotWrite, FolderInUse, FolderTaken, RunDamaged, StoreUnreachable
from kiwiresearch.kin.store.tables import AUDIT_HEAD
from kiwiresearch.store import BUSY_S, POOL_SIZE, Address, ErrorKinds, database_errors, open_engine
from kiwiresearch.system import FileLock

LOCK = ".lock"
WAIT_REMEDY = "Wait until it finishes, or stop it."


@contextmanager
def locked_folder(folder: Path, *, timeout_s: float = 0.0) -> Iterator[None]:
    """Lock the case of a folder against changes by others; readers do not wait."""
    lock = FileLock(folder / LOCK)
    try:
        taken = lock.wait(timeout_s) if timeout_s else lock.acquire()
    except OSError as problem:
        raise CannotWrite(
            f"The folder {str(folder)!r} cannot be written: {problem.strerror}.", remedy="Check its permissions."
        ) from problem
    if not taken:
        raise FolderInUse(f"Another command is working on the case in {str(folder)!r}.", remedy=WAIT_REMEDY)
    try:
        yield
    finally:
        lock.release()


CASE_ERRORS = ErrorKinds("case", busy=FolderTaken, damaged=RunDamaged, unreachable=StoreUnreachable)
# 'case_1a2b3c4d_5e' is a name; the default search path, '"$user", public', is not.
SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# '-csearch_path=kiwi' and '-c search_path=kiwi', but not '-cstatement_timeout=5s'.
SEARCH_PATH = re.compile(r"-c\s*search_path=\S+")
TAG_LETTERS = 8


def create_schema(connection: Connection) -> None:
    """Create the schema named in the address if it is missing; it stays if the transaction does."""
    if connection.execute(text("SELECT current_schema()")).scalar() is not None:
        return
    named = str(connection.execute(text("SHOW search_path")).scalar())
    if SCHEMA_NAME.fullmatch(named) is None:
        raise BadUsage(f"The server has no schema {named!r}.", remedy="Use a schema that exists.")
    connection.execute(text(f"CREATE SCHEMA {named}"))


class CaseSchemas:
    """The schemas of one database; the cases of several stores in it stay separate."""

    def __init__(self, address: str, *, keeps_open: bool = False) -> None:
        """With `keeps_open`, connections stay open until it is closed."""
        self._address = Address.parse(address, "case")
        connections = POOL_SIZE if keeps_open else 0
        self._engine = open_engine(self._address, CASE_ERRORS, busy_s=BUSY_S, connections=connections)
        self.name = self._address.name

    def close(self) -> None:
        self._engine.dispose()

    def schema(self, case_id: str) -> str:
        """The schema of a new case, named after the store's schema and the id of the case."""
        with database_errors(self.name, CASE_ERRORS), self._engine.connect() as connection:
            own = str(connection.execute(text("SELECT current_schema()")).scalar())
        tag = hashlib.sha256(own.encode()).hexdigest()[:TAG_LETTERS]
        return f"case_{tag}_{case_id}"

    def address(self, schema: str) -> str:
        """The address of the case in a schema."""
        url = self._address.url
        given = url.query.get("options", ())
        others = SEARCH_PATH.sub("", given if isinstance(given, str) else " ".join(given)).split()
        options = " ".join([*others, f"-csearch_path={schema}"])
        return url.update_query_dict({"options": options}).render_as_string(hide_password=False)

    def revision(self, schema: str) -> str:
        """A text that changes with each change of the case; empty if the case does not exist."""
        asked = select(literal_column("xmin::text", Text()), AUDIT_HEAD.c.hash)
        with database_errors(self.name, CASE_ERRORS), self._engine.connect() as connection:
            there = connection.execution_options(schema_translate_map={None: schema})
            try:
                return " ".join(there.execute(asked).one_or_none() or ())
            except ProgrammingError:
                # The schema or its table is missing, as when the case was removed.
                return ""

    def drop(self, schema: str) -> None:
        """Remove a case with all its data."""
        with database_errors(self.name, CASE_ERRORS), self._engine.begin() as connection:
            connection.execute(DropSchema(schema, cascade=True, if_exists=True))
