"""The three queues: nothing twice, the best first, and no item with two workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store.clock import moment
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.items import KINDS, QUEUES, SHARED, Item, ItemStatus, QueueName
from kiwiresearch.kin.store.ledger import QueueItemRow
from kiwiresearch.kin.store.tables import table

RETRIES = 3
ABANDONED = "whoever worked on it never came back"
ROWS = QueueItemRow


def push(db: Database, queue: QueueName, item: Item) -> bool:
    if not isinstance(item, KINDS[queue]):
        raise BadUsage(f"A {type(item).__name__} does not go into the queue {queue!r}.")
    fields = asdict(item)
    row = {name: fields[name] for name in SHARED}
    row |= {
        "id": item.id or id_of("queue", queue, item.key),
        "case_id": db.case_id,
        "queue": queue,
        "query_hash": item.key or id_of("queue", queue, item.id),
        "created_at": item.created_at or db.now(),
        "not_before": moment(item.not_before) if item.not_before else "",
        "payload": {name: value for name, value in fields.items() if name not in SHARED},
    }
    with db.writing():
        return db.insert_new(ROWS, row)


def lease(db: Database, queue: QueueName, worker: str, seconds: float) -> Item | None:
    with db.beside():
        now = moment(db.now())
        _take_back(db, ROWS.lease_until <= now)
        due = and_(ROWS.status == "pending", ROWS.not_before <= now)
        best = select(ROWS.id).where(ROWS.queue == queue, due).order_by(ROWS.priority.desc(), ROWS.id)
        chosen = db.run(best.limit(1).with_for_update(skip_locked=True)).scalar()
        if chosen is None:
            return None
        taken = {"status": "leased", "leased_by": worker, "lease_until": moment(now, later_s=seconds)}
        db.run(update(table(ROWS)).where(ROWS.id == chosen).values(taken))
        return _item(db.rows(select(table(ROWS)).where(ROWS.id == chosen))[0])


def finish(db: Database, item: Item, status: ItemStatus) -> bool:
    with db.beside():
        return _settled(db, item, {"status": status})


def fail(db: Database, item: Item, why: str, not_before: str) -> ItemStatus:
    retries = item.retry_count + 1
    status: ItemStatus = "pending" if retries <= RETRIES else "failed"
    later = moment(not_before) if not_before else ""
    with db.beside():
        values = {"status": status, "retry_count": min(retries, RETRIES), "last_error": why, "not_before": later}
        if not _settled(db, item, values):
            return _status(db, item)
        return status


def _settled(db: Database, item: Item, values: Mapping[str, Any]) -> bool:
    """Change an item that is still this worker's, or still waits."""
    mine = and_(ROWS.id == item.id, ROWS.status == item.status, ROWS.leased_by == item.leased_by)
    if item.status == "leased":
        mine = and_(mine, ROWS.lease_until == item.lease_until)
    given_back = {"leased_by": "", "lease_until": ""}
    return db.run(update(table(ROWS)).where(mine).values({**values, **given_back})).rowcount > 0


def _status(db: Database, item: Item) -> ItemStatus:
    found: ItemStatus | None = db.run(select(ROWS.status).where(ROWS.id == item.id)).scalar()
    if found is None:
        raise BadUsage(f"The queues have no item {item.id!r}.")
    return found


def release(db: Database, worker: str) -> int:
    with db.beside():
        held = and_(ROWS.status == "leased", ROWS.leased_by == worker)
        given_back = {"status": "pending", "leased_by": "", "lease_until": ""}
        return db.run(update(table(ROWS)).where(held).values(given_back)).rowcount


def reclaim(db: Database, worker: str) -> int:
    with db.beside():
        return _take_back(db, ROWS.leased_by == worker)


def _take_back(db: Database, held: ColumnElement[bool]) -> int:
    """From those who never came back. It counts as a try: an item that ends whoever takes it is set aside."""
    is_last = ROWS.retry_count >= RETRIES
    values = {
        "status": case((is_last, "failed"), else_="pending"),
        "retry_count": case((is_last, RETRIES), else_=ROWS.retry_count + 1),
        "last_error": ABANDONED,
        "leased_by": "",
        "lease_until": "",
    }
    return db.run(update(table(ROWS)).where(ROWS.status == "leased", held).values(values)).rowcount


def reprioritise(db: Database, item: Item, priority: float) -> None:
    with db.beside():
        db.run(update(table(ROWS)).where(ROWS.id == item.id).values(priority=priority))


def items(db: Database, queue: QueueName, status: ItemStatus | None) -> tuple[Item, ...]:
    chosen = select(table(ROWS)).where(ROWS.queue == queue).order_by(ROWS.priority.desc(), ROWS.id)
    if status is not None:
        chosen = chosen.where(ROWS.status == status)
    with db.reading():
        return tuple(_item(row) for row in db.rows(chosen))


def sizes(db: Database) -> Mapping[QueueName, int]:
    counted = select(ROWS.queue, func.count().label("n")).group_by(ROWS.queue)
    open_items = counted.where(ROWS.status.in_(("pending", "leased")))
    with db.reading():
        found = {str(row.queue): int(row.n) for row in db.run(open_items)}
    return {queue: found.get(queue, 0) for queue in QUEUES}


def _item(row: Mapping[str, Any]) -> Item:
    fields: dict[str, Any] = {name: row[name] for name in SHARED}
    fields |= {name: tuple(value) if isinstance(value, list) else value for name, value in row["payload"].items()}
    return KINDS[row["queue"]](**fields)
