"""The tables of a case, under the names of the data model."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Json = dict[str, Any]
JsonList = list[Any]


class TableBase(DeclarativeBase):
    """What the tables share: names of constraints that are the same on every engine."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: Text(), int: BigInteger(), Json: JSON(), JsonList: JSON(), bytes: LargeBinary()}  # noqa: RUF012


def table(row: type[TableBase]) -> Table:
    """The table behind a class, for statements of our own."""
    found = row.__table__
    assert isinstance(found, Table)
    return found


class ResearchCaseRow(TableBase):
    """The one case of a database."""

    __tablename__ = "research_case"

    id: Mapped[str] = mapped_column(primary_key=True)
    settings: Mapped[Json]
    created_at: Mapped[str]


class PersonRow(TableBase):
    """A person. All but the `told_` columns, the merge and the living are a projection of preferred facts."""

    __tablename__ = "person"

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("research_case.id"))
    told_name: Mapped[str]
    told_sex: Mapped[str]
    canonical_name: Mapped[str]
    name_variants: Mapped[JsonList]
    sex: Mapped[str]
    birth_date_earliest: Mapped[int | None]
    birth_date_latest: Mapped[int | None]
    birth_date: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    birth_place: Mapped[str]
    death_date_earliest: Mapped[int | None]
    death_date_latest: Mapped[int | None]
    death_date: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    death_place: Mapped[str]
    is_living: Mapped[bool | None]
    living_basis: Mapped[Json]
    external_ids: Mapped[Json]
    merged_into_id: Mapped[str | None] = mapped_column(ForeignKey("person.id"), index=True)
    confidence: Mapped[float]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class PersonNameRow(TableBase):
    """Another form of a person's name, as it was first met."""

    __tablename__ = "person_name"

    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]


class PersonExternalRow(TableBase):
    """What a person is called elsewhere."""

    __tablename__ = "person_external"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True, index=True)


class EventRow(TableBase):
    """What happened, derived from preferred facts and ties."""

    __tablename__ = "event"

    id: Mapped[str] = mapped_column(primary_key=True)
    owner_id: Mapped[str] = mapped_column(index=True)
    event_type: Mapped[str]
    date_earliest: Mapped[int | None]
    date_latest: Mapped[int | None]
    date: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    place: Mapped[str]
    participants: Mapped[JsonList]
    confidence: Mapped[float]


class RelationshipRow(TableBase):
    """A tie between two people; what it says is a projection of its assertions."""

    __tablename__ = "relationship"
    __table_args__ = (CheckConstraint("person1_id <> person2_id", name="two_people"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    person1_id: Mapped[str] = mapped_column(ForeignKey("person.id"), index=True)
    person2_id: Mapped[str] = mapped_column(ForeignKey("person.id"), index=True)
    relationship_type: Mapped[str]
    qualifier: Mapped[str]
    start_date: Mapped[int | None]
    start: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    end_date: Mapped[int | None]
    end: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    status: Mapped[str]
    confidence: Mapped[float]
    shadowed_by: Mapped[str]
    """The tie that says the same since a merge; its own id where a merge made both ends one person."""


class AssertionRow(TableBase):
    """One value of one field; never changed but for what was decided about it, never deleted."""

    __tablename__ = "assertion"
    __table_args__ = (
        CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence_bounds"),
        Index("ix_assertion_entity_id_field_name", "entity_id", "field_name"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    entity_id: Mapped[str]
    entity_type: Mapped[str]
    field_name: Mapped[str]
    field_value: Mapped[Json]
    value_key: Mapped[str]
    confidence: Mapped[float]
    status: Mapped[str]
    is_fact: Mapped[bool]
    preferred: Mapped[bool]
    asserted_at: Mapped[str]
    changed_at: Mapped[str]


class SourceRecordRow(TableBase):
    """One version of a page, record or file, with the text that quotes are spans of."""

    __tablename__ = "source_record"
    __table_args__ = (UniqueConstraint("url", "content_hash"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    url: Mapped[str]
    source_name: Mapped[str]
    title: Mapped[str]
    source_tier: Mapped[int]
    accessed_at: Mapped[str]
    content_hash: Mapped[str]
    origin_group: Mapped[str]
    form: Mapped[str]
    official: Mapped[bool]
    user_contributed: Mapped[bool]
    canonical_text: Mapped[bytes]
    text_hash: Mapped[str]
    raw_extracted: Mapped[Json]
    details: Mapped[Json] = mapped_column("metadata")
    seq: Mapped[int]


class EvidenceClaimRow(TableBase):
    """The words of a source that speak for an assertion; an assertion has as many as were found."""

    __tablename__ = "evidence_claim"
    __table_args__ = (CheckConstraint("length(citation_snippet) > 0", name="snippet_not_empty"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    assertion_id: Mapped[str] = mapped_column(ForeignKey("assertion.id"), index=True)
    source_record_id: Mapped[str] = mapped_column(ForeignKey("source_record.id"), index=True)
    citation_snippet: Mapped[str]
    span_start: Mapped[int]
    span_end: Mapped[int]
    locator: Mapped[str]
    stance: Mapped[str]
    information_type: Mapped[str]
    directness: Mapped[str]
    origin_group: Mapped[str]
    extraction_method: Mapped[str]
    source_reliability: Mapped[float]
    confidence: Mapped[float]
    llm_rationale: Mapped[Json]


class MergeClusterRow(TableBase):
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


class CannotLinkRow(TableBase):
    """Two people who are not one; the first id is the lower."""

    __tablename__ = "cannot_link"

    first_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    second_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    reason: Mapped[str]
    decided_by: Mapped[str]
    at: Mapped[str]


class ConflictTableRow(TableBase):
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


class QueueItemRow(TableBase):
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


class QueryLogRow(TableBase):
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


class StateRow(TableBase):
    """Counters, the ledger of the budget, why it stopped."""

    __tablename__ = "case_state"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[JsonList]


class PluginStateRow(TableBase):
    """How well a plugin does, and whether it is in quarantine."""

    __tablename__ = "plugin_state"

    plugin_id: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[Json]


class HttpCacheRow(TableBase):
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


class RobotsCacheRow(TableBase):
    """What a host lets programs read."""

    __tablename__ = "robots_cache"

    host: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[int]
    body: Mapped[str]
    fetched_at: Mapped[str]
    expires_at: Mapped[str]


class AuditLogRow(TableBase):
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


class AuditHeadRow(TableBase):
    """Where the audit log ends, so that rows cut off its end are missed."""

    __tablename__ = "audit_head"

    case_id: Mapped[str] = mapped_column(ForeignKey("research_case.id"), primary_key=True)
    seq: Mapped[int]
    hash: Mapped[str]
