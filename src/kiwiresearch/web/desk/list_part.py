"""A part of a long list, with the addresses of the parts around it: what is wished for stays in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar
from urllib.parse import urlencode

T = TypeVar("T")

SIZE = 50


@dataclass(frozen=True, slots=True)
class ListPart(Generic[T]):
    """Some rows of a list; a number behind the last part shows the last."""

    rows: tuple[T, ...]
    total: int
    number: int
    last: int
    first_row: int
    """The place of the first row in the whole list, from 1; 0 of a list without rows."""
    before: str = ""
    """Where the part before is; empty where there is none."""
    after: str = ""

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.rows) - 1 if self.rows else 0


def part_of(rows: Sequence[T], number: int, place: str, wish: Mapping[str, object], size: int = SIZE) -> ListPart[T]:
    """The part of this number, from 1; `wish` is what else the address says."""
    last = max(-(-len(rows) // size), 1)
    number = min(number, last)
    start = (number - 1) * size
    return ListPart(
        rows=tuple(rows[start : start + size]),
        total=len(rows),
        number=number,
        last=last,
        first_row=start + 1 if rows else 0,
        before=address(place, {**wish, "n": number - 1}) if number > 1 else "",
        after=address(place, {**wish, "n": number + 1}) if number < last else "",
    )


class Choosing(Protocol):
    """A query of a page that shows what the brief tells, or all that the pages say."""

    def model_copy(self, *, update: Mapping[str, Any]) -> Self: ...

    def wish(self) -> dict[str, Any]: ...


def both_choices(place: str, query: Choosing) -> list[tuple[str, str]]:
    """The address of each of the two, with all else as it is wished for."""
    return [(which, address(place, query.model_copy(update={"which": which}).wish())) for which in ("brief", "all")]


def address(place: str, wish: Mapping[str, object]) -> str:
    """An address that says what is wished for, and nothing of what is not; the first part needs no number."""
    said = {name: value for name, value in wish.items() if value not in ("", 0, None) and (name, value) != ("n", 1)}
    return f"{place}?{urlencode(said, errors='replace')}" if said else place
