"""The recent questions of users and browsers, on servers whose hosts share a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Text, delete, select, type_coerce, update

from kiwiresearch.store.database import Database
from kiwiresearch.store.tables import QUESTIONS

EMPTY_LIST = "[]"
"""What an empty list is in the database."""


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """The questions of a user or browser, the newest first, and the list before the last deletion."""

    questions: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    """All questions as they were before the last deletion; empty if it cannot be undone."""


class QuestionRows:
    """A list of questions for each user or browser; `owner` is a key that names neither."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, owner: str) -> AskedQuestions:
        with self._db.reading() as connection:
            return _asked(connection.execute(select(QUESTIONS).where(QUESTIONS.c.owner == owner)).one_or_none())

    def change(self, owner: str, edit: Callable[[AskedQuestions], AskedQuestions], *, max_lists: int) -> None:
        """Change a list while no other host does; the lists used longest ago are deleted beyond `max_lists`."""
        with self._db.writing(f"questions {owner}") as connection:
            row = connection.execute(select(QUESTIONS).where(QUESTIONS.c.owner == owner)).one_or_none()
            before = _asked(row)
            after = edit(before)
            if after == before:
                return
            values = {
                "owner": owner,
                "questions": [{"question": question} for question in after.questions],
                "deleted": [{"question": item} for item in after.deleted],
                "size": len(after.questions),
                "changed_at": self._db.now(connection),
            }
            connection.execute(self._db.upsert(QUESTIONS, values))
            if row is None:
                # As with files: a program without cookies leaves a list of one question for each request.
                used = select(QUESTIONS.c.owner).where(QUESTIONS.c.owner != owner)
                used = used.order_by((QUESTIONS.c.size > 1).desc(), QUESTIONS.c.changed_at.desc())
                too_many = used.offset(max_lists - 1)
                old = connection.scalars(too_many.limit(max_lists)).all()
                connection.execute(delete(QUESTIONS).where(QUESTIONS.c.owner.in_(old)))

    def empty_trash(self, *, older_than_s: float) -> None:
        """Delete for good what was deleted this long ago, for all users and browsers."""
        with self._db.writing() as connection:
            until = self._db.now(connection) - older_than_s
            is_old = QUESTIONS.c.changed_at <= until
            # As text: with the column's own type, the value to compare with would be written as JSON once more.
            has_deleted = type_coerce(QUESTIONS.c.deleted, Text) != EMPTY_LIST
            connection.execute(update(QUESTIONS).where(is_old, has_deleted).values(deleted=[]))


def _asked(row: Row[Any] | None) -> AskedQuestions:
    """The questions of a row; a damaged column is an empty list."""
    if row is None:
        return AskedQuestions()
    return AskedQuestions(_texts(row.questions), _texts(row.deleted))


def _texts(rows: list[dict[str, Any]] | None) -> tuple[str, ...]:
    return tuple(str(row.get("question", "")) for row in rows or ())
