"""What is told of each page and each link, in every format that holds a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, Literal, TypeVar

from kiwiresearch.research.export.reading import RunLink, RunPage

Kind = Literal["text", "whole", "real"]
Value = str | int | float | None
Thing = TypeVar("Thing", RunPage, RunLink)


@dataclass(frozen=True, slots=True)
class Field(Generic[Thing]):
    """A named value of a page or a link."""

    name: str
    kind: Kind
    of: Callable[[Thing], Value]

    def spelled(self, thing: Thing) -> str:
        """The value in letters; empty where there is none."""
        return spelled(self.of(thing))


def spelled(value: Value) -> str:
    """A number in the shortest way that gives it back, a text as it is."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _page(name: str, kind: Kind = "text", *, of: str = "") -> Field[RunPage]:
    return Field(name, kind, attrgetter(of or name))


def _link(name: str, kind: Kind = "text", *, of: str = "") -> Field[RunLink]:
    return Field(name, kind, attrgetter(of or name))


PAGE_LABEL = _page("label")

PAGE_FIELDS = (
    _page("state"),
    _page("order", "whole"),
    _page("depth", "whole"),
    _page("priority_score", "real"),
    _page("relevance", "real"),
    _page("cluster"),
    _page("reason"),
    _page("lines"),
    _page("book_title"),
    _page("book", of="book.id"),
    _page("path"),
    _page("url"),
    _page("page_id"),
)

LINK_WEIGHT = _link("weight", "real")

LINK_LABEL = _link("label", of="anchor_text")

LINK_FIELDS = (
    _link("count", "whole"),
    _link("context", "real"),
    _link("place"),
    _link("section"),
)
