"""Sources and their texts, kept so that every quote can be proved again."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import func, select

from kiwiresearch.errors import BadUsage, QuoteNotFound, RunDamaged
from kiwiresearch.kin.extracted import Snippet
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.schema import SourceRecordRow
from kiwiresearch.kin.store.tables import table
from kiwiresearch.kin.tree import Source, SourceId

TEXTS_AT_HAND = 8
"""Facts of one page are asserted one after the other."""


def add_source(
    db: Database, source: Source, text: str, raw_extracted: Mapping[str, Any], metadata: Mapping[str, Any]
) -> SourceId:
    body = text.encode("utf-8", "surrogatepass")
    text_hash = hashlib.sha256(body).hexdigest()
    content_hash = source.content_hash or f"sha256:{text_hash}"
    with db.writing():
        known = _known(db, source.url, content_hash)
        if known is not None:
            return known
        identity = source.id or id_of("source", source.url, content_hash)
        row = {
            "id": identity,
            "url": source.url,
            "source_name": source.name,
            "title": source.title,
            "source_tier": source.tier,
            "accessed_at": source.accessed_at or db.now(),
            "content_hash": content_hash,
            "origin_group": source.origin_group,
            "form": source.form,
            "official": source.official,
            "user_contributed": source.user_contributed,
            "canonical_text": zlib.compress(body),
            "text_hash": text_hash,
            "raw_extracted": dict(raw_extracted),
            "metadata": dict(metadata),
            "seq": db.run(select(func.coalesce(func.max(SourceRecordRow.seq), 0) + 1)).scalar_one(),
        }
        if not db.insert_new(SourceRecordRow, row):
            raise BadUsage(
                f"The id {identity!r} is that of another source already.",
                remedy="Leave the id of the source empty, so that it is made of its URL and content.",
            )
        # Titles and addresses of pages name people, who may live.
        audit.note(db, "add_source", identity, living="deceased", after={"content_hash": content_hash})
        return identity


def _known(db: Database, url: str, content_hash: str) -> SourceId | None:
    rows = SourceRecordRow
    return db.run(select(rows.id).where(rows.url == url, rows.content_hash == content_hash)).scalar()


def source_text(db: Database, source: SourceId) -> str:
    if source in db.texts:
        return db.texts[source]
    with db.reading(settled=False):
        rows = SourceRecordRow
        row = db.run(select(rows.canonical_text, rows.text_hash).where(rows.id == source)).one_or_none()
    if row is None:
        raise unknown_source(source)
    try:
        body = zlib.decompress(row.canonical_text)
    except zlib.error:
        body = b""
    if hashlib.sha256(body).hexdigest() != row.text_hash:
        raise RunDamaged(f"The text of the source {source!r} is not as it was kept.", remedy="Take a backup.")
    while len(db.texts) >= TEXTS_AT_HAND:
        db.texts.pop(next(iter(db.texts)))
    db.texts[source] = body.decode("utf-8", "surrogatepass")
    return db.texts[source]


def origin_group(db: Database, source: SourceId) -> str:
    if source not in db.groups:
        rows = SourceRecordRow
        db.groups[source] = str(db.run(select(rows.origin_group).where(rows.id == source)).scalar_one())
    return db.groups[source]


def source_column(db: Database, source: SourceId, name: Literal["metadata", "raw_extracted"]) -> Mapping[str, Any]:
    with db.reading():
        found = db.run(select(table(SourceRecordRow).c[name]).where(SourceRecordRow.id == source)).one_or_none()
    if found is None:
        raise unknown_source(source)
    kept: Mapping[str, Any] = found[0]
    return kept


def source_by_url(db: Database, url: str) -> SourceId | None:
    rows = SourceRecordRow
    with db.reading():
        return db.run(select(rows.id).where(rows.url == url).order_by(rows.seq.desc()).limit(1)).scalar()


def check_quote(db: Database, source: SourceId, snippet: Snippet) -> None:
    """Refuse words that the source does not have at that place; a source kept without its text is believed."""
    text = source_text(db, source)
    if not snippet.words:
        raise QuoteNotFound(f"A fact of the source {source!r} has no words that say it.")
    at_place = text[snippet.start : snippet.end] == snippet.words if snippet.start >= 0 else snippet.words in text
    if text and not at_place:
        raise QuoteNotFound(
            f"The source {source!r} does not say {snippet.words[:60]!r} at {snippet.start} to {snippet.end}."
        )


def unknown_source(source: SourceId) -> BadUsage:
    return BadUsage(f"The case has no source {source!r}.", remedy="Add the source first.")
