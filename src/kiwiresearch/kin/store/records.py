"""The people and the sources of a case, and the texts of sources that quotes are spans of."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import func, select, update

from kiwiresearch.errors import BadUsage, QuoteNotFound, RunDamaged
from kiwiresearch.kin.source_facts import Snippet
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import PERSON, PERSON_EXTERNAL, PERSON_NAME, SOURCE_RECORD
from kiwiresearch.kin.tree import LivingStatus, PersonId, Sex, Source, SourceId, row_id

IS_LIVING: Mapping[LivingStatus, bool | None] = {"living": True, "deceased": False, "unknown": None}


def living_from_flag(flag: bool | None) -> LivingStatus:  # noqa: FBT001
    return "unknown" if flag is None else "living" if flag else "deceased"


def add_person(db: CaseDatabase, person: PersonId, name: str, sex: Sex, external: Mapping[str, str]) -> bool:
    with db.writing():
        at = db.now()
        row = {
            "id": person,
            "case_id": db.case_id,
            "told_name": name,
            "told_sex": sex,
            "canonical_name": name,
            "name_variants": [],
            "sex": sex,
            "birth_place": "",
            "death_place": "",
            "living_basis": {},
            "external_ids": {},
            "confidence": 0.0,
            "created_at": at,
            "updated_at": at,
        }
        new = db.insert_new(PERSON, row)
        if new:
            audit.record(db, "add_person", person, living="unknown", after={"name": name, "sex": sex})
        for key, value in sorted(external.items()):
            db.insert_new(PERSON_EXTERNAL, {"key": key, "value": value, "person_id": person})
        db.changed_people.add(canonical_id(db, person))
        return new


def canonical_id(db: CaseDatabase, person: PersonId) -> PersonId:
    """The person at the end of the merges; one that the case has not is refused."""
    if person not in db.known_people:
        with db.reading(settled=False):
            if db.run(select(PERSON.c.id).where(PERSON.c.id == person)).first() is None:
                raise BadUsage(f"The case has no person {person!r}.", remedy="Add the person first.")
            db.known_people.add(person)
            return follow_merges(db, person)
    return follow_merges(db, person)


def follow_merges(db: CaseDatabase, person: PersonId) -> PersonId:
    """As `root_of`, for people who are in the case for sure."""
    if db.merged_into is None:
        with db.reading(settled=False):
            rows = db.run(select(PERSON.c.id, PERSON.c.merged_into_id).where(PERSON.c.merged_into_id.is_not(None)))
            db.merged_into = {row.id: row.merged_into_id for row in rows}
    while person in db.merged_into:
        person = db.merged_into[person]
    return person


def recorded_name(db: CaseDatabase, person: PersonId) -> str:
    with db.reading(settled=False):
        found: str | None = db.run(select(PERSON.c.told_name).where(PERSON.c.id == person)).scalar()
    if found is None:
        raise BadUsage(f"The case has no person {person!r}.", remedy="Add the person first.")
    return found


def find_person(db: CaseDatabase, key: str, value: str) -> PersonId | None:
    rows = PERSON_EXTERNAL
    with db.reading():
        chosen = select(rows.c.person_id).where(rows.c.key == key, rows.c.value == value).order_by(rows.c.person_id)
        found = db.run(chosen.limit(1)).scalar()
        return None if found is None else canonical_id(db, found)


def add_alias(db: CaseDatabase, person: PersonId, name: str, kind: str) -> bool:
    with db.writing():
        root = canonical_id(db, person)
        new = db.insert_new(PERSON_NAME, {"person_id": person, "value": name, "kind": kind})
        if new:
            db.changed_people.add(root)
            audit.record(db, "alias", person, living=living_of(db, root), after={"name": name, "kind": kind})
        return new


def set_living(db: CaseDatabase, person: PersonId, status: LivingStatus, basis: Mapping[str, Any]) -> None:
    with db.writing():
        root = canonical_id(db, person)
        before = living_of(db, root)
        values = {"is_living": IS_LIVING[status], "living_basis": dict(basis)}
        db.run(update(PERSON).where(PERSON.c.id == root).values(values))
        if before != status:
            audit.record(db, "set_living", root, living="deceased", before={"living": before}, after={"living": status})


def living_of(db: CaseDatabase, person: PersonId) -> LivingStatus:
    return living_from_flag(db.run(select(PERSON.c.is_living).where(PERSON.c.id == person)).scalar())


MAX_CACHED_TEXTS = 8
"""Facts of one page are asserted one after the other."""


def add_source(
    db: CaseDatabase, source: Source, text: str, raw_extracted: Mapping[str, Any], metadata: Mapping[str, Any]
) -> SourceId:
    body = text.encode("utf-8", "surrogatepass")
    text_hash = hashlib.sha256(body).hexdigest()
    content_hash = source.content_hash or f"sha256:{text_hash}"
    with db.writing():
        known = _find_source(db, source.url, content_hash)
        if known is not None:
            return known
        identity = source.id or row_id("source", source.url, content_hash)
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
            "seq": db.run(select(func.coalesce(func.max(SOURCE_RECORD.c.seq), 0) + 1)).scalar_one(),
        }
        if not db.insert_new(SOURCE_RECORD, row):
            raise BadUsage(
                f"The id {identity!r} is that of another source already.",
                remedy="Leave the id of the source empty, so that it is made of its URL and content.",
            )
        # Titles and addresses of pages name people, who may live.
        audit.record(db, "add_source", identity, living="deceased", after={"content_hash": content_hash})
        return identity


def _find_source(db: CaseDatabase, url: str, content_hash: str) -> SourceId | None:
    rows = SOURCE_RECORD
    return db.run(select(rows.c.id).where(rows.c.url == url, rows.c.content_hash == content_hash)).scalar()


def source_text(db: CaseDatabase, source: SourceId) -> str:
    if source in db.texts:
        return db.texts[source]
    with db.reading(settled=False):
        rows = SOURCE_RECORD
        row = db.run(select(rows.c.canonical_text, rows.c.text_hash).where(rows.c.id == source)).one_or_none()
    if row is None:
        raise unknown_source(source)
    try:
        body = zlib.decompress(row.canonical_text)
    except zlib.error:
        body = b""
    if hashlib.sha256(body).hexdigest() != row.text_hash:
        raise RunDamaged(f"The text of the source {source!r} is not as it was kept.", remedy="Take a backup.")
    while len(db.texts) >= MAX_CACHED_TEXTS:
        db.texts.pop(next(iter(db.texts)))
    db.texts[source] = body.decode("utf-8", "surrogatepass")
    return db.texts[source]


def origin_group(db: CaseDatabase, source: SourceId) -> str:
    if source not in db.origin_groups:
        rows = SOURCE_RECORD
        db.origin_groups[source] = str(db.run(select(rows.c.origin_group).where(rows.c.id == source)).scalar_one())
    return db.origin_groups[source]


def source_column(db: CaseDatabase, source: SourceId, name: Literal["metadata", "raw_extracted"]) -> Mapping[str, Any]:
    with db.reading():
        found = db.run(select(SOURCE_RECORD.c[name]).where(SOURCE_RECORD.c.id == source)).one_or_none()
    if found is None:
        raise unknown_source(source)
    kept: Mapping[str, Any] = found[0]
    return kept


def source_by_url(db: CaseDatabase, url: str) -> SourceId | None:
    rows = SOURCE_RECORD
    with db.reading():
        return db.run(select(rows.c.id).where(rows.c.url == url).order_by(rows.c.seq.desc()).limit(1)).scalar()


def check_quote(db: CaseDatabase, source: SourceId, snippet: Snippet) -> None:
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
