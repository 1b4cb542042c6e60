"""A case: one family's research in one database, opened, read and written only through this class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from kiwiresearch.kin.store import projection
from kiwiresearch.kin.store.audit import AuditReader, write_pending
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.facts import FactStore
from kiwiresearch.kin.store.integrity import IntegrityChecker
from kiwiresearch.kin.store.merges import Merges
from kiwiresearch.kin.store.queues import Queues
from kiwiresearch.kin.store.records import RecordStore
from kiwiresearch.kin.store.research_log import ResearchLog
from kiwiresearch.kin.store.tree_reader import TreeReader
from kiwiresearch.store import BUSY_S


class CaseStore(RecordStore, FactStore, TreeReader, ResearchLog, AuditReader, IntegrityChecker):
    """The database of a case; threads may share it, and wait for each other.

    `where` is a file, or a `postgresql://` address of a database with one case.
    `now` gives the time as ISO 8601, used only for timestamp columns.
    Every write happens in a `step`; without one it opens its own.
    Ids of merged people are accepted wherever a person is asked for.
    """

    def __init__(self, database: CaseDatabase) -> None:
        super().__init__(database)
        self.queues = Queues(database)
        self.merges = Merges(database)
        database.deferred = [projection.refresh, write_pending]

    @classmethod
    def create(
        cls, where: Path | str, settings: Mapping[str, Any], now: Callable[[], str], *, busy_s: float = BUSY_S
    ) -> Self:
        """Create a case; raises if something is already there, and leaves it unchanged."""
        return cls(CaseDatabase.create(where, settings, now, busy_s=busy_s))

    @classmethod
    def open(
        cls, where: Path | str, now: Callable[[], str], *, busy_s: float = BUSY_S, alone_s: float | None = None
    ) -> Self:
        """Open a case; an older one is upgraded, a newer one refused.

        With `alone_s`, nobody else may change the case until it is closed; it waits that many seconds for others.
        """
        return cls(CaseDatabase.open(where, now, busy_s=busy_s, alone_s=alone_s))

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def id(self) -> str:
        return self._db.case_id

    def now(self) -> str:
        """The time as ISO 8601, by the clock of this case."""
        return self._db.now()

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._db.settings

    @contextmanager
    def step(self, agent: str) -> Iterator[None]:
        """One transaction: everything written inside is stored, or nothing; a nested step joins the outer one."""
        with self._db.step(agent):
            yield
