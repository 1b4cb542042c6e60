"""What the tests of the store write into their cases."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine

from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import FieldName, Qualifier, Source
from kiwiresearch.store.engine import Address
from kiwiresearch.text.when import dates_in

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
    told = value or (when.edtf() if when and field.endswith("_date") else words)
    snippet = Snippet(start, start + len(words), words)
    return ExtractedFact(field, told, snippet, "lead", confidence, when=when, qualifier=qualifier)


def a_source(store: CaseStore, url: str = "zim://book/Ann_Smith", text: str = TEXT) -> str:
    return store.add_source(Source("", url, "A book", "Ann Smith", origin_group="wikipedia"), text, {"name": "Ann"}, {})
