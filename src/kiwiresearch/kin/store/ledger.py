"""What was decided, is to be done and was done: merges, conflicts, queues, logs, caches and the audit log."""

from __future__ import annotations

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from kiwiresearch.kin.store.tables import Json, JsonList, Rows


class MergeClusterRow(Rows):
    """Two people taken for one, with every column that was changed for it."""

    __tablename__ = "merge_cluster"

    id: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(unique=True)
    canonical_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    member_ids: Mapped[JsonList]
    merge_rationale: Mapped[str]
    why_not_split: Mapped[str]
    why_not_merge: Mapped[str]
    features: Mapped[Json]
    score: Mapped[float]
    decided_by: Mapped[str]
    is_reversible: Mapped[bool]
    undo: Mapped[JsonList]
    state: Mapped[str]
    created_at: Mapped[str]
    reverted_at: Mapped[str]


class CannotLinkRow(Rows):
    """Two people who are not one; the first id is the lower."""

    __tablename__ = "cannot_link"

    first_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    second_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    reason: Mapped[str]
    decided_by: Mapped[str]
    at: Mapped[str]


class ConflictTableRow(Rows):
    """Competing assertions and what was made of them."""

    __tablename__ = "conflict"

    id: Mapped[str] = mapped_column(primary_key=True)
    entity_id: Mapped[str]
    field_name: Mapped[str]
    assertion_ids: Mapped[JsonList]
    ranking: Mapped[JsonList]
    recommended_assertion_id: Mapped[str]
    confidence: Mapped[float]
    method: Mapped[str]
    resolution_status: Mapped[str]
    rationale: Mapped[str]
    next_actions: Mapped[JsonList]


class QueueItemRow(Rows):
    """What waits, is being worked on, or is done."""

    __tablename__ = "queue_item"
    __table_args__ = (
        UniqueConstraint("case_id", "queue", "query_hash"),
        Index("ix_queue_item_next", "queue", "status", "priority", "id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("research_case.id"))
    queue: Mapped[str]
    priority: Mapped[float]
    created_at: Mapped[str]
    not_before: Mapped[str]
    retry_count: Mapped[int]
    status: Mapped[str]
    lease_until: Mapped[str]
    leased_by: Mapped[str]
    last_error: Mapped[str]
    query_hash: Mapped[str]
    payload: Mapped[Json]


class QueryLogRow(Rows):
    """The research log: what was searched where, and whether anything was found."""

    __tablename__ = "query_log"

    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    query: Mapped[str]
    canonical: Mapped[str]
    query_hash: Mapped[str] = mapped_column(index=True)
    source: Mapped[str]
    hits: Mapped[int]
    new_assertions: Mapped[int]
    negative: Mapped[bool]
    at: Mapped[str]


class StateRow(Rows):
    """Counters, the ledger of the budget, why it stopped."""

    __tablename__ = "case_state"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[JsonList]


class PluginStateRow(Rows):
    """How well a plugin does, and whether it is in quarantine."""

    __tablename__ = "plugin_state"

    plugin_id: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[Json]


class HttpCacheRow(Rows):
    """What a server answered."""

    __tablename__ = "http_cache"

    url: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[int]
    body: Mapped[bytes]
    body_hash: Mapped[str]
    etag: Mapped[str]
    last_modified: Mapped[str]
    fetched_at: Mapped[str]
    expires_at: Mapped[str]


class RobotsCacheRow(Rows):
    """What a host lets programs read."""

    __tablename__ = "robots_cache"

    host: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[int]
    body: Mapped[str]
    fetched_at: Mapped[str]
    expires_at: Mapped[str]


class AuditLogRow(Rows):
    """All that was done, each row chained to the one before; triggers keep it from being changed."""

    __tablename__ = "audit_log"

    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(unique=True)
    action_type: Mapped[str]
    entity_id: Mapped[str]
    before_state: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    after_state: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    agent_name: Mapped[str]
    timestamp: Mapped[str]
    prev_hash: Mapped[str]
    hash: Mapped[str]


class AuditHeadRow(Rows):
    """Where the audit log ends, so that rows cut off its end are missed."""

    __tablename__ = "audit_head"

    case_id: Mapped[str] = mapped_column(ForeignKey("research_case.id"), primary_key=True)
    seq: Mapped[int]
    hash: Mapped[str]
