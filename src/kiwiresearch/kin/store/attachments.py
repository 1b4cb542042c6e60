"""Pictures of people, and scans of sources about them; the content is stored once, by its hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import func, select

from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.store.database import StorePart
from kiwiresearch.kin.store.people_and_sources import canonical_id, follow_merges
from kiwiresearch.kin.store.tables import ATTACHED, ATTACHMENT
from kiwiresearch.kin.tree import PersonId, SourceId, row_id

AttachmentRole = Literal["photo", "scan", "transcript"]
ATTACHMENT_ROLES: tuple[AttachmentRole, ...] = get_args(AttachmentRole)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that somebody attached to a person."""

    id: str
    person: PersonId
    role: AttachmentRole
    name: str
    caption: str
    media_type: str
    source: SourceId
    """The source that a scan or a transcript is of; empty for a picture."""
    added_at: str


class Attachments(StorePart):
    """The files that people attached to people of the case."""

    def add(
        self,
        person: PersonId,
        body: bytes,
        media_type: str,
        *,
        name: str,
        role: AttachmentRole,
        caption: str = "",
        source: SourceId = "",
    ) -> str:
        """Attach a file to a person, and return its id."""
        db = self._db
        with db.writing():
            root, content = canonical_id(db, person), hashlib.sha256(body).hexdigest()
            # Not part of the edit, which would then have it twice; undone, the content is just not attached.
            db.upsert(ATTACHMENT, {"id": content, "media_type": media_type, "body": body})
            row = {
                "id": row_id("attached", root, content, source),
                "person_id": root,
                "attachment_id": content,
                "role": role,
                "caption": caption,
                "source_record_id": source,
                "name": name,
                "added_at": db.now(),
            }
            if not db.insert_new(ATTACHED, row):
                raise BadUsage("This file is already attached to this person.")
            return str(row["id"])

    def remove(self, attached: str) -> None:
        """Detach a file from its person."""
        db = self._db
        with db.writing():
            row = db.run(select(ATTACHED).where(ATTACHED.c.id == attached)).one_or_none()
            if row is None:
                raise NothingFound(f"No file has the ID {attached!r}.", remedy="It may have been detached already.")
            db.remove(ATTACHED, row._asdict())

    def all(self) -> tuple[Attachment, ...]:
        """All files, by the people to whom they belong now, in the order in which they were attached."""
        db = self._db
        files = select(*ATTACHED.c, ATTACHMENT.c.media_type).join(ATTACHMENT)
        with db.reading():
            return tuple(
                Attachment(
                    row.id,
                    follow_merges(db, row.person_id),
                    row.role,
                    row.name,
                    row.caption,
                    row.media_type,
                    row.source_record_id,
                    row.added_at,
                )
                for row in db.rows(files.order_by(ATTACHED.c.added_at, ATTACHED.c.id))
            )

    def stored_bytes(self) -> int:
        """The size of all files, with those that are kept only because their edit may be redone."""
        with self._db.reading():
            return int(self._db.run(select(func.coalesce(func.sum(func.length(ATTACHMENT.c.body)), 0))).scalar_one())

    def content(self, attached: str) -> bytes:
        """The content of a file."""
        body = select(ATTACHMENT.c.body).join(ATTACHED).where(ATTACHED.c.id == attached)
        with self._db.reading():
            found = self._db.run(body).scalar()
        if found is None:
            raise NothingFound(f"No file has the ID {attached!r}.", remedy="It may have been detached already.")
        return bytes(found)
