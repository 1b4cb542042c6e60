"""What a policy hides of an atlas: whatever names a hidden page, by its title or by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kiwiresearch.atlas.families import STRANGER
from kiwiresearch.atlas.part import Part, Row
from kiwiresearch.errors import PageHidden
from kiwiresearch.zim.policy import Titles

PAGES = ("title", "path", "about", "first_path", "first_title")
"""What a row calls the pages that it names."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Stands between the answers of an atlas and whoever reads them."""

    titles: Titles
    whose: str
    """The policy, as readers hear of it."""

    def hides(self, told: Mapping[str, Any]) -> bool:
        """Whether a row, or anything in it, names a hidden page."""
        return bool(self.titles) and any(map(self.titles.has, _pages_in(told)))

    def part(self, found: Part) -> Part:
        """Without the rows that name hidden pages, which are counted."""
        rows = self._seen(found.rows)
        return replace(found, rows=tuple(rows), hidden=len(found.rows) - len(rows))

    def overview(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Without the hidden ones of the first pages, which are counted."""
        if "links" not in told:
            return dict(told)
        links = told["links"]
        first = self._seen(links["first"])
        return {**told, "links": links | {"first": first, "hidden": len(links["first"]) - len(first)}}

    def relatives(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Without the relatives who are hidden or whose ties a hidden page tells; PageHidden if the person is."""
        self._let(told["person"])
        relatives = self._seen(told["relatives"])
        return {**told, "relatives": relatives, "hidden": len(told["relatives"]) - len(relatives)}

    def relation(self, told: dict[str, Any]) -> dict[str, Any]:
        """As it is; PageHidden if one of the two, or somebody between them, is hidden."""
        self._let(told)
        return told

    def _seen(self, rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if not self.hides(row)]

    def _let(self, told: Mapping[str, Any]) -> None:
        if self.hides(told):
            raise PageHidden(
                f"A page that tells this is hidden by {self.whose}.",
                remedy="Who runs this desk can show it: its titles are below [policy] in the settings.",
            )


def _pages_in(row: Mapping[str, Any]) -> Iterator[str]:
    """The pages that a row names, by title and by path; who has no page is known by the page that names them."""
    for name, value in row.items():
        if name in PAGES and isinstance(value, str) and value:
            yield value
        if name == "id" and isinstance(value, str):
            yield value.rpartition(STRANGER)[0] or value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _pages_in(inner)
