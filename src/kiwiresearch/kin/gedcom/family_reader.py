"""Reads the FAM records of a GEDCOM file: couples, parents and siblings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from kiwiresearch.kin.gedcom.facts_reader import (
    CitedEvidence,
    GedcomFile,
    PersonFacts,
    ReadEvent,
    citations_below,
    read_event,
)
from kiwiresearch.kin.gedcom.lines import GedcomLine
from kiwiresearch.kin.gedcom.tags import (
    MARRIAGE,
    MARRIAGE_NOT_STATED,
    NO_UNION,
    NOT_MARRIED,
    OTHER_QUALIFIERS,
    PARTNERS,
    PEDIGREES,
    SIBLING,
    UNION_ENDED,
)
from kiwiresearch.kin.tree import Evidence, PersonId, Qualifier, RelationKind, Relationship, Status, row_id
from kiwiresearch.text.dates import DateRange


@dataclass(slots=True)
class RelationshipBuilder:
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
        # With the date, since a couple may marry twice.
        number = row_id("relationship", kind, first, second, qualifier, start.edtf() if start else "")
        known = self.found.get(number)
        together = tuple(dict.fromkeys((*(known.evidence if known else ()), *evidence)))
        confidence = max((item.reliability for item in together), default=0.0)
        end = end or (known.end if known else None)
        self.found[number] = Relationship(
            number, kind, first, second, qualifier, start, end, status, confidence, together
        )


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A member of a family: the line that names the role, and the record of the person."""

    line: GedcomLine
    person: GedcomLine


@dataclass(frozen=True, slots=True)
class FamilyRecord:
    """A family record with its members, and the sources cited for all of it."""

    record: GedcomLine
    parents: tuple[FamilyMember, ...]
    children: tuple[FamilyMember, ...]
    cited: tuple[CitedEvidence, ...]

    def evidence(self, what: str) -> list[Evidence]:
        return [cited_evidence.evidence for cited_evidence in self.cited if cited_evidence.speaks_for(what)]


def partners_scope(one: str, other: str) -> str:
    """How a citation of a family shows that it is about the couple, by their xrefs."""
    return f"{one} and {other} as partners"


def parent_scope(parent: str, child: str) -> str:
    """How a citation of a family shows that it is about a parent and a child, by their xrefs."""
    return f"{parent} as parent of {child}"


def read_couple(
    ties: RelationshipBuilder,
    family: FamilyRecord,
    couple: tuple[FamilyMember, FamilyMember],
    facts: Mapping[PersonId, PersonFacts],
) -> None:
    file, record = ties.file, family.record
    first, second = (file.id_of("person", member.person.xref) for member in couple)
    marriages = read_marriages(file, family, (facts[first], facts[second]))
    if any(note.value == NO_UNION for note in record.all("NOTE")):
        return
    lived = [read_event(file, record, line) for line in _typed(record, PARTNERS)]
    parting = record.first("DIV", "ANUL")
    ending = parting or next(_typed(record, UNION_ENDED), None)
    kind = _kind(record, marriages, lived)
    began = next(iter((*marriages, *lived)), None)
    if lived and any(marriage.when or marriage.place for marriage in marriages):
        # They were partners before they married, or at another time.
        _add_union(ties, family, couple, "partner_of", lived[0])
        kind, began = "spouse_of", marriages[0]
    _add_union(ties, family, couple, kind, began, parting, ending)


def _add_union(
    ties: RelationshipBuilder,
    family: FamilyRecord,
    couple: tuple[FamilyMember, FamilyMember],
    kind: RelationKind,
    began: ReadEvent | None,
    parting: GedcomLine | None = None,
    ending: GedcomLine | None = None,
) -> None:
    file, record = ties.file, family.record
    first, second = (file.id_of("person", member.person.xref) for member in couple)
    named = family.evidence(partners_scope(couple[0].person.xref, couple[1].person.xref))
    evidence = [*(began.evidence("marriage") if began else ()), *named]
    if not evidence:
        evidence = [
            file.quote_lines(record, record, max((member.line for member in couple), key=lambda line: line.start))
        ]
    # So that the writer does not make a marriage of it.
    if not began and not parting:
        evidence = [replace(item, rationale=f"{MARRIAGE_NOT_STATED} {item.rationale}".strip()) for item in evidence]
    ties.add(
        kind,
        first,
        second,
        evidence,
        qualifier="divorced" if parting and parting.value.strip().upper() != "N" else "",
        start=began.when if began else None,
        end=read_event(file, record, ending).when if ending else None,
    )


def read_marriages(file: GedcomFile, family: FamilyRecord, facts: Iterable[PersonFacts]) -> list[ReadEvent]:
    """The marriages of a family, as facts of the spouses."""
    marriages = [read_event(file, family.record, line) for line in family.record.all("MARR")]
    for person_facts in facts:
        for at, marriage in enumerate(marriages):
            person_facts.add_event(MARRIAGE, marriage, preferred=at == 0)
    return marriages


def _typed(record: GedcomLine, kind: str) -> Iterator[GedcomLine]:
    return (line for line in record.all("EVEN") if line.get("TYPE").lower() == kind.lower())


