"""What addresses of the atlas ask for, and the part of a list that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kiwiresearch.atlas import contradictions as against
from kiwiresearch.atlas import timeline as times
from kiwiresearch.atlas.part import Part, Row
from kiwiresearch.atlas.ranks import By
from kiwiresearch.atlas.regions import Of
from kiwiresearch.claims.conflicts.saying import Kind
from kiwiresearch.web.desk.list_part import ListPart, address

SIZE = 25
Words = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=1, le=10_000_000)]


def _none_of_nothing(value: object) -> object:
    """An empty field of a form asks for nothing, and no year is 0."""
    return None if isinstance(value, str) and value.strip() in ("", "0") else value


Year = Annotated[
    Annotated[int, Field(ge=times.FURTHEST_BACK, le=times.LATEST)] | None, BeforeValidator(_none_of_nothing)
]


class _Asked(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    n: Number = 1

    def wish(self) -> dict[str, Any]:
        """All of it but the number of the part."""
        return self.model_dump(by_alias=True, exclude={"n"}, exclude_defaults=True)


class ContradictionQuery(_Asked):
    """Which contradictions."""

    kind: Kind | Literal[""] = ""
    of: against.What | Literal[""] = ""
    words: Words = ""

    def asked(self) -> against.Wish:
        return against.Wish(self.kind, self.of, self.words)


class TimeQuery(_Asked):
    """Which moments."""

    first: Annotated[Year, Field(alias="from")] = None
    last: Annotated[Year, Field(alias="to")] = None
    subject: Words = ""
    words: Words = ""

    def asked(self) -> times.Wish:
        return times.Wish(self.first, self.last, self.subject, self.words)


class RankQuery(_Asked):
    """Which pages, and in which order."""

    by: By = "authority"
    words: Words = ""


class EdgeQuery(_Asked):
    """Which kind of edge."""

    of: Of = "orphans"


class KinQuery(_Asked):
    """Whose relatives, or how two people are tied; nobody asks for the families."""

    person: Annotated[str, Field(max_length=500)] = ""
    other: Annotated[str, Field(max_length=500)] = ""


def last_of(part: Part) -> int:
    """The number of the last part of the list that some rows are from."""
    return max(-(-part.total // SIZE), 1)


def listed(part: Part, number: int, place: str, wish: Mapping[str, object]) -> ListPart[Row]:
    """Some rows with the addresses of those around them."""
    last = last_of(part)
    return ListPart(
        rows=part.rows,
        total=part.total,
        number=number,
        last=last,
        first_row=part.offset + 1 if part.rows else 0,
        before=address(place, {**wish, "n": number - 1}) if number > 1 else "",
        after=address(place, {**wish, "n": number + 1}) if number < last else "",
    )
