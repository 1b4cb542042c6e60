"""Which family cases there are, and where each is: a schema of the database, or a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import delete, select, update

from kiwiresearch.store.database import Database
from kiwiresearch.store.tables import CASE


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case. Its id names nobody; its name may be that of a living person."""

    id: str
    name: str
    place: str
    """The schema or the file that holds it."""
    made_at: str
    changed_at: str


class CaseRows:
    """The cases of a store; what is in each is elsewhere."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, row: CaseRow) -> bool:
        """Note a new case; False if one has its id or its name."""
        new = self._db.insert(CASE).values(asdict(row)).on_conflict_do_nothing().returning(CASE.c.id)
        with self._db.writing() as connection:
            return connection.execute(new).one_or_none() is not None

    def get(self, case_id: str) -> CaseRow | None:
        with self._db.reading() as connection:
            row = connection.execute(select(CASE).where(CASE.c.id == case_id)).one_or_none()
        return CaseRow(**row._mapping) if row is not None else None

    def all(self) -> list[CaseRow]:
        """All cases by their ids."""
        with self._db.reading() as connection:
            return [CaseRow(**row._mapping) for row in connection.execute(select(CASE).order_by(CASE.c.id))]

    def note_change(self, case_id: str, *, at: str) -> None:
        with self._db.writing() as connection:
            connection.execute(update(CASE).where(CASE.c.id == case_id).values(changed_at=at))

    def remove(self, case_id: str) -> None:
        """Forget that there was a case; whoever calls has removed what it held."""
        with self._db.writing() as connection:
            connection.execute(delete(CASE).where(CASE.c.id == case_id))
