"""The research log of a case, and what it remembers between steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, insert, select

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import CASE_STATE, PLUGIN_STATE, QUERY_LOG
from kiwiresearch.kin.store.values import QueryRow


def note_query(db: CaseDatabase, row: QueryRow) -> None:
    if row.negative and (row.hits or row.new_assertions):
        raise BadUsage(f"The search {row.query!r} found something, so it is not negative.")
    with db.writing():
        seq = db.run(select(func.coalesce(func.max(QUERY_LOG.c.seq), 0) + 1)).scalar_one()
        db.run(insert(QUERY_LOG).values({**asdict(row), "seq": seq, "at": row.at or db.now()}))


def queries(db: CaseDatabase) -> tuple[QueryRow, ...]:
    with db.reading():
        rows = db.rows(select(QUERY_LOG).order_by(QUERY_LOG.c.seq))
    return tuple(QueryRow(**row) for row in rows)


def state(db: CaseDatabase, key: str) -> Any:
    with db.reading():
        found = db.run(select(CASE_STATE.c.value).where(CASE_STATE.c.key == key)).scalar()
    return found[0] if found else None


def set_state(db: CaseDatabase, key: str, value: Any) -> None:
    with db.writing():
        # In a list, so that a state of None is not the lack of one.
        db.put(CASE_STATE, {"key": key, "value": [value]})


def plugin_state(db: CaseDatabase, plugin: str) -> Mapping[str, Any] | None:
    with db.reading():
        return db.run(select(PLUGIN_STATE.c.state).where(PLUGIN_STATE.c.plugin_id == plugin)).scalar()


def set_plugin_state(db: CaseDatabase, plugin: str, state: Mapping[str, Any]) -> None:
    with db.writing():
        db.put(PLUGIN_STATE, {"plugin_id": plugin, "state": dict(state)})
