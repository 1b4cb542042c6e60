"""The research log, and what a case remembers between steps."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import func, insert, select

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.ledger import QueryLogRow, StateRow
from kiwiresearch.kin.store.rows import QueryRow
from kiwiresearch.kin.store.tables import table


def note_query(db: Database, row: QueryRow) -> None:
    if row.negative and (row.hits or row.new_assertions):
        raise BadUsage(f"The search {row.query!r} found something, so it is not negative.")
    with db.writing():
        seq = db.run(select(func.coalesce(func.max(QueryLogRow.seq), 0) + 1)).scalar_one()
        db.run(insert(table(QueryLogRow)).values({**asdict(row), "seq": seq, "at": row.at or db.now()}))


def queries(db: Database) -> tuple[QueryRow, ...]:
    with db.reading():
        rows = db.rows(select(table(QueryLogRow)).order_by(QueryLogRow.seq))
    return tuple(QueryRow(**row) for row in rows)


def state(db: Database, key: str) -> Any:
    with db.reading():
        found = db.run(select(StateRow.value).where(StateRow.key == key)).scalar()
    return found[0] if found else None


def set_state(db: Database, key: str, value: Any) -> None:
    with db.writing():
        # In a list, so that a state of None is not the lack of one.
        db.put(StateRow, {"key": key, "value": [value]})
