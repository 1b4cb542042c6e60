"""Proving the rows of a case: each has the name of what it says, the log knows it, and people are what is said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import select

from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.dates import restored
from kiwiresearch.kin.store.facts import claim_id, key_of
from kiwiresearch.kin.store.ledger import AuditLogRow
from kiwiresearch.kin.store.people import followed
from kiwiresearch.kin.store.projection import Row, untrue
from kiwiresearch.kin.store.schema import AssertionRow, EvidenceClaimRow, PersonRow
from kiwiresearch.kin.store.tables import table


def strays(db: Database) -> tuple[str, ...]:
    """The rows that were touched by something else than the store, each in words that name nobody."""
    with db.reading():
        return (*_statements(db), *_quotes(db), *untrue(db))


def _statements(db: Database) -> Iterator[str]:
    log = AuditLogRow
    logged = {row.entity_id for row in db.run(select(log.entity_id).where(log.action_type == "assert")).all()}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for row in db.run(select(PersonRow.id)).all():
        members[followed(db, row.id)].append(row.id)
    found = db.rows(select(table(AssertionRow)).order_by(AssertionRow.id))
    for one in found:
        if not _is_itself(one, members.get(one["entity_id"], [one["entity_id"]])):
            yield f"statement {one['id']}: it no longer says what it said."
        elif one["id"] not in logged:
            yield f"statement {one['id']}: the audit log knows nothing of it."
    for missing in sorted(logged - {one["id"] for one in found}):
        yield f"statement {missing}: it was removed."


def _is_itself(row: Row, entities: list[str]) -> bool:
    """Whether a statement has the name of what it says, of one of those whom its person is made of."""
    field, value = row["field_name"], row["field_value"]
    dates = [date for date in (value["when"], value["until"]) if date]
    if any((when := restored(date)) is None or when.edtf() != date["edtf"] for date in dates):
        return False
    key = key_of(field, value)
    return key == row["value_key"] and row["id"] in {id_of("assertion", one, field, key) for one in entities}


def _quotes(db: Database) -> Iterator[str]:
    for row in db.rows(select(table(EvidenceClaimRow)).order_by(EvidenceClaimRow.id)):
        if row["id"] != claim_id(row):
            yield f"evidence {row['id']}: it no longer says what it said."
