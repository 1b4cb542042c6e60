"""What columns of the store hold, the same on every engine."""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import Dialect, MetaData, Text
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

UNKEPT = re.compile("[\0\ud800-\udfff]")


def is_kept(value: object) -> bool:
    """Whether it is a text as every engine keeps it; a file may hold anything where somebody else wrote into it."""
    return isinstance(value, str) and UNKEPT.search(value) is None


class Words(TypeDecorator[str]):
    """A text that every engine keeps as it is; one that some engine would not keep is refused by all."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        if UNKEPT.search(value):
            raise BadUsage(
                f"{value[:80]!r} holds a NUL character or half a character, which no store keeps.",
                remedy="Leave that character out.",
            )
        return str(value)


class Json(TypeDecorator[Any]):
    """A mapping, or a list of mappings, as canonical JSON: the same bytes on every engine.

    Anything else is damage, and read as None: who reads the row says what that means, and others are not concerned.
    """

    impl = Words
    cache_ok = True

    def __init__(self, *, many: bool = False) -> None:
        super().__init__()
        self.many = many

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        return canonical_json(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        try:
            found = json.loads(value) if is_kept(value) else None
            # What is written as an escape may be half a character, which could not be written again.
            is_whole = "\\u" not in str(value) or is_kept(canonical_json(found))
        except (ValueError, RecursionError):
            return None
        rows = found if self.many else [found]
        is_shaped = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
        return found if is_whole and is_shaped else None
