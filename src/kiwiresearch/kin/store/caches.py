"""What servers answered, what their robots.txt says, and how plugins do."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import select

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.ledger import HttpCacheRow, PluginStateRow, RobotsCacheRow
from kiwiresearch.kin.store.rows import CachedResponse, CachedRobots
from kiwiresearch.kin.store.tables import table


def plugin_state(db: Database, plugin: str) -> Mapping[str, Any] | None:
    with db.reading():
        return db.run(select(PluginStateRow.state).where(PluginStateRow.plugin_id == plugin)).scalar()


def set_plugin_state(db: Database, plugin: str, state: Mapping[str, Any]) -> None:
    with db.writing():
        db.put(PluginStateRow, {"plugin_id": plugin, "state": dict(state)})


def cached(db: Database, url: str) -> CachedResponse | None:
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


def cache(db: Database, response: CachedResponse) -> None:
    body_hash = hashlib.sha256(response.body).hexdigest()
    with db.writing():
        db.put(HttpCacheRow, {**asdict(response), "body": zlib.compress(response.body), "body_hash": body_hash})


def robots(db: Database, host: str) -> CachedRobots | None:
    with db.reading():
        rows = db.rows(select(table(RobotsCacheRow)).where(RobotsCacheRow.host == host))
    return CachedRobots(**rows[0]) if rows else None


def cache_robots(db: Database, found: CachedRobots) -> None:
    with db.writing():
        db.put(RobotsCacheRow, asdict(found))
