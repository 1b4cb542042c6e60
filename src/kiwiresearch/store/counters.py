"""Numbers that only grow, none of which is given out twice, and ids that nobody has."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, select

from kiwiresearch.store.database import Database
from kiwiresearch.store.tables import COUNTER, JOB, RUN


def next_number(db: Database, connection: Connection, name: str) -> int:
    """The next of a kind of number; whoever wants one meanwhile waits until the transaction ends."""
    first = db.insert(COUNTER).values(name=name, value=1)
    counted = first.on_conflict_do_update(index_elements=["name"], set_={"value": COUNTER.c.value + 1})
    return int(connection.execute(counted.returning(COUNTER.c.value)).scalar_one())


def raise_to(db: Database, connection: Connection, name: str, least: int) -> None:
    """Let the next number be larger than `least`."""
    first = db.insert(COUNTER).values(name=name, value=least)
    larger = {"value": first.excluded.value}
    connection.execute(first.on_conflict_do_update(index_elements=["name"], set_=larger, where=COUNTER.c.value < least))


def free_id(connection: Connection, name: str, is_taken: Callable[[str], bool]) -> str:
    """The first "name-N" that nobody has."""
    used: set[str] = set()
    for column in (JOB.c.id, RUN.c.id):
        used.update(connection.scalars(select(column).where(column.startswith(f"{name}-", autoescape=True))))
    number = 1
    while (found := f"{name}-{number}") in used or is_taken(found):
        number += 1
    return found
