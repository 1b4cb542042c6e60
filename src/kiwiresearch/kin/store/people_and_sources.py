"""The people and the sources of a case, and the texts of sources that quotes are spans of."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, select, update

from kiwiresearch.errors import BadUsage, QuoteNotFound, RunDamaged
from kiwiresearch.kin.source_facts import Snippet
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.tables import PERSON, PERSON_EXTERNAL, PERSON_NAME, SOURCE_RECORD
from kiwiresearch.kin.tree import LivingStatus, PersonId, Sex, Source, SourceId, row_id

# Statements are built once, since building one takes longer than running it.
PERSON_OF_EXTERNAL = (
    select(PERSON_EXTERNAL.c.person_id)
    .where(PERSON_EXTERNAL.c.key == bindparam("key"), PERSON_EXTERNAL.c.value == bindparam("value"))
    .order_by(PERSON_EXTERNAL.c.person_id)
    .limit(1)
)
PERSON_ID = select(PERSON.c.id).where(PERSON.c.id == bindparam("person"))
MERGED_PEOPLE = select(PERSON.c.id, PERSON.c.merged_into_id).where(PERSON.c.merged_into_id.is_not(None))
LIVING = select(PERSON.c.is_living).where(PERSON.c.id == bindparam("person"))
IS_LIVING: Mapping[LivingStatus, bool | None] = {"living": True, "deceased": False, "unknown": None}


def living_from_flag(flag: bool | None) -> LivingStatus:  # noqa: FBT001
    return "unknown" if flag is None else "living" if flag else "deceased"


def canonical_id(db: CaseDatabase, person: PersonId) -> PersonId:
    """The person this one was finally merged into; raises for an unknown person."""
    if person not in db.known_people:
        with db.reading(run_hooks_first=False):
            if db.run(PERSON_ID, {"person": person}).first() is None:
                raise BadUsage(f"The case has no person {person!r}.", remedy="Add the person first.")
            db.known_people.add(person)
            return follow_merges(db, person)
    return follow_merges(db, person)


def follow_merges(db: CaseDatabase, person: PersonId) -> PersonId:
    """Like `canonical_id`, for people who are known to be in the case."""
    if db.merged_into is None:
        with db.reading(run_hooks_first=False):
            db.merged_into = {row.id: row.merged_into_id for row in db.run(MERGED_PEOPLE)}
    while person in db.merged_into:
        person = db.merged_into[person]
    return person


def living_of(db: CaseDatabase, person: PersonId) -> LivingStatus:
    return living_from_flag(db.run(LIVING, {"person": person}).scalar())


def may_be_living(db: CaseDatabase, *people: PersonId) -> bool:
    """Whether any of these people is not known to be dead."""
    return any(living_of(db, person) != "deceased" for person in people)


MAX_CACHED_TEXTS = 8
"""Few are enough, since the facts of a page are stored one after the other."""


def source_text(db: CaseDatabase, source: SourceId) -> str:
    if source in db.texts:
        return db.texts[source]
    with db.reading(run_hooks_first=False):
        rows = SOURCE_RECORD
        row = db.run(select(rows.c.canonical_text, rows.c.text_hash).where(rows.c.id == source)).one_or_none()
    if row is None:
        raise BadUsage(f"The case has no source {source!r}.", remedy="Add the source first.")
    try:
        body = zlib.decompress(row.canonical_text)
    except zlib.error:
        body = b""
    if hashlib.sha256(body).hexdigest() != row.text_hash:
        raise RunDamaged(
            f"The saved text of the source {source!r} was changed.", remedy="Restore the case from a backup."
        )
    while len(db.texts) >= MAX_CACHED_TEXTS:
        db.texts.pop(next(iter(db.texts)))
    db.texts[source] = body.decode("utf-8", "surrogatepass")
    return db.texts[source]


def origin_group(db: CaseDatabase, source: SourceId) -> str:
    if source not in db.origin_groups:
        rows = SOURCE_RECORD
        db.origin_groups[source] = str(db.run(select(rows.c.origin_group).where(rows.c.id == source)).scalar_one())
    return db.origin_groups[source]


def check_quote(db: CaseDatabase, source: SourceId, snippet: Snippet) -> None:
    """Raise if the source does not have these words at that position; a source stored without text is trusted."""
    text = source_text(db, source)
    if not snippet.words:
        raise QuoteNotFound(f"A fact from the source {source!r} has no quote.")
    # A quote that a family file takes from its own source has no position: its start is -1.
    at_place = text[snippet.start : snippet.end] == snippet.words if snippet.start >= 0 else snippet.words in text
    if text and not at_place:
        raise QuoteNotFound(
            f"The source {source!r} does not say {snippet.words[:60]!r} at characters {snippet.start} to {snippet.end}."
        )


@dataclass(frozen=True, slots=True)
class SourceDetails:
    """What was read from a source besides its facts, and what was noted about reading it."""

    extracted: Mapping[str, Any]
    notes: Mapping[str, Any]


class PeopleAndSources(StorePart):
    """The people and sources of a case."""

    def canonical(self, person: PersonId) -> PersonId:
        """The person this one was finally merged into; the person itself if it was not."""
        return canonical_id(self._db, person)

    def canonical_or_same(self, person: PersonId) -> PersonId:
        """Like `canonical`, also for somebody who is not in the case any more."""
        with self._db.reading(run_hooks_first=False):
            return follow_merges(self._db, person)

    def source_text(self, source: SourceId) -> str:
        """The text that quotes of this source are spans of."""
        return source_text(self._db, source)

    def add_source(
        self,
        source: Source,
        text: str = "",
        raw_extracted: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> SourceId:
        """Store one version of a source with its text; the same URL and content hash are the same source.

        An empty id or content hash is filled in.
        """
        body = text.encode("utf-8", "surrogatepass")
        text_hash = hashlib.sha256(body).hexdigest()
        content_hash = source.content_hash or f"sha256:{text_hash}"
        with self._db.writing():
            same = (SOURCE_RECORD.c.url == source.url, SOURCE_RECORD.c.content_hash == content_hash)
            known: SourceId | None = self._db.run(select(SOURCE_RECORD.c.id).where(*same)).scalar()
            if known is not None:
                return known
            source_id = source.id or row_id("source", source.url, content_hash)
            row = {
                "id": source_id,
                "url": source.url,
                "source_name": source.name,
                "title": source.title,
                "source_tier": source.tier,
                "accessed_at": source.accessed_at or self._db.now(),
                "content_hash": content_hash,
                "origin_group": source.origin_group,
                "form": source.form,
                "official": source.official,
                "user_contributed": source.user_contributed,
                "canonical_text": zlib.compress(body),
                "text_hash": text_hash,
                "raw_extracted": dict(raw_extracted or {}),
                "metadata": dict(metadata or {}),
                "seq": self._db.run(select(func.coalesce(func.max(SOURCE_RECORD.c.seq), 0) + 1)).scalar_one(),
            }
            if not self._db.insert_new(SOURCE_RECORD, row):
                raise BadUsage(
                    f"The ID {source_id!r} already belongs to another source.",
                    remedy="Leave the ID of the source empty. It is created from its URL and content.",
                )
            # Titles and addresses of pages name people who may be living, so only the hash is logged.
            audit.record(self._db, "add_source", source_id, is_redacted=False, after={"content_hash": content_hash})
            return source_id

    def source_details(self, source: SourceId) -> SourceDetails:
        """What was read from a source besides its facts, and what was noted about reading it."""
        rows = SOURCE_RECORD
        with self._db.reading():
            row = self._db.run(
                select(rows.c.raw_extracted, rows.c["metadata"].label("details")).where(rows.c.id == source)
            ).one()
        return SourceDetails(row.raw_extracted, row.details)

    def external_ids(self) -> tuple[tuple[str, str, PersonId], ...]:
        """The key, the value and the person of every external id; merges are followed."""
        rows = PERSON_EXTERNAL
        with self._db.reading():
            found = self._db.run(select(rows.c.key, rows.c.value, rows.c.person_id).order_by(*rows.primary_key)).all()
            return tuple((row.key, row.value, follow_merges(self._db, row.person_id)) for row in found)

    def source_by_url(self, url: str) -> SourceId | None:
        """The latest version of the source at that address."""
        rows = SOURCE_RECORD
        latest = select(rows.c.id).where(rows.c.url == url).order_by(rows.c.seq.desc()).limit(1)
        with self._db.reading():
            return self._db.run(latest).scalar()

    def add_person(self, person: PersonId, name: str, sex: Sex = "", external: Mapping[str, str] | None = None) -> bool:
        """Add a person; False if the case already has them, and then only new external ids are added."""
        with self._db.writing():
            at = self._db.now()
            row = {
                "id": person,
                "case_id": self._db.case_id,
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
            new = self._db.insert_new(PERSON, row)
            if new:
                audit.record(self._db, "add_person", person, is_redacted=True, after={"name": name, "sex": sex})
            for key, value in sorted((external or {}).items()):
                self._db.insert_new(PERSON_EXTERNAL, {"key": key, "value": value, "person_id": person})
            self._db.changed_people.add(canonical_id(self._db, person))
            return new

    def person_by_external_id(self, key: str, value: str) -> PersonId | None:
        """The person with that external id, such as that of a 'record'; merges are followed."""
        with self._db.reading(run_hooks_first=False):
            found = self._db.run(PERSON_OF_EXTERNAL, {"key": key, "value": value}).scalar()
            return None if found is None else canonical_id(self._db, found)

    def add_name_form(self, person: PersonId, name: str, kind: str = "variant") -> bool:
        """Add another form of a name; False if it is known."""
        with self._db.writing():
            root = canonical_id(self._db, person)
            new = self._db.insert_new(PERSON_NAME, {"person_id": person, "value": name, "kind": kind})
            if new:
                self._db.changed_people.add(root)
                after = {"name": name, "kind": kind}
                audit.record(self._db, "alias", person, is_redacted=may_be_living(self._db, root), after=after)
            return new

    def remove_name_form(self, person: PersonId, name: str) -> bool:
        """Remove another form of a name; False if the person has none like it."""
        with self._db.writing():
            root = canonical_id(self._db, person)
            # The name may have been stored for somebody who was merged into this person.
            members = [row.id for row in self._db.rows(select(PERSON.c.id)) if follow_merges(self._db, row.id) == root]
            mine = (PERSON_NAME.c.person_id.in_(members), PERSON_NAME.c.value == name)
            rows = self._db.rows(select(PERSON_NAME).where(*mine))
            for row in rows:
                self._db.remove(PERSON_NAME, row._asdict())
            self._db.changed_people.add(root)
            return bool(rows)

    def set_living(self, person: PersonId, status: LivingStatus, basis: Mapping[str, Any] | None = None) -> None:
        """Record whether a person counts as living, and why."""
        with self._db.writing():
            root = canonical_id(self._db, person)
            before = living_of(self._db, root)
            values = {"is_living": IS_LIVING[status], "living_basis": dict(basis or {})}
            known = self._db.run(select(PERSON.c.is_living, PERSON.c.living_basis).where(PERSON.c.id == root)).one()
            self._db.note_changes(
                ["set", "person", root, name, getattr(known, name), value]
                for name, value in values.items()
                if getattr(known, name) != value
            )
            self._db.run(update(PERSON).where(PERSON.c.id == root).values(values))
            if before != status:
                states = {"before": {"living": before}, "after": {"living": status}}
                audit.record(self._db, "set_living", root, is_redacted=False, **states)

    def recorded_name(self, person: PersonId) -> str:
        """The name in the record of this person, even if they were merged since."""
        with self._db.reading(run_hooks_first=False):
            found: str | None = self._db.run(select(PERSON.c.told_name).where(PERSON.c.id == person)).scalar()
        if found is None:
            raise BadUsage(f"The case has no person {person!r}.", remedy="Add the person first.")
        return found
