"""A table of ancestors: who is whose father and mother, by the labels of its cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.ancestry import Line, line_of
from kiwiresearch.kin.extract.lead import cut
from kiwiresearch.kin.extract.lives import behind_name
from kiwiresearch.kin.extract.spans import Span, name_at
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.page.doc import PageDoc, Table

IN_TABLE = 0.8


@dataclass(slots=True)
class _Ancestor:
    """An ancestor and those above; `fact` says that this is the father or mother of the one below."""

    line: Line
    fact: Extracted
    above: list[_Ancestor] = field(default_factory=list)

    def whole(self) -> Extracted:
        return replace(self.fact, told=(*self.fact.told, *(one.whole() for one in self.above)))


def ancestors(page: PageDoc, words: FamilyWords) -> Iterator[Extracted]:
    """The father and the mother of the page's person, each with the ancestors that the table names."""
    parents: dict[Line, _Ancestor] = {}
    for table in page.tables:
        for one in _named(page, table, words):
            if one.line in parents:
                continue
            below = parents.get(one.line[:-1])
            if len(one.line) == 1 or below is not None:
                parents[one.line] = one
            if below is not None:
                below.above.append(one)
    yield from (one.whole() for line, one in parents.items() if len(line) == 1)


def _named(page: PageDoc, table: Table, words: FamilyWords) -> Iterator[_Ancestor]:
    heading = page.sections[table.section].heading if table.section < len(page.sections) else ""
    for cell in (cell for row in table.rows for cell in row):
        found = line_of(page.text[cell.start : cell.end])
        if found is None:
            continue
        name = name_at(page.text, cell.start + found.end, cell.end, words)
        if name is None:
            continue
        target = next((link.target for link in page.links if link.in_text and name.start <= link.start < name.end), "")
        fact = Extracted(
            found.line[-1],
            page.text[name.start : name.end],
            cut(page, Span(cell.start, name.end)),
            "prose",
            IN_TABLE,
            target=target,
            locator=heading,
            rationale="a cell of the table of ancestors",
            told=behind_name(page, name, cell.end),
        )
        yield _Ancestor(found.line, fact)
