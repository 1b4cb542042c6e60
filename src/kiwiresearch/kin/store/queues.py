"""The three queues of a case: pages to fetch, clues to follow, sources to ask again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import and_, case, func, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import QUEUE_ITEM
from kiwiresearch.kin.tree import row_id
from kiwiresearch.text.words import fold


def to_utc_text(text: str, *, later_s: float = 0.0) -> str:
    """An ISO 8601 time in UTC and of one width, some seconds later; a time without a zone is UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError as problem:
        raise BadUsage(f"{text!r} is no time.", remedy="Write it as 2026-01-31T12:00:00Z.") from problem
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    return (when + timedelta(seconds=later_s)).isoformat(timespec="microseconds").replace("+00:00", "Z")


QueueName = Literal["frontier", "clue", "revisit"]
ItemStatus = Literal["pending", "taken", "done", "failed", "dropped"]
QUEUES: tuple[QueueName, ...] = ("frontier", "clue", "revisit")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """What all items have; the store fills in what is left empty."""

    id: str = ""
    priority: float = 0.0
    created_at: str = ""
    retry_count: int = 0
    status: ItemStatus = "pending"
    not_before: str = ""
    last_error: str = ""

    @property
    def key(self) -> str:
        """What makes it the same as another item of its queue: a second one is not novel."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierItem(QueueItem):
    """A page or an entity to fetch."""

    target_entity_id: str = ""
    query_string: str
    source_tiers: tuple[str, ...] = ()
    query_hash: str
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.query_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class ClueItem(QueueItem):
    """A hypothesis worth a search; never a fact."""

    hypothesis_type: str
    hypothesis_text: str
    related_person_id: str = ""
    suggested_queries: tuple[str, ...] = ()
    evidence_hints: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return row_id("clue", self.hypothesis_type, fold(self.hypothesis_text), self.related_person_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitItem(QueueItem):
    """A source to ask again, with better words."""

    original_source_id: str
    original_query: str
    improved_query: str
    revisit_reason: str
    triggering_clue_id: str = ""

    @property
    def key(self) -> str:
        return row_id("revisit", self.original_source_id, fold(self.improved_query))


Item = FrontierItem | ClueItem | RevisitItem
ITEM_TYPES: Mapping[QueueName, type[FrontierItem] | type[ClueItem] | type[RevisitItem]] = {
    "frontier": FrontierItem,
    "clue": ClueItem,
    "revisit": RevisitItem,
}
COLUMN_FIELDS: frozenset[str] = frozenset(QueueItem.__dataclass_fields__)
"""The fields that are columns of the queue; the others are its payload."""


RETRIES = 3
ABANDONED = "whoever worked on it never came back"
ROWS = QUEUE_ITEM


def push(db: CaseDatabase, queue: QueueName, item: Item) -> bool:
    if not isinstance(item, ITEM_TYPES[queue]):
        raise BadUsage(f"A {type(item).__name__} does not go into the queue {queue!r}.")
    fields = asdict(item)
    row = {name: fields[name] for name in COLUMN_FIELDS}
    row |= {
        "id": item.id or row_id("queue", queue, item.key),
        "case_id": db.case_id,
        "queue": queue,
        "query_hash": item.key or row_id("queue", queue, item.id),
        "created_at": item.created_at or db.now(),
        "not_before": to_utc_text(item.not_before) if item.not_before else "",
        "payload": {name: value for name, value in fields.items() if name not in COLUMN_FIELDS},
    }
    with db.writing():
        return db.insert_new(ROWS, row)


def take(db: CaseDatabase, queue: QueueName) -> Item | None:
    with db.writing():
        due = and_(ROWS.c.status == "pending", ROWS.c.not_before <= to_utc_text(db.now()))
        best = select(ROWS).where(ROWS.c.queue == queue, due).order_by(ROWS.c.priority.desc(), ROWS.c.id)
        found = db.rows(best.limit(1))
        if not found:
            return None
        db.run(update(ROWS).where(ROWS.c.id == found[0]["id"]).values(status="taken"))
        return _item({**found[0], "status": "taken"})


def finish(db: CaseDatabase, item: Item, status: ItemStatus) -> None:
    _update(db, item, {"status": status})


def fail(db: CaseDatabase, item: Item, why: str, not_before: str) -> ItemStatus:
    retries = item.retry_count + 1
    status: ItemStatus = "pending" if retries <= RETRIES else "failed"
    later = to_utc_text(not_before) if not_before else ""
    values = {"status": status, "retry_count": min(retries, RETRIES), "last_error": why, "not_before": later}
    _update(db, item, values)
    return status


def _update(db: CaseDatabase, item: Item, values: Mapping[str, Any]) -> None:
    with db.writing():
        if not db.run(update(ROWS).where(ROWS.c.id == item.id).values(values)).rowcount:
            raise BadUsage(f"The queues have no item {item.id!r}.")


def give_back(db: CaseDatabase) -> None:
    with db.writing():
        db.run(update(ROWS).where(ROWS.c.status == "taken").values(status="pending"))


def reclaim(db: CaseDatabase) -> int:
    """It counts as a try: an item that ends whoever takes it is set aside."""
    is_last = ROWS.c.retry_count >= RETRIES
    values = {
        "status": case((is_last, "failed"), else_="pending"),
        "retry_count": case((is_last, RETRIES), else_=ROWS.c.retry_count + 1),
        "last_error": ABANDONED,
    }
    with db.writing():
        return db.run(update(ROWS).where(ROWS.c.status == "taken").values(values)).rowcount


def reprioritise(db: CaseDatabase, item: Item, priority: float) -> None:
    _update(db, item, {"priority": priority})


def items(db: CaseDatabase, queue: QueueName, status: ItemStatus | None) -> tuple[Item, ...]:
    chosen = select(ROWS).where(ROWS.c.queue == queue).order_by(ROWS.c.priority.desc(), ROWS.c.id)
    if status is not None:
        chosen = chosen.where(ROWS.c.status == status)
    with db.reading():
        return tuple(_item(row) for row in db.rows(chosen))


def sizes(db: CaseDatabase) -> Mapping[QueueName, int]:
    counted = select(ROWS.c.queue, func.count().label("n")).group_by(ROWS.c.queue)
    open_items = counted.where(ROWS.c.status.in_(("pending", "taken")))
    with db.reading():
        found = {str(row.queue): int(row.n) for row in db.run(open_items)}
    return {queue: found.get(queue, 0) for queue in QUEUES}


def _item(row: Mapping[str, Any]) -> Item:
    fields: dict[str, Any] = {name: row[name] for name in COLUMN_FIELDS}
    fields |= {name: tuple(value) if isinstance(value, list) else value for name, value in row["payload"].items()}
    return ITEM_TYPES[row["queue"]](**fields)
