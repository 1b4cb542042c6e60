"""What the tests of the store write into their cases."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, Table, create_engine, select

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.tables import METADATA
from kiwiresearch.kin.tree import FieldName, Qualifier, Source
from kiwiresearch.store.engine import Address
from kiwiresearch.text.dates.mentions import dates_in

NOW = "2026-01-01T00:00:00Z"
TEXT = (
    "Ann Smith (born 12 May 1850 in Leeds; died 3 March 1901) was a painter. "
    "Her father was Tom Smith. Her mother was Jane Smith. She married John Hill in 1871. "
    "Others say she was born on 12 May 1851, about 1849, or before 1852 in York."
)


def engine_of(case_url: str) -> Engine:
    """A way into a case behind the back of the store."""
    return create_engine(Address.parse(case_url, "case").url)


def now() -> str:
    return NOW


def rows_of(store: CaseStore, table: Table) -> list[dict[str, Any]]:
    """The rows of a table, which need not be what the store shows of them."""
    with store._db.reading():
        return [row._asdict() for row in store._db.rows(select(table))]


def dump(store: CaseStore, *, history: bool = False) -> str:
    """All tables as canonical JSON lines: equal stores give equal bytes.

    The audit log is left out, and so are merges and forbidden links unless
    `history` is asked for: they say what was decided, not what is known.
    """
    left_out = (
        {"audit_log", "audit_head", "edit"}
        if history
        else {"audit_log", "audit_head", "edit", "merge_cluster", "cannot_link"}
    )
    lines = []
    for name, table in sorted(METADATA.tables.items()):
        rows = [] if name in left_out else rows_of(store, table)
        for row in sorted(rows, key=lambda row: [str(row[key.name]) for key in table.primary_key]):
            # How a text is compressed depends on the machine; a hash beside it, or its id, proves the content.
            plain = {key: value for key, value in row.items() if key not in ("canonical_text", "body")}
            lines.append(canonical_json({"table": name, "row": plain}))
    return "\n".join(lines)


def said(
    field: FieldName,
    words: str,
    value: str = "",
    *,
    confidence: float = 0.6,
    qualifier: Qualifier = "",
    text: str = TEXT,
) -> ExtractedFact:
    """What the words of a text say, with the date in them where there is one."""
    start = text.index(words)
    dates = dates_in(words) if field.endswith("_date") or field == "spouse" else []
    when = dates[0].when if dates else None
    result = value or (when.edtf() if when and field.endswith("_date") else words)
    snippet = Snippet(start, start + len(words), words)
    return ExtractedFact(field, result, snippet, "lead", confidence, when=when, qualifier=qualifier)


def a_source(store: CaseStore, url: str = "zim://book/Ann_Smith", text: str = TEXT) -> str:
    return store.add_source(Source("", url, "A book", "Ann Smith", origin_group="wikipedia"), text, {"name": "Ann"}, {})
