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
from kiwiresearch.kin.store.tables import CASE_STATE, HTTP_CACHE, PLUGIN_STATE, QUERY_LOG, ROBOTS_CACHE
from kiwiresearch.kin.store.values import CachedResponse, CachedRobots, QueryRow


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


def cached(db: CaseDatabase, url: str) -> CachedResponse | None:
    with db.reading():
        rows = db.rows(select(HTTP_CACHE).where(HTTP_CACHE.c.url == url))
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
        db.put(HTTP_CACHE, {**asdict(response), "body": zlib.compress(response.body), "body_hash": body_hash})


def robots(db: CaseDatabase, host: str) -> CachedRobots | None:
    with db.reading():
        rows = db.rows(select(ROBOTS_CACHE).where(ROBOTS_CACHE.c.host == host))
    return CachedRobots(**rows[0]) if rows else None


def cache_robots(db: CaseDatabase, found: CachedRobots) -> None:
    with db.writing():
        db.put(ROBOTS_CACHE, asdict(found))
