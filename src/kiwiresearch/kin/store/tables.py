"""What all tables of a case share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, LargeBinary, MetaData, Table, Text
from sqlalchemy.orm import DeclarativeBase

Json = dict[str, Any]
JsonList = list[Any]


class Rows(DeclarativeBase):
    """What the tables share: names of constraints that are the same on every engine."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: Text(), int: BigInteger(), Json: JSON(), JsonList: JSON(), bytes: LargeBinary()}  # noqa: RUF012


def table(row: type[Rows]) -> Table:
    """The table behind a class, for statements of our own."""
    found = row.__table__
    assert isinstance(found, Table)
    return found
