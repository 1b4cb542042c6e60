"""The research log of a case, and its state between steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, insert, select

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.database import StorePart
from kiwiresearch.kin.store.tables import CASE_STATE, PLUGIN_STATE, QUERY_LOG
from kiwiresearch.kin.store.values import QueryRow


class ResearchLog(StorePart):
    """The research log of a case, and its state between steps."""

    def note_query(
        self,
        query: str,
        canonical: str,
        query_hash: str,
        source: str,
        hits: int,
        new_assertions: int,
        *,
        negative: bool,
        at: str = "",
    ) -> None:
        """Write a line of the research log. A search that found nothing is a line here and never a fact."""
        if negative and (hits or new_assertions):
            raise BadUsage(f"The search {query!r} found something, so it is not negative.")
        with self._db.writing():
            seq = self._db.run(select(func.coalesce(func.max(QUERY_LOG.c.seq), 0) + 1)).scalar_one()
            at = at or self._db.now()
            row = QueryRow(seq, query, canonical, query_hash, source, hits, new_assertions, negative, at)
            self._db.run(insert(QUERY_LOG).values(asdict(row)))

    def queries(self) -> tuple[QueryRow, ...]:
        with self._db.reading():
            rows = self._db.rows(select(QUERY_LOG).order_by(QUERY_LOG.c.seq))
        return tuple(QueryRow(**row) for row in rows)

    def state(self, key: str) -> Any:
        """The value stored under that key; None if there is none."""
        with self._db.reading():
            found = self._db.run(select(CASE_STATE.c.value).where(CASE_STATE.c.key == key)).scalar()
        return found[0] if found else None

    def set_state(self, key: str, value: Any) -> None:
        with self._db.writing():
            # In a list, so that a state of None differs from a missing one.
            self._db.put(CASE_STATE, {"key": key, "value": [value]})

    def plugin_state(self, plugin: str) -> Mapping[str, Any] | None:
        with self._db.reading():
            return self._db.run(select(PLUGIN_STATE.c.state).where(PLUGIN_STATE.c.plugin_id == plugin)).scalar()

    def set_plugin_state(self, plugin: str, state: Mapping[str, Any]) -> None:
        with self._db.writing():
            self._db.put(PLUGIN_STATE, {"plugin_id": plugin, "state": dict(state)})
