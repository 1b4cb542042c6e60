"""A hash over all that a store keeps, by which two stores can be compared."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from sqlalchemy import Table, select

from kiwiresearch.ids import canonical_json
from kiwiresearch.store.columns import METADATA
from kiwiresearch.store.database import Database
from kiwiresearch.store.tables import HOST, JOB, STORE

AT_ONCE = 50
"""How many rows are in memory at a time: one may have a mebibyte."""
LEFT_OUT = frozenset({JOB.c.started_at, JOB.c.lease_until, HOST.c.seen_at})
"""The times that the store's own clock told."""


def digest_of(db: Database) -> str:
    """The same for the same content on every engine; the secret of the store is not in it."""
    seen = sha256()
    with db.reading() as connection:
        for table in sorted(METADATA.tables.values(), key=lambda table: table.name):
            if table is STORE:
                continue
            seen.update(f"{table.name}\n".encode())
            rows = connection.execute(select(table).execution_options(yield_per=AT_ONCE))
            for line in sorted(_line(table, row) for row in rows):
                seen.update(line)
    return "sha256:" + seen.hexdigest()


def _line(table: Table, row: Any) -> bytes:
    """A row as a short hash, so that large ones need little memory."""
    told = {
        column.name: value.hex() if isinstance(value, bytes) else value
        for column, value in zip(table.c, row, strict=True)
        if column not in LEFT_OUT
    }
    return sha256(canonical_json(told).encode("utf-8", "surrogatepass")).digest()
