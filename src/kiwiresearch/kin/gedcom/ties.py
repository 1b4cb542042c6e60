"""Relationships while a file is read: one told twice is one with more evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kiwiresearch.kin.fields import Qualifier, RelationKind, Status
from kiwiresearch.kin.gedcom.citations import Cited, GedcomFile
from kiwiresearch.kin.gedcom.lines import Line
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.tree import Evidence, PersonId, Relationship
from kiwiresearch.text.when import DateRange


@dataclass(slots=True)
class Ties:
    """The relationships of a file, by their ids."""

    file: GedcomFile
    found: dict[str, Relationship] = field(default_factory=dict)

    def add(
        self,
        kind: RelationKind,
        first: PersonId,
        second: PersonId,
        evidence: Iterable[Evidence],
        *,
        qualifier: Qualifier = "",
        start: DateRange | None = None,
        end: DateRange | None = None,
        status: Status = "unverified",
    ) -> None:
        if kind != "parent_of":
            first, second = sorted((first, second))
        number = id_of("relationship", kind, first, second, qualifier, start.edtf() if start else "")
        known = self.found.get(number)
        together = tuple(dict.fromkeys((*(known.evidence if known else ()), *evidence)))
        confidence = max((one.reliability for one in together), default=0.0)
        end = end or (known.end if known else None)
        self.found[number] = Relationship(
            number, kind, first, second, qualifier, start, end, status, confidence, together
        )


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of a family: the line that names the role, and the record of the person."""

    line: Line
    person: Line


@dataclass(frozen=True, slots=True)
class Family:
    """A family record with those it names, and the sources it gives for all of it."""

    record: Line
    parents: tuple[Member, ...]
    children: tuple[Member, ...]
    cited: tuple[Cited, ...]

    def evidence(self, what: str) -> list[Evidence]:
        return [one.evidence for one in self.cited if one.speaks_for(what)]


def partners_part(one: str, other: str) -> str:
    """How a citation of a family says that it is about the couple, by their xrefs."""
    return f"{one} and {other} as partners"


def parent_part(parent: str, child: str) -> str:
    """How a citation of a family says that it is about a parent and a child, by their xrefs."""
    return f"{parent} as parent of {child}"
