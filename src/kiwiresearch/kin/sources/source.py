"""The interface of a source: records found by a query, and records fetched by their locator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.source_facts import PersonReading
from kiwiresearch.kin.tree import LivingStatus, Source
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold


def quotable_line(about: str, property_name: str, value: str, rest: Mapping[str, object]) -> str:
    """A statement in one line: the value in plain words, since JSON would escape some, then the rest as JSON."""
    details = {key: item for key, item in rest.items() if item not in ("", None)}
    statement = f"{about}: {property_name}: {value}" if about else f"{property_name}: {value}"
    return f"{statement}; {canonical_json(details)}" if details else statement


MAX_PEOPLE = 5
"""How many results of a search are opened; on a site, each costs a request."""
SUFFIXES = frozenset({"jr", "sr", "junior", "senior", "esq", "i", "ii", "iii", "iv"})


@dataclass(frozen=True, slots=True)
class PersonQuery:
    """The person to search for; only the dead are searched for outside the user's own books."""

    name: str
    birth_year: int | None = None
    death_year: int | None = None
    living: LivingStatus = "unknown"

    def given_and_surname(self) -> tuple[str, str]:
        """Given name and surname of 'John Smith' or 'Smith, John'; a single name is a given name."""
        last, comma, first = self.name.partition(",")
        if comma and fold(first) not in SUFFIXES:
            return first.strip(), last.strip()
        words = [word for word in last.split() if fold(word) not in SUFFIXES]
        return (" ".join(words[:-1]), words[-1]) if len(words) > 1 else (" ".join(words), "")


@dataclass(frozen=True, slots=True)
class FetchedRecord:
    """One version of a record: its source, its text, and what was read in it.

    A page of a book comes as `page`, to be read by the extractor. A source with fields of
    its own gives `reading`, whose snippets are spans of `text`.
    """

    source: Source
    text: str
    reading: PersonReading | None = None
    page: PageDoc | None = None


class EvidenceSource(Protocol):
    """A source of evidence about people."""

    @property
    def id(self) -> str: ...

    @property
    def tier(self) -> int: ...

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        """Records that may be about the person, best first; finding none proves nothing."""
        ...

    def fetch(self, locator: str) -> FetchedRecord:
        """The record at a locator of this source: a path, an address or an id."""
        ...
