"""A case as text, copied, fingerprinted, and checked row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table, bindparam, insert, select, update

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.facts import claim_id, value_key
from kiwiresearch.kin.store.projection import Row, wrong_rows
from kiwiresearch.kin.store.records import follow_merges
from kiwiresearch.kin.store.tables import ASSERTION, AUDIT_LOG, EVIDENCE_CLAIM, METADATA, PERSON
from kiwiresearch.kin.store.values import date_from_json
from kiwiresearch.kin.tree import row_id
from kiwiresearch.store.schema import digest

AUDIT_TABLES = frozenset({"audit_log", "audit_head"})
HISTORY_TABLES = frozenset({"merge_cluster", "cannot_link"})
COMPRESSED_COLUMNS = frozenset({"canonical_text"})
"""Compressed columns: their bytes hang on the machine, and the hash beside each stands for them."""


TABLES = dict(sorted(METADATA.tables.items()))


def dump(db: CaseDatabase, *, history: bool) -> str:
    left_out = AUDIT_TABLES if history else AUDIT_TABLES | HISTORY_TABLES
    with db.reading():
        lines = [
            canonical_json({"table": name, "row": row})
            for name, at in TABLES.items()
            if name not in left_out
            for row in _rows(db, at)
        ]
    return "".join(f"{line}\n" for line in lines)


def _rows(db: CaseDatabase, at: Table) -> list[dict[str, Any]]:
    columns = [column for column in at.c if column.name not in COMPRESSED_COLUMNS]
    rows = db.rows(select(*columns))
    return sorted(rows, key=lambda row: [str(row[key.name]) for key in at.primary_key])


BATCH = 500

RowValues = dict[str, Any]


def copy_rows(source: CaseDatabase, target: CaseDatabase) -> None:
    """Write all rows of a case into another that has none, inside the target's transaction."""
    with source.reading():
        for at in METADATA.sorted_tables:
            own = _self_references(at)
            for rows in _batches(source, at):
                target.run(insert(at), [{**row, **dict.fromkeys(own)} for row in rows])
            if own:
                _copy_self_references(source, target, at, own)


def fingerprint(db: CaseDatabase) -> str:
    """A hash over every row of every table, the audit log and packed texts as well; no order of rows changes it."""
    with db.reading(), db.errors():
        return digest(db.connection, METADATA.tables.values())


def _self_references(at: Table) -> list[str]:
    """The columns that name other rows of the same table: those may come later."""
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


def tampered_rows(db: CaseDatabase) -> tuple[str, ...]:
    """The rows that were touched by something else than the store, each in words that name nobody."""
    with db.reading():
        return (*_statements(db), *_quotes(db), *wrong_rows(db))


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
    """Whether a statement has the name of what it says, of one of those whom its person is made of."""
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
