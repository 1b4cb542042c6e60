"""The tables of the store, with column types that are the same on every engine."""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Dialect, Float, Index, LargeBinary, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator

from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import canonical_json

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# PostgreSQL refuses NUL, and UTF-8 has no surrogates: 'a\0b' cannot be stored, 'añ😀' can.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(value: object) -> bool:
    """Whether it is a text that every engine can store; a file may contain anything if something else wrote to it."""
    return isinstance(value, str) and UNSTORABLE.search(value) is None


class PlainText(TypeDecorator[str]):
    """A text that every engine stores unchanged; one that some engine would refuse is refused by all."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        if UNSTORABLE.search(value):
            raise BadUsage(
                f"{value[:80]!r} contains a NUL or an incomplete character, which cannot be stored.",
                remedy="Remove that character.",
            )
        return str(value)


class JsonText(TypeDecorator[Any]):
    """A mapping, or a list of mappings, as canonical JSON: the same bytes on every engine.

    Anything else is damage and read as None, so that it only affects readers of that row.
    """

    impl = PlainText
    cache_ok = True

    def __init__(self, *, many: bool = False) -> None:
        super().__init__()
        self.many = many

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        return canonical_json(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        try:
            found = json.loads(value) if is_storable(value) else None
            # An escape may be a lone surrogate, which could not be written again.
            is_whole = "\\u" not in str(value) or is_storable(canonical_json(found))
        except (ValueError, RecursionError):
            return None
        rows = found if self.many else [found]
        is_shaped = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
        return found if is_whole and is_shaped else None


def _key(name: str, kind: Any = PlainText) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _column(name: str, kind: Any = PlainText, **more: Any) -> Column[Any]:
    return Column(name, kind, nullable=False, **more)


STORE = Table("kiwi_store", METADATA, _key("name"), _column("value"))
"""Properties of the store: its version, and the secret that its hosts share."""
COUNTER = Table("kiwi_counter", METADATA, _key("name"), _column("value", BigInteger))
"""Numbers that only grow: turns in the queue, starts, revisions of runs."""

JOB = Table(
    "kiwi_job",
    METADATA,
    _key("id"),
    _column("kind"),
    _column("request", JsonText()),
    _column("user"),
    _column("priority", BigInteger),
    _column("state"),
    _column("turn", BigInteger),
    _column("attempt", BigInteger),
    _column("tries", BigInteger, key="lost_starts"),
    _column("asked_at"),
    _column("started_at"),
    _column("ended_at"),
    _column("report", JsonText()),
    _column("worker"),
    _column("lease_until", Float(53)),
    _column("stop_wanted", Boolean),
    _column("losses", JsonText(many=True)),
    Index(None, "state", "user"),
    Index(None, "turn"),
)
"""The queue. `lost_starts`, in the database `tries`, are those since the last restart: after too many, a job fails."""
# Tables keep the names that older releases gave them in the database: `kiwi_share`, and `kiwi_set_aside` below.
LAST_START = Table("kiwi_share", METADATA, _key("user"), _column("last_start", BigInteger))
"""For each user, the number of the last start of one of their jobs."""
EVENT = Table(
    "kiwi_event",
    METADATA,
    _key("job_id"),
    _key("attempt", BigInteger),
    _key("number", BigInteger),
    _column("row", JsonText()),
)
PART = Table(
    "kiwi_part",
    METADATA,
    _key("job_id"),
    _key("name"),
    _key("start", BigInteger),
    _column("size", BigInteger),
    _column("sha256"),
    _column("packed", LargeBinary),
)
"""The growing files of unfinished jobs, such as journals, in the parts that were appended: start, size and content.

The files of a finished run are in `FILE` and `PIECE`.
"""

RUN = Table("kiwi_run", METADATA, _key("id"), _column("revision", BigInteger))
FILE = Table(
    "kiwi_file",
    METADATA,
    _key("run_id"),
    _key("revision", BigInteger),
    _key("name"),
    _column("size", BigInteger),
    _column("sha256"),
)
# The files of runs, in numbered pieces; those of a revision after the one in `RUN` are not all written yet.
PIECE = Table(
    "kiwi_piece",
    METADATA,
    _key("run_id"),
    _key("revision", BigInteger),
    _key("name"),
    _key("number", BigInteger),
    _column("packed", LargeBinary),
)
NOTE = Table(
    "kiwi_note",
    METADATA,
    _key("run_id"),
    _key("number", BigInteger),
    _column("line", LargeBinary),
)
REMOVED = Table(
    "kiwi_set_aside",
    METADATA,
    _key("kind"),
    _key("id"),
    _column("state"),
    _column("at"),
    _column("title"),
    _column("user"),
    _column("made"),
)
"""Runs and families that were archived or deleted; those that were deleted are hidden by all hosts."""
QUESTIONS = Table(
    "kiwi_questions",
    METADATA,
    _key("owner"),
    _column("questions", JsonText(many=True)),
    _column("deleted", JsonText(many=True)),
    _column("size", BigInteger),
    _column("changed_at", Float(53)),
)
"""The recent questions of a user or browser, and the list before the last deletion."""

HOST = Table(
    "kiwi_host",
    METADATA,
    _key("name"),
    _column("url"),
    _column("books", JsonText(many=True)),
    _column("seen_at", Float(53)),
)
USER = Table("kiwi_user", METADATA, _key("name"), _column("role"), _column("limits", JsonText()), _column("made_at"))
TOKEN = Table(
    "kiwi_token",
    METADATA,
    _key("id"),
    _column("user", index=True),
    _column("label"),
    _column("sha256", unique=True),
    _column("made_at"),
    _column("used_at"),
    _column("revoked_at"),
)
PASSWORD = Table(
    "kiwi_password", METADATA, _key("user"), _column("id", unique=True), _column("hash"), _column("made_at")
)
"""A password of a user; its id is new with each password, so that a new one ends the sessions of the old."""
LINK = Table(
    "kiwi_link",
    METADATA,
    _key("id"),
    _column("user", index=True),
    _column("sha256", unique=True),
    _column("made_at"),
    _column("expires_at"),
    _column("used_at"),
)
"""Links that sign a user in once; the id of a used one names the sessions that it began."""
AUDIT = Table(
    "kiwi_audit",
    METADATA,
    _key("seq", BigInteger),
    _column("at"),
    _column("user", index=True),
    _column("host"),
    _column("action"),
    _column("subject"),
    _column("outcome"),
    _column("details", JsonText()),
    _column("prev_hash"),
    _column("hash"),
)
AUDIT_HEAD = Table("kiwi_audit_head", METADATA, _key("name"), _column("seq", BigInteger), _column("hash"))
"""Where the audit ends, stored apart from it, so that missing last rows are noticed."""
CASE = Table(
    "kiwi_case",
    METADATA,
    _key("id"),
    _column("name", unique=True),
    _column("place"),
    _column("made_at"),
    _column("changed_at"),
)
