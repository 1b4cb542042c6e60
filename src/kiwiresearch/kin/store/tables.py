"""The tables of a case, under the names of the data model, and the triggers that protect evidence from changes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeEngine

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
COLUMN_TYPES: Mapping[str, TypeEngine[Any]] = MappingProxyType(
    {
        "text": Text(),
        "integer": BigInteger(),
        "real": Double(),
        "flag": Boolean(),
        # None is NULL in SQL: otherwise it would be the JSON text 'null', which `IS NULL` does not find.
        "json": JSON(none_as_null=True),
        "bytes": LargeBinary(),
    }
)


def _columns(kind: str, *names: str) -> list[Column[Any]]:
    """Columns of the same type. A '?' after the type makes the columns nullable."""
    column_type = COLUMN_TYPES[kind.rstrip("?")]
    return [Column(name, column_type, nullable=kind.endswith("?")) for name in names]


def _key(name: str, kind: str = "text") -> Column[Any]:
    return Column(name, COLUMN_TYPES[kind], primary_key=True, autoincrement=False)


def _reference(name: str, to: str, **more: Any) -> Column[Any]:
    return Column(name, Text(), ForeignKey(to), nullable=more.pop("nullable", False), **more)


def _edit_id() -> Column[Any]:
    """The edit that made a row, which may remove it again when it is undone; empty if research made the row."""
    return Column("edit_id", Text(), nullable=False, server_default="")


RESEARCH_CASE = Table(
    "research_case", METADATA, _key("id"), *_columns("json", "settings"), *_columns("text", "created_at")
)
"""The one case of a database."""

PERSON = Table(
    "person",
    METADATA,
    _key("id"),
    _reference("case_id", "research_case.id"),
    *_columns("text", "told_name", "told_sex", "canonical_name"),
    *_columns("json", "name_variants"),
    *_columns("text", "sex"),
    *_columns("integer?", "birth_date_earliest", "birth_date_latest"),
    *_columns("json?", "birth_date"),
    *_columns("text", "birth_place"),
    *_columns("integer?", "death_date_earliest", "death_date_latest"),
    *_columns("json?", "death_date"),
    *_columns("text", "death_place"),
    *_columns("flag?", "is_living"),
    *_columns("json", "living_basis", "external_ids"),
    _reference("merged_into_id", "person.id", nullable=True, index=True),
    *_columns("real", "confidence"),
    *_columns("text", "created_at", "updated_at"),
)
"""A person.

`told_name` and `told_sex` are what the person was added with. Except for these, the merge and the living status, the
row is a projection of preferred facts.
"""

PERSON_NAME = Table(
    "person_name",
    METADATA,
    _reference("person_id", "person.id", primary_key=True),
    _key("value"),
    *_columns("text", "kind"),
)
"""Another form of a person's name, as first found."""

PERSON_EXTERNAL = Table(
    "person_external",
    METADATA,
    _key("key"),
    _key("value"),
    _reference("person_id", "person.id", primary_key=True, index=True),
)
"""External ids of a person."""

EVENT = Table(
    "event",
    METADATA,
    _key("id"),
    Column("owner_id", Text(), nullable=False, index=True),
    *_columns("text", "event_type"),
    *_columns("integer?", "date_earliest", "date_latest"),
    *_columns("json?", "date"),
    *_columns("text", "place"),
    *_columns("json", "participants"),
    *_columns("real", "confidence"),
)
"""Events derived from preferred facts and ties, for readers who use SQL."""

RELATIONSHIP = Table(
    "relationship",
    METADATA,
    _key("id"),
    _reference("person1_id", "person.id", index=True),
    _reference("person2_id", "person.id", index=True),
    *_columns("text", "relationship_type", "qualifier"),
    *_columns("integer?", "start_date"),
    *_columns("json?", "start"),
    *_columns("integer?", "end_date"),
    *_columns("json?", "end"),
    *_columns("text", "status"),
    *_columns("real", "confidence"),
    *_columns("text", "shadowed_by"),
    CheckConstraint("person1_id <> person2_id", name="two_people"),
)
"""A tie between two people; its values are a projection of its assertions.

`shadowed_by` is the tie that says the same since a merge; its own id if a merge made both ends one person.
"""

