"""The whole case as text, for proving that two stores are the same."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, select

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store import ledger, schema
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.tables import Rows

AUDIT = frozenset({"audit_log", "audit_head"})
HISTORY = frozenset({"merge_cluster", "cannot_link"})
PACKED = frozenset({"canonical_text", "body"})
"""Compressed columns: their bytes hang on the machine, and the hash beside each stands for them."""


TABLES = dict(sorted(Rows.metadata.tables.items()))
assert {ledger.AuditLogRow.__tablename__, schema.PersonRow.__tablename__} <= TABLES.keys()


def dump(db: Database, *, history: bool) -> str:
    left_out = AUDIT if history else AUDIT | HISTORY
    with db.reading():
        lines = [
            canonical_json({"table": name, "row": row})
            for name, at in TABLES.items()
            if name not in left_out
            for row in _rows(db, at)
        ]
    return "".join(f"{line}\n" for line in lines)


def _rows(db: Database, at: Table) -> list[dict[str, Any]]:
    columns = [column for column in at.c if column.name not in PACKED]
    rows = db.rows(select(*columns))
    return sorted(rows, key=lambda row: [str(row[key.name]) for key in at.primary_key])
