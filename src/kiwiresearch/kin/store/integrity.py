"""Copies a case, computes its fingerprint, and checks every row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Table, bindparam, insert, select, update

from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.facts import claim_id, value_key
from kiwiresearch.kin.store.projection import Row, wrong_rows
from kiwiresearch.kin.store.records import follow_merges
from kiwiresearch.kin.store.tables import ASSERTION, AUDIT_LOG, EVIDENCE_CLAIM, METADATA, PERSON
from kiwiresearch.kin.store.values import date_from_json
from kiwiresearch.kin.tree import row_id
from kiwiresearch.store import BUSY_S, digest

BATCH = 500

RowValues = dict[str, Any]


def copy_rows(source: CaseDatabase, target: CaseDatabase) -> None:
    """Write all rows of a case into another empty one, inside the target's transaction."""
    with source.reading():
        for at in METADATA.sorted_tables:
            own = _self_references(at)
            for rows in _batches(source, at):
                target.run(insert(at), [{**row, **dict.fromkeys(own)} for row in rows])
            if own:
                _copy_self_references(source, target, at, own)


def _self_references(at: Table) -> list[str]:
    """The columns that refer to other rows of the same table, which may not be copied yet."""
    return [column.name for column in at.c if any(key.column.table is at for key in column.foreign_keys)]


def _copy_self_references(source: CaseDatabase, target: CaseDatabase, at: Table, own: list[str]) -> None:
    [key] = at.primary_key
    change = update(at).where(key == bindparam("this")).values({name: bindparam(f"new_{name}") for name in own})
    for rows in _batches(source, at):
        tied = [row for row in rows if any(row[name] is not None for name in own)]
        if tied:
            given = [{"this": row[key.name], **{f"new_{name}": row[name] for name in own}} for row in tied]
            target.run(change, given)


def _batches(db: CaseDatabase, at: Table) -> Iterator[list[RowValues]]:
    return db.batches(select(at).order_by(*at.primary_key).execution_options(yield_per=BATCH))


def _statements(db: CaseDatabase) -> Iterator[str]:
    log = AUDIT_LOG
    logged = {row.entity_id for row in db.run(select(log.c.entity_id).where(log.c.action_type == "assert")).all()}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for row in db.run(select(PERSON.c.id)).all():
        members[follow_merges(db, row.id)].append(row.id)
    found = db.rows(select(ASSERTION).order_by(ASSERTION.c.id))
    for one in found:
        if not _id_matches(one, members.get(one["entity_id"], [one["entity_id"]])):
            yield f"statement {one['id']}: it no longer says what it said."
        elif one["id"] not in logged:
            yield f"statement {one['id']}: the audit log knows nothing of it."
    for missing in sorted(logged - {one["id"] for one in found}):
        yield f"statement {missing}: it was removed."


def _id_matches(row: Row, entities: list[str]) -> bool:
    """Whether the id of a statement matches its content, about one of the records its person was merged from."""
    field, value = row["field_name"], row["field_value"]
    dates = [date for date in (value["when"], value["until"]) if date]
    if any((when := date_from_json(date)) is None or when.edtf() != date["edtf"] for date in dates):
        return False
    key = value_key(field, value)
    return key == row["value_key"] and row["id"] in {row_id("assertion", one, field, key) for one in entities}


def _quotes(db: CaseDatabase) -> Iterator[str]:
    for row in db.rows(select(EVIDENCE_CLAIM).order_by(EVIDENCE_CLAIM.c.id)):
        if row["id"] != claim_id(row):
            yield f"evidence {row['id']}: it no longer says what it said."


class IntegrityChecker(StorePart):
    """Copies a case, and verifies that it is unchanged."""

    def copy_to(self, where: Path | str, *, busy_s: float = BUSY_S) -> None:
        """Copy the case to an unused place, completely or not at all."""
        CaseDatabase.make(where, self._db.now, lambda target: copy_rows(self._db, target), busy_s=busy_s)

    def verify_rows(self) -> tuple[str, ...]:
        """The statements, quotes, people and ties that were changed by anything but this program; without names."""
        with self._db.reading():
            return (*_statements(self._db), *_quotes(self._db), *wrong_rows(self._db))

    def fingerprint(self) -> str:
        """A hash of all rows of all tables, independent of their order: a copy of the case has the same."""
        with self._db.reading(), self._db.errors():
            return digest(self._db.connection, METADATA.tables.values())
