"""A case: one family's research in one database.

It is opened, read and written only through `CaseStore`, which combines the classes of the other modules with the
research log, copies of a case, and the check that nothing but this program changed its rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, cast

from sqlalchemy import Row, Table, bindparam, func, insert, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store import projection
from kiwiresearch.kin.store.attachments import Attachments
from kiwiresearch.kin.store.audit import AuditReader, write_pending
from kiwiresearch.kin.store.conflicts import ConflictStore
from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.decisions import Aspect, decide
from kiwiresearch.kin.store.edits import Edits, edit_digest
from kiwiresearch.kin.store.facts import FactStore, evidence_id, value_key
from kiwiresearch.kin.store.merges import Merges
from kiwiresearch.kin.store.people_and_sources import PeopleAndSources, follow_merges
from kiwiresearch.kin.store.projection import wrong_rows
from kiwiresearch.kin.store.queues import Queues
from kiwiresearch.kin.store.tables import (
    ASSERTION,
    ATTACHMENT,
    AUDIT_LOG,
    CASE_STATE,
    DECISION,
    EDIT,
    EVIDENCE_CLAIM,
    METADATA,
    PERSON,
    PLUGIN_STATE,
    QUERY_LOG,
)
from kiwiresearch.kin.store.tree_reader import TreeReader
from kiwiresearch.kin.store.values import QueryRow, date_from_json
from kiwiresearch.kin.tree import LivingStatus, PersonId, row_id
from kiwiresearch.store import BUSY_S, digest

BATCH = 500
STATE = select(CASE_STATE.c.value).where(CASE_STATE.c.key == bindparam("key"))
DECIDED = select(DECISION.c.entity_id, DECISION.c.value).where(DECISION.c.aspect == bindparam("aspect"))
IMPORTS = "imports"
"""The key of the state that says what was imported, and who was in the case before."""


def copy_rows(source: CaseDatabase, target: CaseDatabase) -> None:
    """Write all rows of a case into another empty one, inside the target's transaction."""
    with source.reading():
        for table in METADATA.sorted_tables:
            own = _self_references(table)
            for rows in _batches(source, table):
                # First without these columns, since the row that they refer to may come later.
                target.run(insert(table), [{**row._mapping, **dict.fromkeys(own)} for row in rows])
            if own:
                _copy_self_references(source, target, table, own)


def _self_references(table: Table) -> list[str]:
    """The columns that refer to other rows of the same table, which may not be copied yet."""
    return [column.name for column in table.c if any(key.column.table is table for key in column.foreign_keys)]


def _copy_self_references(source: CaseDatabase, target: CaseDatabase, table: Table, own: list[str]) -> None:
    [key] = table.primary_key
    change = update(table).where(key == bindparam("this")).values({name: bindparam(f"new_{name}") for name in own})
    for rows in _batches(source, table):
        tied = [row._mapping for row in rows if any(getattr(row, name) is not None for name in own)]
        if tied:
            given = [{"this": row[key.name], **{f"new_{name}": row[name] for name in own}} for row in tied]
            target.run(change, given)


def _batches(db: CaseDatabase, table: Table) -> Iterator[Sequence[Row[Any]]]:
    return db.batches(select(table).order_by(*table.primary_key).execution_options(yield_per=BATCH))


def _assertion_problems(db: CaseDatabase) -> Iterator[str]:
    log = AUDIT_LOG
    logged = {row.entity_id for row in db.run(select(log.c.entity_id).where(log.c.action_type == "assert")).all()}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for row in db.run(select(PERSON.c.id)).all():
        # A merge moves an assertion to another person, while its id stays that of the person whom it was stored for.
        members[follow_merges(db, row.id)].append(row.id)
    found = db.rows(select(ASSERTION).order_by(ASSERTION.c.id))
    for item in found:
        if not _id_matches(item, members.get(item.entity_id, [item.entity_id])):
            yield f"statement {item.id}: it was changed."
        elif item.id not in logged:
            yield f"statement {item.id}: it is not in the log."
    # Undoing an edit removes its rows, although the log still has them.
    for missing in sorted(logged - {item.id for item in found} - _undone_rows(db)):
        yield f"statement {missing}: it was removed."


def _undone_rows(db: CaseDatabase) -> set[str]:
    """The ids of rows that were removed because the edit that made them was undone."""
    rows = db.rows(select(EDIT.c.changes).where(EDIT.c.state == "undone"))
    return {change[2]["id"] for row in rows for change in row.changes if change[0] == "put" and "id" in change[2]}


def _edit_problems(db: CaseDatabase) -> Iterator[str]:
    """The edits that differ from what the log says of them."""
    log = AUDIT_LOG
    rows = db.rows(select(log.c.entity_id, log.c.after_state).where(log.c.action_type == "edit"))
    logged = {row.entity_id: row.after_state["digest"] for row in rows}
    found = {row.id: edit_digest(row._asdict()) for row in db.rows(select(EDIT))}
    for edit in sorted(logged.keys() | found.keys()):
        if edit not in found:
            yield f"change {edit}: it was removed."
        elif logged.get(edit) != found[edit]:
            yield f"change {edit}: it was changed."


def _attachment_problems(db: CaseDatabase) -> Iterator[str]:
    for rows in db.batches(select(ATTACHMENT).order_by(ATTACHMENT.c.id).execution_options(yield_per=1)):
        for row in rows:
            if row.id != sha256(row.body).hexdigest():
                yield f"file {row.id}: it was changed."


def _id_matches(row: Row[Any], entities: list[str]) -> bool:
    """Whether the id of an assertion matches its content, about one of the records its person was merged from."""
    field, value = row.field_name, row.field_value
    dates = [date for date in (value["when"], value["until"]) if date]
    if any((when := date_from_json(date)) is None or when.edtf() != date["edtf"] for date in dates):
        return False
    key = value_key(field, value)
    return key == row.value_key and row.id in {row_id("assertion", entity, field, key) for entity in entities}