ASSERTION = Table(
    "assertion",
    METADATA,
    _key("id"),
    *_columns("text", "entity_id", "entity_type", "field_name"),
    *_columns("json", "field_value"),
    *_columns("text", "value_key"),
    *_columns("real", "confidence"),
    *_columns("text", "status"),
    *_columns("flag", "is_fact", "preferred"),
    *_columns("text", "asserted_at", "changed_at"),
    _edit_id(),
    CheckConstraint("confidence >= 0 AND confidence <= 1", name="confidence_bounds"),
    Index(None, "entity_id", "field_name"),
)
"""One value of one field; only what the rules decide about it changes, and it is never deleted.

What people decide about it is in `DECISION`, where no rule can change it.
"""

SOURCE_RECORD = Table(
    "source_record",
    METADATA,
    _key("id"),
    *_columns("text", "url", "source_name", "title"),
    *_columns("integer", "source_tier"),
    *_columns("text", "accessed_at", "content_hash", "origin_group", "form"),
    *_columns("flag", "official", "user_contributed"),
    *_columns("bytes", "canonical_text"),
    *_columns("text", "text_hash"),
    *_columns("json", "raw_extracted", "metadata"),
    *_columns("integer", "seq"),
    _edit_id(),
    UniqueConstraint("url", "content_hash"),
)
"""One version of a page, record or file, with the text that quotes are spans of."""

EVIDENCE_CLAIM = Table(
    "evidence_claim",
    METADATA,
    _key("id"),
    _reference("assertion_id", "assertion.id", index=True),
    _reference("source_record_id", "source_record.id", index=True),
    *_columns("text", "citation_snippet"),
    *_columns("integer", "span_start", "span_end"),
    *_columns("text", "locator", "stance", "information_type", "directness", "origin_group", "extraction_method"),
    *_columns("real", "source_reliability", "confidence"),
    *_columns("json", "llm_rationale"),
    _edit_id(),
    CheckConstraint("length(citation_snippet) > 0", name="snippet_not_empty"),
)
"""Words of a source that support an assertion, which may have several."""

MERGE_CLUSTER = Table(
    "merge_cluster",
    METADATA,
    _key("id"),
    Column("seq", BigInteger(), nullable=False, unique=True),
    _reference("canonical_id", "person.id"),
    *_columns("json", "member_ids"),
    *_columns("text", "merge_rationale", "why_not_split", "why_not_merge"),
    *_columns("json", "features"),
    *_columns("real", "score"),
    *_columns("text", "decided_by"),
    *_columns("flag", "is_reversible"),
    *_columns("json", "undo"),
    *_columns("text", "state", "created_at", "reverted_at"),
)
"""A merge of two people, with every column that was changed for it.

`why_not_split` says why the two are not two people, `why_not_merge` what speaks against the merge.
"""

CANNOT_LINK = Table(
    "cannot_link",
    METADATA,
    _reference("first_id", "person.id", primary_key=True),
    _reference("second_id", "person.id", primary_key=True),
    *_columns("text", "reason", "decided_by", "at"),
)
"""Two people who are not the same; the first id is the lower one."""

EDIT = Table(
    "edit",
    METADATA,
    _key("id"),
    Column("seq", BigInteger(), nullable=False, unique=True),
    *_columns("integer", "version"),
    *_columns("text", "kind"),
    *_columns("json", "people", "details"),
    *_columns("text", "note", "author", "salt"),
    *_columns("json", "changes"),
    *_columns("text", "state", "made_at", "undone_at"),
)
"""A change that a person made, with every row and column that it changed, so that it can be undone and redone.

`version` counts up whenever any edit is made, undone or redone: an edit's version says when it last changed.
"""

DECISION = Table(
    "decision", METADATA, _key("entity_id"), _key("aspect"), *_columns("text", "value"), Column("edit_id", Text())
)
"""What a person decided about an assertion, a tie or a person; it outweighs what the rules decide."""

ATTACHMENT = Table("attachment", METADATA, _key("id"), *_columns("text", "media_type"), *_columns("bytes", "body"))
"""The content of a picture or a scan; its id is its hash.

It stays when the edit that brought it is undone, since that may be redone.
"""

ATTACHED = Table(
    "attached",
    METADATA,
    _key("id"),
    _reference("person_id", "person.id", index=True),
    _reference("attachment_id", "attachment.id"),
    *_columns("text", "role", "caption", "source_record_id", "name", "added_at"),
)
"""A picture of a person, or the scan of a source about them."""

