"""The first tables of a case, and the triggers that keep its evidence and its audit log as they were written."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KINDS: dict[str, sa.types.TypeEngine[Any]] = {
    "text": sa.Text(),
    "whole": sa.BigInteger(),
    "real": sa.Double(),
    "flag": sa.Boolean(),
    "json": sa.JSON(),
    "blob": sa.LargeBinary(),
}
FINAL = {
    "audit_log": ("UPDATE", "DELETE"),
    "assertion": ("UPDATE OF id, field_name, field_value, value_key, entity_type, asserted_at", "DELETE"),
    "evidence_claim": ("UPDATE", "DELETE"),
    "source_record": ("UPDATE", "DELETE"),
}
"""What may not be done to rows that others rest on."""


def upgrade() -> None:
    """Make the tables, then the triggers."""
    _make_tables()
    is_file = op.get_bind().dialect.name == "sqlite"
    if not is_file:
        op.execute(
            "CREATE FUNCTION kin_refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'rows of % are kept as they were written', TG_TABLE_NAME; END $$"
        )
    for at, deeds in FINAL.items():
        for deed in deeds:
            name = f"{at}_no_{deed.split()[0].lower()}"
            start = f"CREATE TRIGGER {name} BEFORE {deed} ON {at} FOR EACH ROW"
            refusal = f"SELECT RAISE(ABORT, 'rows of {at} are kept as they were written');"
            op.execute(f"{start} BEGIN {refusal} END" if is_file else f"{start} EXECUTE FUNCTION kin_refuse()")
        if not is_file:
            op.execute(f"CREATE TRIGGER {at}_no_truncate BEFORE TRUNCATE ON {at} EXECUTE FUNCTION kin_refuse()")


def _columns(kind: str, *names: str) -> list[sa.Column[Any]]:
    """Columns of one kind; a question mark after it says that they may be empty."""
    made = KINDS[kind.rstrip("?")]
    return [sa.Column(name, made, nullable=kind.endswith("?"), autoincrement=False) for name in names]


def _make_tables() -> None:
    op.create_table(
        "assertion",
        *_columns("text", "id", "entity_id", "entity_type", "field_name"),
        *_columns("json", "field_value"),
        *_columns("text", "value_key"),
        *_columns("real", "confidence"),
        *_columns("text", "status"),
        *_columns("flag", "is_fact", "preferred"),
        *_columns("text", "asserted_at", "changed_at"),
        sa.PrimaryKeyConstraint("id", name="pk_assertion"),
        sa.CheckConstraint("confidence >= 0 AND confidence <= 1", name="ck_assertion_confidence_bounds"),
    )
    op.create_index("ix_assertion_entity_id_field_name", "assertion", ["entity_id", "field_name"])
    op.create_table(
        "audit_log",
        *_columns("whole", "seq"),
        *_columns("text", "id", "action_type", "entity_id"),
        *_columns("json?", "before_state", "after_state"),
        *_columns("text", "agent_name", "timestamp", "prev_hash", "hash"),
        sa.PrimaryKeyConstraint("seq", name="pk_audit_log"),
        sa.UniqueConstraint("id", name="uq_audit_log_id"),
    )
    op.create_table(
        "case_state",
        *_columns("text", "key"),
        *_columns("json", "value"),
        sa.PrimaryKeyConstraint("key", name="pk_case_state"),
    )
    op.create_table(
        "conflict",
        *_columns("text", "id", "entity_id", "field_name"),
        *_columns("json", "assertion_ids", "ranking"),
        *_columns("text", "recommended_assertion_id"),
        *_columns("real", "confidence"),
        *_columns("text", "method", "resolution_status", "rationale"),
        *_columns("json", "next_actions"),
        sa.PrimaryKeyConstraint("id", name="pk_conflict"),
    )
    op.create_table(
        "event",
        *_columns("text", "id", "owner_id", "event_type"),
        *_columns("whole?", "date_earliest", "date_latest"),
        *_columns("json?", "date"),
        *_columns("text", "place"),
        *_columns("json", "participants"),
        *_columns("real", "confidence"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
    )
    op.create_index("ix_event_owner_id", "event", ["owner_id"])
    op.create_table(
        "http_cache",
        *_columns("text", "url"),
        *_columns("whole", "status"),
        *_columns("blob", "body"),
        *_columns("text", "body_hash", "etag", "last_modified", "fetched_at", "expires_at"),
        sa.PrimaryKeyConstraint("url", name="pk_http_cache"),
    )
    op.create_table(
        "plugin_state",
        *_columns("text", "plugin_id"),
        *_columns("json", "state"),
        sa.PrimaryKeyConstraint("plugin_id", name="pk_plugin_state"),
    )
    op.create_table(
        "query_log",
        *_columns("whole", "seq"),
        *_columns("text", "query", "canonical", "query_hash", "source"),
        *_columns("whole", "hits", "new_assertions"),
        *_columns("flag", "negative"),
        *_columns("text", "at"),
        sa.PrimaryKeyConstraint("seq", name="pk_query_log"),
    )
    op.create_index("ix_query_log_query_hash", "query_log", ["query_hash"])
    op.create_table(
        "research_case",
        *_columns("text", "id"),
        *_columns("json", "settings"),
        *_columns("text", "created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_research_case"),
    )
    op.create_table(
        "robots_cache",
        *_columns("text", "host"),
        *_columns("whole", "status"),
        *_columns("text", "body", "fetched_at", "expires_at"),
        sa.PrimaryKeyConstraint("host", name="pk_robots_cache"),
    )
    op.create_table(
        "source_record",
        *_columns("text", "id", "url", "source_name", "title"),
        *_columns("whole", "source_tier"),
        *_columns("text", "accessed_at", "content_hash", "origin_group", "form"),
        *_columns("flag", "official", "user_contributed"),
        *_columns("blob", "canonical_text"),
        *_columns("text", "text_hash"),
        *_columns("json", "raw_extracted", "metadata"),
        *_columns("whole", "seq"),
        sa.PrimaryKeyConstraint("id", name="pk_source_record"),
        sa.UniqueConstraint("url", "content_hash", name="uq_source_record_url_content_hash"),
    )
    op.create_table(
        "audit_head",
        *_columns("text", "case_id"),
        *_columns("whole", "seq"),
        *_columns("text", "hash"),
        sa.PrimaryKeyConstraint("case_id", name="pk_audit_head"),
        sa.ForeignKeyConstraint(["case_id"], ["research_case.id"], name="fk_audit_head_case_id"),
    )
    op.create_table(
        "evidence_claim",
        *_columns("text", "id", "assertion_id", "source_record_id", "citation_snippet"),
        *_columns("whole", "span_start", "span_end"),
        *_columns("text", "locator", "stance", "information_type", "directness", "origin_group", "extraction_method"),
        *_columns("real", "source_reliability", "confidence"),
        *_columns("json", "llm_rationale"),
        sa.PrimaryKeyConstraint("id", name="pk_evidence_claim"),
        sa.CheckConstraint("length(citation_snippet) > 0", name="ck_evidence_claim_snippet_not_empty"),
        sa.ForeignKeyConstraint(["assertion_id"], ["assertion.id"], name="fk_evidence_claim_assertion_id"),
        sa.ForeignKeyConstraint(["source_record_id"], ["source_record.id"], name="fk_evidence_claim_source_record_id"),
    )
    op.create_index("ix_evidence_claim_assertion_id", "evidence_claim", ["assertion_id"])
    op.create_index("ix_evidence_claim_source_record_id", "evidence_claim", ["source_record_id"])
    op.create_table(
        "person",
        *_columns("text", "id", "case_id", "told_name", "told_sex", "canonical_name"),
        *_columns("json", "name_variants"),
        *_columns("text", "sex"),
        *_columns("whole?", "birth_date_earliest", "birth_date_latest"),
        *_columns("json?", "birth_date"),
        *_columns("text", "birth_place"),
        *_columns("whole?", "death_date_earliest", "death_date_latest"),
        *_columns("json?", "death_date"),
        *_columns("text", "death_place"),
        *_columns("flag?", "is_living"),
        *_columns("json", "living_basis", "external_ids"),
        *_columns("text?", "merged_into_id"),
        *_columns("real", "confidence"),
        *_columns("text", "created_at", "updated_at"),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sa.ForeignKeyConstraint(["case_id"], ["research_case.id"], name="fk_person_case_id"),
        sa.ForeignKeyConstraint(["merged_into_id"], ["person.id"], name="fk_person_merged_into_id"),
    )
    op.create_index("ix_person_merged_into_id", "person", ["merged_into_id"])
    op.create_table(
        "queue_item",
        *_columns("text", "id", "case_id", "queue"),
        *_columns("real", "priority"),
        *_columns("text", "created_at", "not_before"),
        *_columns("whole", "retry_count"),
        *_columns("text", "status", "lease_until", "leased_by", "last_error", "query_hash"),
        *_columns("json", "payload"),
        sa.PrimaryKeyConstraint("id", name="pk_queue_item"),
        sa.ForeignKeyConstraint(["case_id"], ["research_case.id"], name="fk_queue_item_case_id"),
        sa.UniqueConstraint("case_id", "queue", "query_hash", name="uq_queue_item_case_id_queue_query_hash"),
    )
    op.create_index("ix_queue_item_next", "queue_item", ["queue", "status", "priority", "id"])
    op.create_table(
        "cannot_link",
        *_columns("text", "first_id", "second_id", "reason", "decided_by", "at"),
        sa.PrimaryKeyConstraint("first_id", "second_id", name="pk_cannot_link"),
        sa.ForeignKeyConstraint(["first_id"], ["person.id"], name="fk_cannot_link_first_id"),
        sa.ForeignKeyConstraint(["second_id"], ["person.id"], name="fk_cannot_link_second_id"),
    )
    op.create_table(
        "merge_cluster",
        *_columns("text", "id"),
        *_columns("whole", "seq"),
        *_columns("text", "canonical_id"),
        *_columns("json", "member_ids"),
        *_columns("text", "merge_rationale", "why_not_split", "why_not_merge"),
        *_columns("json", "features"),
        *_columns("real", "score"),
        *_columns("text", "decided_by"),
        *_columns("flag", "is_reversible"),
        *_columns("json", "undo"),
        *_columns("text", "state", "created_at", "reverted_at"),
        sa.PrimaryKeyConstraint("id", name="pk_merge_cluster"),
        sa.ForeignKeyConstraint(["canonical_id"], ["person.id"], name="fk_merge_cluster_canonical_id"),
        sa.UniqueConstraint("seq", name="uq_merge_cluster_seq"),
    )
    op.create_table(
        "person_external",
        *_columns("text", "key", "value", "person_id"),
        sa.PrimaryKeyConstraint("key", "value", "person_id", name="pk_person_external"),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name="fk_person_external_person_id"),
    )
    op.create_index("ix_person_external_person_id", "person_external", ["person_id"])
    op.create_table(
        "person_name",
        *_columns("text", "person_id", "value", "kind"),
        sa.PrimaryKeyConstraint("person_id", "value", name="pk_person_name"),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name="fk_person_name_person_id"),
    )
    op.create_table(
        "relationship",
        *_columns("text", "id", "person1_id", "person2_id", "relationship_type", "qualifier"),
        *_columns("whole?", "start_date"),
        *_columns("json?", "start"),
        *_columns("whole?", "end_date"),
        *_columns("json?", "end"),
        *_columns("text", "status"),
        *_columns("real", "confidence"),
        *_columns("text", "shadowed_by"),
        sa.PrimaryKeyConstraint("id", name="pk_relationship"),
        sa.CheckConstraint("person1_id <> person2_id", name="ck_relationship_two_people"),
        sa.ForeignKeyConstraint(["person1_id"], ["person.id"], name="fk_relationship_person1_id"),
        sa.ForeignKeyConstraint(["person2_id"], ["person.id"], name="fk_relationship_person2_id"),
    )
    op.create_index("ix_relationship_person1_id", "relationship", ["person1_id"])
    op.create_index("ix_relationship_person2_id", "relationship", ["person2_id"])
