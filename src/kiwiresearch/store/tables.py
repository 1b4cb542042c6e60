"""The tables of the store."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, LargeBinary, Table

from kiwiresearch.store.columns import METADATA, Json, Words


def _key(name: str, kind: Any = Words) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _column(name: str, kind: Any = Words, **more: Any) -> Column[Any]:
    return Column(name, kind, nullable=False, **more)


STORE = Table("kiwi_store", METADATA, _key("name"), _column("value"))
"""What is true of the whole store: its version, and the secret that its hosts share."""
COUNTER = Table("kiwi_counter", METADATA, _key("name"), _column("value", BigInteger))
"""Numbers that only grow: turns in the line, starts, revisions of runs."""

JOB = Table(
    "kiwi_job",
    METADATA,
    _key("id"),
    _column("kind"),
    _column("wish", Json()),
    _column("user"),
    _column("priority", BigInteger),
    _column("state"),
    _column("turn", BigInteger),
    _column("attempt", BigInteger),
    _column("tries", BigInteger),
    _column("asked_at"),
    _column("started_at"),
    _column("ended_at"),
    _column("told", Json()),
    _column("worker"),
    _column("lease_until", Float(53)),
    _column("stop_wanted", Boolean),
    _column("losses", Json(many=True)),
    Index(None, "state", "user"),
    Index(None, "turn"),
)
SHARE = Table("kiwi_share", METADATA, _key("user"), _column("last_start", BigInteger))
"""For each user, the number of the last start of a job of theirs."""
EVENT = Table(
    "kiwi_event",
    METADATA,
    _key("job_id"),
    _key("attempt", BigInteger),
    _key("number", BigInteger),
    _column("row", Json()),
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
"""Pieces of files that only grow: where each begins, how long it is unpacked, and what it holds."""

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

HOST = Table(
    "kiwi_host",
    METADATA,
    _key("name"),
    _column("url"),
    _column("books", Json(many=True)),
    _column("seen_at", Float(53)),
)
USER = Table("kiwi_user", METADATA, _key("name"), _column("role"), _column("limits", Json()), _column("made_at"))
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
    _column("details", Json()),
    _column("prev_hash"),
    _column("hash"),
)
AUDIT_HEAD = Table("kiwi_audit_head", METADATA, _key("name"), _column("seq", BigInteger), _column("hash"))
"""Where the audit ends: kept apart, so that rows cut off are missed."""
CASE = Table(
    "kiwi_case",
    METADATA,
    _key("id"),
    _column("name", unique=True),
    _column("place"),
    _column("made_at"),
    _column("changed_at"),
)