CONFLICT = Table(
    "conflict",
    METADATA,
    _key("id"),
    *_columns("text", "entity_id", "field_name"),
    *_columns("json", "assertion_ids", "ranking"),
    *_columns("text", "recommended_assertion_id"),
    *_columns("real", "confidence"),
    *_columns("text", "method", "resolution_status", "rationale"),
    *_columns("json", "next_actions"),
)
"""Competing assertions and their outcome."""

QUEUE_ITEM = Table(
    "queue_item",
    METADATA,
    _key("id"),
    _reference("case_id", "research_case.id"),
    *_columns("text", "queue"),
    *_columns("real", "priority"),
    *_columns("text", "created_at", "not_before"),
    *_columns("integer", "retry_count"),
    *_columns("text", "status", "last_error", "query_hash"),
    *_columns("json", "payload"),
    UniqueConstraint("case_id", "queue", "query_hash"),
    Index("ix_queue_item_next", "queue", "status", "priority", "id"),
)
"""Queue items: waiting, being worked on, or done."""

QUERY_LOG = Table(
    "query_log",
    METADATA,
    _key("seq", "integer"),
    *_columns("text", "query", "canonical"),
    Column("query_hash", Text(), nullable=False, index=True),
    *_columns("text", "source"),
    *_columns("integer", "hits", "new_assertions"),
    *_columns("flag", "negative"),
    *_columns("text", "at"),
)
"""The research log: what was searched where, and whether anything was found."""

CASE_STATE = Table("case_state", METADATA, _key("key"), *_columns("json", "value"))
"""Counters, the budget, and the reason for the last stop."""

PLUGIN_STATE = Table("plugin_state", METADATA, _key("plugin_id"), *_columns("json", "state"))
"""The state of plugins, including quarantine."""

AUDIT_LOG = Table(
    "audit_log",
    METADATA,
    _key("seq", "integer"),
    Column("id", Text(), nullable=False, unique=True),
    *_columns("text", "action_type", "entity_id"),
    *_columns("json?", "before_state", "after_state"),
    *_columns("text", "agent_name", "timestamp", "prev_hash", "hash"),
)
"""All actions, each row chained to the previous one; triggers prevent changes."""

AUDIT_HEAD = Table(
    "audit_head",
    METADATA,
    _reference("case_id", "research_case.id", primary_key=True),
    *_columns("integer", "seq"),
    *_columns("text", "hash"),
)
"""The end of the audit log, so that truncation is noticed."""

CASE_FORMAT = Table("case_format", MetaData(), _key("name"), *_columns("text", "value"))
"""The version of the tables; not part of the case, so in its own metadata."""

UNCHANGEABLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "audit_log": ("UPDATE", "DELETE"),
        # Merges change `entity_id`; status, confidence and preference are what the rules decide.
        "assertion": ("UPDATE OF id, field_name, field_value, value_key, entity_type, asserted_at", "DELETE"),
        "evidence_claim": ("UPDATE", "DELETE"),
        "source_record": ("UPDATE", "DELETE"),
    }
)
"""Operations forbidden on rows that others depend on."""


REMOVABLE = frozenset({"assertion", "evidence_claim", "source_record"})
"""Tables whose rows are removed when the edit that made them is undone."""


def create_triggers(connection: Connection) -> None:
    """Make the database refuse to change rows that others depend on."""
    is_file = connection.dialect.name == "sqlite"
    if not is_file:
        connection.execute(
            text(
                "CREATE FUNCTION kin_refuse() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION 'rows of % are kept as they were written', TG_TABLE_NAME; END $$"
            )
        )
    for table, changes in UNCHANGEABLE.items():
        for change in changes:
            create_trigger(connection, table, change)
        if not is_file:
            # PostgreSQL does not run the triggers of rows when it truncates a table.
            connection.execute(text(f"CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} {REFUSE}"))


REFUSE = "EXECUTE FUNCTION kin_refuse()"


def create_trigger(connection: Connection, table: str, change: str) -> None:
    """Make the database refuse one kind of change, except the removal of rows that an edit made."""
    abort = f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are kept as they were written'); END"
    made_by_research = "WHEN (OLD.edit_id = '') " if change == "DELETE" and table in REMOVABLE else ""
    start = f"CREATE TRIGGER {trigger_name(table, change)} BEFORE {change} ON {table} FOR EACH ROW {made_by_research}"
    connection.exec_driver_sql(f"{start}{abort if connection.dialect.name == 'sqlite' else REFUSE}")


def trigger_name(table: str, change: str) -> str:
    return f"{table}_no_{change.split()[0].lower()}"