def _evidence_problems(db: CaseDatabase) -> Iterator[str]:
    for row in db.rows(select(EVIDENCE_CLAIM).order_by(EVIDENCE_CLAIM.c.id)):
        if row.id != evidence_id(row._asdict()):
            yield f"evidence {row.id}: it was changed."


class IntegrityChecker(StorePart):
    """Verifies that a case is unchanged."""

    def verify_rows(self) -> tuple[str, ...]:
        """The assertions, evidence, people and ties that were changed by anything but this program; without names."""
        with self._db.reading():
            return (
                *_assertion_problems(self._db),
                *_evidence_problems(self._db),
                *_edit_problems(self._db),
                *_attachment_problems(self._db),
                *wrong_rows(self._db),
            )

    def fingerprint(self) -> str:
        """A hash of all rows of all tables, independent of their order: a copy of the case has the same."""
        with self._db.reading(), self._db.errors():
            return digest(self._db.connection, METADATA.tables.values())


class ResearchLog(StorePart):
    """The research log of a case."""

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
            raise BadUsage(f"The search {query!r} has results, so it cannot be logged as negative.")
        with self._db.writing():
            seq = self._db.run(select(func.coalesce(func.max(QUERY_LOG.c.seq), 0) + 1)).scalar_one()
            at = at or self._db.now()
            row = QueryRow(seq, query, canonical, query_hash, source, hits, new_assertions, negative, at)
            self._db.run(insert(QUERY_LOG).values(asdict(row)))

    def queries(self) -> tuple[QueryRow, ...]:
        with self._db.reading():
            rows = self._db.rows(select(QUERY_LOG).order_by(QUERY_LOG.c.seq))
        return tuple(QueryRow(**row._asdict()) for row in rows)


class CaseState(StorePart):
    """What a case remembers between steps, by key, and what its plugins remember."""

    def state(self, key: str) -> Any:
        """The value stored under that key; None if there is none."""
        with self._db.reading(run_hooks_first=False):
            found = self._db.run(STATE, {"key": key}).scalar()
        return found[0] if found else None

    def set_state(self, key: str, value: Any) -> None:
        with self._db.writing():
            # In a list, so that a state of None differs from a missing one.
            self._db.upsert(CASE_STATE, {"key": key, "value": [value]})

    @property
    def living_overrides(self) -> Mapping[PersonId, LivingStatus]:
        """Who is living or dead, according to the user."""
        return cast("Mapping[PersonId, LivingStatus]", self._decided("living"))

    @property
    def living_reasons(self) -> Mapping[PersonId, str]:
        """Why the user says that somebody is living or dead."""
        return self._decided("living_reason")

    def override_living(self, person: PersonId, status: LivingStatus, why: str) -> None:
        """Record what the user says about whether somebody is living."""
        with self._db.writing():
            decide(self._db, person, "living", status)
            decide(self._db, person, "living_reason", why)

    def _decided(self, aspect: Aspect) -> dict[str, str]:
        with self._db.reading():
            rows = self._db.rows(DECIDED, {"aspect": aspect})
        return {row.entity_id: row.value for row in rows}

    @property
    def seeds(self) -> tuple[PersonId, ...]:
        """The people the case was started with, who may have been merged since."""
        return tuple(self.state("seeds") or ())

    @property
    def stop(self) -> Mapping[str, object]:
        """The `reason` why the research ended last, and its `words`; empty if it has not ended."""
        return self.state("stop") or {}

    def plugin_state(self, plugin: str) -> Mapping[str, object] | None:
        with self._db.reading():
            return self._db.run(select(PLUGIN_STATE.c.state).where(PLUGIN_STATE.c.plugin_id == plugin)).scalar()

    def set_plugin_state(self, plugin: str, state: Mapping[str, Any]) -> None:
        with self._db.writing():
            self._db.upsert(PLUGIN_STATE, {"plugin_id": plugin, "state": dict(state)})


class CaseStore(
    PeopleAndSources, FactStore, ConflictStore, TreeReader, ResearchLog, CaseState, AuditReader, IntegrityChecker
):
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
        self.edits = Edits(database)
        self.attachments = Attachments(database)
        database.hooks = [projection.refresh, write_pending]

    @classmethod
    def create(
        cls, where: Path | str, settings: Mapping[str, Any], now: Callable[[], str], *, busy_s: float = BUSY_S
    ) -> Self:
        """Create a case; raises if something is already there, and leaves it unchanged."""
        return cls(CaseDatabase.create(where, settings, now, busy_s=busy_s))

    @classmethod
    def open(
        cls,
        where: Path | str,
        now: Callable[[], str],
        *,
        busy_s: float = BUSY_S,
        for_changes: bool = False,
        wait_s: float = 0.0,
    ) -> Self:
        """Open a case; an older one is upgraded, a newer one refused.

        With `for_changes`, nobody else may change it until it is closed; another process is waited for up to `wait_s`.
        """
        return cls(CaseDatabase.open(where, now, busy_s=busy_s, for_changes=for_changes, wait_s=wait_s))

    def copy_to(self, where: Path | str, *, busy_s: float = BUSY_S) -> None:
        """Copy the case to an unused place, completely or not at all."""
        CaseDatabase.create_and_fill(where, self._db.now, lambda target: copy_rows(self._db, target), busy_s=busy_s)

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
    def settings(self) -> Mapping[str, object]:
        return self._db.settings

    @contextmanager
    def step(self, agent: str) -> Iterator[None]:
        """One transaction: everything written inside is stored, or nothing; a nested step joins the outer one."""
        with self._db.step(agent):
            yield