def _kind(record: GedcomLine, marriages: list[ReadEvent], lived: list[ReadEvent]) -> RelationKind:
    """Whether a couple was married; assumed if the family record does not say."""
    kinds = [line.get("TYPE").lower() for line in record.all("MARR")] + [record.get("_STAT").lower()]
    denied = any(line.value.strip().upper() == "MARR" for line in record.all("NO"))
    is_unmarried = not any(event.when for event in marriages) and any(kind in NOT_MARRIED for kind in kinds)
    return "partner_of" if lived or denied or is_unmarried else "spouse_of"


QUALIFIER_NOTE, STATUS_NOTE = "Qualifier: ", "Status: "
"""Prefixes of notes with a kind of parent, or a doubt, that GEDCOM or its readers cannot express."""
STATUSES: dict[str, Status] = {"challenged": "disputed", "disproven": "rejected", "proven": "verified"}


def read_family(
    file: GedcomFile, record: GedcomLine, facts: Mapping[PersonId, PersonFacts], ties: RelationshipBuilder
) -> None:
    parents = tuple(_members(file, record.all("HUSB", "WIFE")))
    family = FamilyRecord(
        record, parents, tuple(_members(file, record.all("CHIL"))), tuple(citations_below(file, record, [record]))
    )
    for member, other in combinations(parents, 2):
        if member.person is other.person:
            file.notes.add(other.line.number, f"{other.person.xref!r} is listed as both partners of {record.xref!r}")
        else:
            read_couple(ties, family, (member, other), facts)
    if len(parents) == 1:
        read_marriages(file, family, [facts[file.id_of("person", parents[0].person.xref)]])
    for child in family.children:
        for parent in parents:
            _read_parent(ties, family, parent, child)


def _members(file: GedcomFile, lines: Iterable[GedcomLine]) -> Iterator[FamilyMember]:
    for line in lines:
        person = file.record(line, "INDI")
        if person:
            yield FamilyMember(line, person)


def _read_parent(ties: RelationshipBuilder, family: FamilyRecord, parent: FamilyMember, child: FamilyMember) -> None:
    file, record = ties.file, family.record
    if parent.person is child.person:
        xref = child.person.xref
        file.notes.add(child.line.number, f"{xref!r} is both child and parent in {record.xref!r}; skipped")
        return
    famc = next((link for link in child.person.all("FAMC") if link.points_to == record.xref), None)
    named = family.evidence(parent_scope(parent.person.xref, child.person.xref))
    ties.add(
        "parent_of",
        file.id_of("person", parent.person.xref),
        file.id_of("person", child.person.xref),
        named or [file.quote_lines(record, record, child.line)],
        qualifier=_own_qualifier(parent, child, record) or (_common_qualifier(famc) if famc else ""),
        status=_status(famc) if famc else "unverified",
    )


def _own_qualifier(parent: FamilyMember, child: FamilyMember, record: GedcomLine) -> Qualifier:
    """What is stated about one parent only: by lines that Family Tree Maker adds, or by an adoption."""
    role = parent.line.tag
    own = PEDIGREES.get(child.line.get("_FREL" if role == "HUSB" else "_MREL").lower())
    for adoption in child.person.all("ADOP"):
        into = next((link for link in adoption.all("FAMC") if link.points_to == record.xref), None)
        if into and into.get("ADOP").upper() in ("", "BOTH", role):
            return "adoptive"
    return own or ""


def _common_qualifier(famc: GedcomLine) -> Qualifier:
    """What the child's link to the family states about both parents."""
    pedigree = famc.first("PEDI")
    phrase = pedigree.get("PHRASE").lower() if pedigree else ""
    said = _notes_with(famc, QUALIFIER_NOTE)
    for other in OTHER_QUALIFIERS:
        if other == phrase or other in said:
            return other
    return PEDIGREES.get(pedigree.value.strip().lower(), "") if pedigree else ""


def _status(famc: GedcomLine) -> Status:
    said = [famc.get("STAT").lower(), *_notes_with(famc, STATUS_NOTE)]
    return next((STATUSES[item] for item in said if item in STATUSES), "unverified")


def _notes_with(famc: GedcomLine, lead: str) -> list[str]:
    return [note.value.removeprefix(lead) for note in famc.all("NOTE") if note.value.startswith(lead)]


def read_siblings(ties: RelationshipBuilder, record: GedcomLine) -> None:
    """Read siblings without known parents, who are written as associates."""
    file = ties.file
    for line in record.all("ASSO"):
        role = line.first("ROLE")
        kind = line.get("RELA") or (role.get("PHRASE") if role else "")
        other = file.record(line, "INDI") if line.points_to else None
        if kind.lower() != SIBLING.lower() or other is None or other is record:
            continue
        evidence = [cited_evidence.evidence for cited_evidence in citations_below(file, record, [line])] or [
            file.quote_lines(record, line)
        ]
        ties.add("sibling_of", file.id_of("person", record.xref), file.id_of("person", other.xref), evidence)
