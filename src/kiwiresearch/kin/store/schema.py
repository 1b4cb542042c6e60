"""What is known: people, events, ties, assertions, evidence and sources, under the names of the seed's data model."""

from __future__ import annotations

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from kiwiresearch.kin.store.tables import Json, JsonList, Rows


class CaseRow(Rows):
    """The one case of a database."""

    __tablename__ = "research_case"

    id: Mapped[str] = mapped_column(primary_key=True)
    settings: Mapped[Json]
    created_at: Mapped[str]


class PersonRow(Rows):
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


class PersonNameRow(Rows):
    """Another form of a person's name, as it was first met."""

    __tablename__ = "person_name"

    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]


class PersonExternalRow(Rows):
    """What a person is called elsewhere."""

    __tablename__ = "person_external"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True, index=True)


class EventRow(Rows):
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


class RelationshipRow(Rows):
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


class AssertionRow(Rows):
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


class SourceRecordRow(Rows):
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


class EvidenceClaimRow(Rows):
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
