"""The three queues of a case: pages to fetch, clues to follow, sources to ask again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Select, and_, case, func, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.database import StorePart
from kiwiresearch.kin.store.tables import QUEUE_ITEM
from kiwiresearch.kin.tree import row_id
from kiwiresearch.text import fold


def to_utc_text(text: str, *, later_s: float = 0.0) -> str:
    """A time some seconds later, as ISO 8601 in UTC with a fixed width; a time without a zone is UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError as problem:
        raise BadUsage(f"{text!r} is not a valid time.", remedy="Write it as 2026-01-31T12:00:00Z.") from problem
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    return (when + timedelta(seconds=later_s)).isoformat(timespec="microseconds").replace("+00:00", "Z")


QueueName = Literal["frontier", "clue", "revisit"]
ItemStatus = Literal["pending", "taken", "done", "failed", "dropped"]
QUEUES: tuple[QueueName, ...] = ("frontier", "clue", "revisit")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """Fields of all items; the store fills in empty ones."""

    id: str = ""
    priority: float = 0.0
    created_at: str = ""
    retry_count: int = 0
    status: ItemStatus = "pending"
    not_before: str = ""
    last_error: str = ""

    @property
    def key(self) -> str:
        """Identifies duplicates: the second item in a queue with the same key is not new."""
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

    @property
    def is_address(self) -> bool:
        """Whether a page is fetched, not searched for."""
        return "://" in self.query_string


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
    """A source to ask again, with a better query."""

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
ABANDONED_REASON = "the worker that had it disappeared"


class Queues(StorePart):
    """The queues of a case."""

    def push(self, queue: QueueName, item: Item) -> bool:
        """Queue an item; False if the queue has or had the same one."""
        if not isinstance(item, ITEM_TYPES[queue]):
            raise BadUsage(f"A {type(item).__name__} cannot be added to the queue {queue!r}.")
        fields = asdict(item)
        row = {name: fields[name] for name in COLUMN_FIELDS}
        row |= {
            "id": item.id or row_id("queue", queue, item.key),
            "case_id": self._db.case_id,
            "queue": queue,
            # Unique within a queue, and kept when the item is done: so nothing is queued a second time.
            "query_hash": item.key or row_id("queue", queue, item.id),
            "created_at": item.created_at or self._db.now(),
            "not_before": to_utc_text(item.not_before) if item.not_before else "",
            "payload": {name: value for name, value in fields.items() if name not in COLUMN_FIELDS},
        }
        with self._db.writing():
            return self._db.insert_new(QUEUE_ITEM, row)

    def take(self, queue: QueueName) -> Item | None:
        """Take the due item of highest priority, then of lowest id. A case has one worker, so this cannot race."""
        with self._db.writing():
            due = and_(QUEUE_ITEM.c.status == "pending", QUEUE_ITEM.c.not_before <= to_utc_text(self._db.now()))
            found = self._db.rows(_best_first(queue).where(due).limit(1))
            if not found:
                return None
            self._db.run(update(QUEUE_ITEM).where(QUEUE_ITEM.c.id == found[0].id).values(status="taken"))
            return _item(found[0]._asdict() | {"status": "taken"})

    def finish(self, item: Item, status: Literal["done", "failed", "dropped"] = "done") -> None:
        self._update(item, {"status": status})

    def retry_later(self, item: Item, why: str, not_before: str = "") -> ItemStatus:
        """Put an item back for later; after three retries it has failed for good."""
        retries = item.retry_count + 1
        # The first try is not a retry, so an item is tried four times in all.
        status: ItemStatus = "pending" if retries <= RETRIES else "failed"
        later = to_utc_text(not_before) if not_before else ""
        values = {"status": status, "retry_count": min(retries, RETRIES), "last_error": why, "not_before": later}
        self._update(item, values)
        return status

    def _update(self, item: Item, values: Mapping[str, Any]) -> None:
        with self._db.writing():
            if not self._db.run(update(QUEUE_ITEM).where(QUEUE_ITEM.c.id == item.id).values(values)).rowcount:
                raise BadUsage(f"The item {item.id!r} is not in a queue.")

    def return_taken(self) -> None:
        """Put back taken items, as if they had not been taken."""
        with self._db.writing():
            self._db.run(update(QUEUE_ITEM).where(QUEUE_ITEM.c.status == "taken").values(status="pending"))

    def return_after_crash(self) -> int:
        """Put back the items that a killed worker had taken, and return how many.

        It counts as a try, so that an item that kills every worker fails after three.
        """
        is_last = QUEUE_ITEM.c.retry_count >= RETRIES
        values = {
            "status": case((is_last, "failed"), else_="pending"),
            "retry_count": case((is_last, RETRIES), else_=QUEUE_ITEM.c.retry_count + 1),
            "last_error": ABANDONED_REASON,
        }
        with self._db.writing():
            return self._db.run(update(QUEUE_ITEM).where(QUEUE_ITEM.c.status == "taken").values(values)).rowcount

    def reprioritise(self, item: Item, priority: float) -> None:
        self._update(item, {"priority": priority})

    def items(self, queue: QueueName, status: ItemStatus | None = None) -> tuple[Item, ...]:
        """The items of a queue, the next one first."""
        chosen = _best_first(queue)
        if status is not None:
            chosen = chosen.where(QUEUE_ITEM.c.status == status)
        with self._db.reading():
            return tuple(_item(row._asdict()) for row in self._db.rows(chosen))

    def sizes(self) -> Mapping[QueueName, int]:
        """How many items of each queue wait or are being worked on."""
        counted = select(QUEUE_ITEM.c.queue, func.count().label("n")).group_by(QUEUE_ITEM.c.queue)
        open_items = counted.where(QUEUE_ITEM.c.status.in_(("pending", "taken")))
        with self._db.reading():
            found = {str(row.queue): int(row.n) for row in self._db.run(open_items)}
        return {queue: found.get(queue, 0) for queue in QUEUES}


def _best_first(queue: QueueName) -> Select[Any]:
    return select(QUEUE_ITEM).where(QUEUE_ITEM.c.queue == queue).order_by(QUEUE_ITEM.c.priority.desc(), QUEUE_ITEM.c.id)


def _item(row: Mapping[str, Any]) -> Item:
    fields: dict[str, Any] = {name: row[name] for name in COLUMN_FIELDS}
    fields |= {name: tuple(value) if isinstance(value, list) else value for name, value in row["payload"].items()}
    return ITEM_TYPES[row["queue"]](**fields)
