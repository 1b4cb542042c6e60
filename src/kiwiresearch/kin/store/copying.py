"""A case from one place to another, row by row, and the proof that both hold the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table, bindparam, insert, select, update

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.dumping import TABLES
from kiwiresearch.kin.store.problems import told
from kiwiresearch.kin.store.tables import Rows

BATCH = 500

Row = dict[str, Any]


def copy_rows(source: Database, target: Database) -> None:
    """Write all rows of a case into another that has none, inside the target's transaction."""
    with source.reading():
        for at in Rows.metadata.sorted_tables:
            own = _own_kin(at)
            for rows in _batches(source, at):
                target.run(insert(at), [{**row, **dict.fromkeys(own)} for row in rows])
            if own:
                _tie(source, target, at, own)


def fingerprint(db: Database) -> str:
    """A hash over every row of every table, the audit log and packed texts as well; no order of rows changes it."""
    whole = hashlib.sha256()
    with db.reading():
        for name, at in TABLES.items():
            hashes = sorted(_hash(row) for rows in _batches(db, at) for row in rows)
            whole.update(f"{name} {len(hashes)}\n".encode())
            whole.update(b"".join(hashes))
    return f"sha256:{whole.hexdigest()}"


def _own_kin(at: Table) -> list[str]:
    """The columns that name other rows of the same table: those may come later."""
    return [column.name for column in at.c if any(key.column.table is at for key in column.foreign_keys)]


def _tie(source: Database, target: Database, at: Table, own: list[str]) -> None:
    [key] = at.primary_key
    change = update(at).where(key == bindparam("this")).values({name: bindparam(f"new_{name}") for name in own})
    for rows in _batches(source, at):
        tied = [row for row in rows if any(row[name] is not None for name in own)]
        if tied:
            given = [{"this": row[key.name], **{f"new_{name}": row[name] for name in own}} for row in tied]
            target.run(change, given)


def _batches(db: Database, at: Table) -> Iterator[list[Row]]:
    found = db.run(select(at).order_by(*at.primary_key).execution_options(yield_per=BATCH))
    with told(db.place.name):
        for rows in found.mappings().partitions():
            yield [{str(name): value for name, value in row.items()} for row in rows]


def _hash(row: Row) -> bytes:
    plain = {name: value.hex() if isinstance(value, bytes | memoryview) else value for name, value in row.items()}
    return hashlib.sha256(canonical_json(plain).encode("utf-8", "surrogatepass")).digest()
