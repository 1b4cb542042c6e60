"""The research log of a case, and what it remembers between steps."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, insert, select

from kiwiresearch.errors import BadUsage, RunDamaged
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import HttpCacheRow, PluginStateRow, QueryLogRow, RobotsCacheRow, StateRow, table
from kiwiresearch.kin.store.values import CachedResponse, CachedRobots, QueryRow


def note_query(db: CaseDatabase, row: QueryRow) -> None:
    if row.negative and (row.hits or row.new_assertions):
        raise BadUsage(f"The search {row.query!r} found something, so it is not negative.")
    with db.writing():
        seq = db.run(select(func.coalesce(func.max(QueryLogRow.seq), 0) + 1)).scalar_one()
        db.run(insert(table(QueryLogRow)).values({**asdict(row), "seq": seq, "at": row.at or db.now()}))


def queries(db: CaseDatabase) -> tuple[QueryRow, ...]:
    with db.reading():
        rows = db.rows(select(table(QueryLogRow)).order_by(QueryLogRow.seq))
    return tuple(QueryRow(**row) for row in rows)


def state(db: CaseDatabase, key: str) -> Any:
    with db.reading():
        found = db.run(select(StateRow.value).where(StateRow.key == key)).scalar()
    return found[0] if found else None


def set_state(db: CaseDatabase, key: str, value: Any) -> None:
    with db.writing():
        # In a list, so that a state of None is not the lack of one.
        db.put(StateRow, {"key": key, "value": [value]})


def plugin_state(db: CaseDatabase, plugin: str) -> Mapping[str, Any] | None:
    with db.reading():
        return db.run(select(PluginStateRow.state).where(PluginStateRow.plugin_id == plugin)).scalar()


def set_plugin_state(db: CaseDatabase, plugin: str, state: Mapping[str, Any]) -> None:
    with db.writing():
        db.put(PluginStateRow, {"plugin_id": plugin, "state": dict(state)})


def cached(db: CaseDatabase, url: str) -> CachedResponse | None:
    with db.reading():
        rows = db.rows(select(table(HttpCacheRow)).where(HttpCacheRow.url == url))
    if not rows:
        return None
    row = rows[0]
    try:
        body = zlib.decompress(row["body"])
    except zlib.error:
        body = b""
    if hashlib.sha256(body).hexdigest() != row["body_hash"]:
        raise RunDamaged(f"What is kept of {url!r} is not what the server sent.", remedy="Fetch it again.")
    return CachedResponse(**{**row, "body": body})


def cache(db: CaseDatabase, response: CachedResponse) -> None:
    body_hash = hashlib.sha256(response.body).hexdigest()
    with db.writing():
        db.put(HttpCacheRow, {**asdict(response), "body": zlib.compress(response.body), "body_hash": body_hash})


def robots(db: CaseDatabase, host: str) -> CachedRobots | None:
    with db.reading():
        rows = db.rows(select(table(RobotsCacheRow)).where(RobotsCacheRow.host == host))
    return CachedRobots(**rows[0]) if rows else None


def cache_robots(db: CaseDatabase, found: CachedRobots) -> None:
    with db.writing():
        db.put(RobotsCacheRow, asdict(found))
