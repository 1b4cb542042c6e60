"""What every source of evidence offers: people found by a query, and records read by their locator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kiwiresearch.kin.extracted import ReadPerson
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.tree import Source
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold

SUFFIXES = frozenset({"jr", "sr", "junior", "senior", "esq", "i", "ii", "iii", "iv"})


@dataclass(frozen=True, slots=True)
class PersonQuery:
    """Whom to look for. Only somebody known to be dead is asked for outside the user's own books."""

    name: str
    given_name: str = ""
    surname: str = ""
    birth_year: int | None = None
    death_year: int | None = None
    place: str = ""
    living: Living = "unknown"
    language: str = "eng"

    def given(self) -> str:
        return self.given_name or self._parts()[0]

    def family(self) -> str:
        return self.surname or self._parts()[1]

    def _parts(self) -> tuple[str, str]:
        """'John Smith' and 'Smith, John' in two; a single name is a given one."""
        last, comma, first = self.name.partition(",")
        if comma and fold(first) not in SUFFIXES:
            return first.strip(), last.strip()
        words = [word for word in last.split() if fold(word) not in SUFFIXES]
        return (" ".join(words[:-1]), words[-1]) if len(words) > 1 else (" ".join(words), "")


@dataclass(frozen=True, slots=True)
class Fetched:
    """One version of one record: where it is from, its canonical text, and what was read in it.

    A page of a book comes as `page`, for the extractor; what a source tells in
    fields of its own comes as `read`, whose snippets are spans of `text`.
    """

    source: Source
    text: str
    read: ReadPerson | None = None
    page: PageDoc | None = None


class SourceOf(Protocol):
    """A source of evidence about people."""

    @property
    def id(self) -> str: ...

    @property
    def tier(self) -> int: ...

    def find(self, query: PersonQuery) -> Sequence[Fetched]:
        """Records that may be about the person, the likeliest first; none is no evidence of absence."""
        ...

    def fetch(self, locator: str) -> Fetched:
        """The record at a locator, as this source spells them: a path, an address, an identifier."""
        ...
