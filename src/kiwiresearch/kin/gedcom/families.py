"""The families of a GEDCOM file: whose child each was, and who was brother or sister."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from kiwiresearch.kin.fields import Qualifier, Status
from kiwiresearch.kin.gedcom.citations import GedcomFile, cited
from kiwiresearch.kin.gedcom.events import ENDED, OTHER_QUALIFIERS, PARTNERS, PEDIGREES, SIBLING
from kiwiresearch.kin.gedcom.facts import FactsOfPerson
from kiwiresearch.kin.gedcom.lines import Line
from kiwiresearch.kin.gedcom.ties import Family, Member, Ties, parent_part
from kiwiresearch.kin.gedcom.unions import read_couple, read_marriages
from kiwiresearch.kin.tree import PersonId

READ_TAGS = frozenset({"HUSB", "WIFE", "CHIL", "MARR", "DIV", "ANUL", "SOUR", "NO", "_STAT"})
NO_TIES = frozenset({"CHAN", "CREA", "RIN", "UID", "_UID", "SUBM", "REFN", "EXID", "RESN", "NCHI"})
QUALIFIER, STATUS = "Qualifier: ", "Status: "
"""How notes begin that name a kind of parent, or a doubt, that GEDCOM or its readers have no word for."""
STATUSES: dict[str, Status] = {"challenged": "disputed", "disproven": "rejected", "proven": "verified"}


def read_family(file: GedcomFile, record: Line, facts: Mapping[PersonId, FactsOfPerson], ties: Ties) -> None:
    parents = tuple(_members(file, record.all("HUSB", "WIFE")))
    family = Family(record, parents, tuple(_members(file, record.all("CHIL"))), tuple(cited(file, record, [record])))
    for one, other in combinations(parents, 2):
        if one.person is other.person:
            file.notes.add(other.line.number, f"{other.person.xref!r} is both partners of {record.xref!r}")
        else:
            read_couple(ties, family, (one, other), facts)
    if len(parents) == 1:
        read_marriages(file, family, [facts[file.id_of("person", parents[0].person.xref)]])
    for child in family.children:
        for parent in parents:
            _read_parent(ties, family, parent, child)
    for line in record.below:
        if not _is_read(line):
            file.notes.leave_out(line)


def _is_read(line: Line) -> bool:
    if line.tag == "EVEN":
        return line.get("TYPE") in (PARTNERS, ENDED)
    return line.tag in READ_TAGS or line.tag in NO_TIES


def _members(file: GedcomFile, lines: Iterable[Line]) -> Iterator[Member]:
    for line in lines:
        person = file.record(line, "INDI")
        if person:
            yield Member(line, person)


def _read_parent(ties: Ties, family: Family, parent: Member, child: Member) -> None:
    file, record = ties.file, family.record
    if parent.person is child.person:
        xref = child.person.xref
        file.notes.add(child.line.number, f"{xref!r} is child and parent in {record.xref!r}; that is left out")
        return
    famc = next((link for link in child.person.all("FAMC") if link.points_to == record.xref), None)
    named = family.evidence(parent_part(parent.person.xref, child.person.xref))
    ties.add(
        "parent_of",
        file.id_of("person", parent.person.xref),
        file.id_of("person", child.person.xref),
        named or [file.own_lines(record, record, child.line)],
        qualifier=_own_qualifier(parent, child, record) or (_common_qualifier(famc) if famc else ""),
        status=_status(famc) if famc else "unverified",
    )


def _own_qualifier(parent: Member, child: Member, record: Line) -> Qualifier:
    """What is said of one parent alone: by lines that Family Tree Maker adds, or by an adoption."""
    role = parent.line.tag
    own = PEDIGREES.get(child.line.get("_FREL" if role == "HUSB" else "_MREL").lower())
    for adoption in child.person.all("ADOP"):
        into = next((link for link in adoption.all("FAMC") if link.points_to == record.xref), None)
        if into and into.get("ADOP").upper() in ("", "BOTH", role):
            return "adoptive"
    return own or ""


def _common_qualifier(famc: Line) -> Qualifier:
    """What the child's link to the family says of both parents."""
    pedigree = famc.first("PEDI")
    phrase = pedigree.get("PHRASE").lower() if pedigree else ""
    said = _noted(famc, QUALIFIER)
    for other in OTHER_QUALIFIERS:
        if other == phrase or other in said:
            return other
    return PEDIGREES.get(pedigree.value.strip().lower(), "") if pedigree else ""


def _status(famc: Line) -> Status:
    said = [famc.get("STAT").lower(), *_noted(famc, STATUS)]
    return next((STATUSES[one] for one in said if one in STATUSES), "unverified")


def _noted(famc: Line, lead: str) -> list[str]:
    return [note.value.removeprefix(lead) for note in famc.all("NOTE") if note.value.startswith(lead)]


def read_siblings(ties: Ties, record: Line) -> None:
    """Brothers and sisters whose parents are not known stand as associates."""
    file = ties.file
    for line in record.all("ASSO"):
        role = line.first("ROLE")
        kind = line.get("RELA") or (role.get("PHRASE") if role else "")
        other = file.record(line, "INDI") if line.points_to else None
        if kind.lower() != SIBLING.lower() or other is None or other is record:
            file.notes.leave_out(line)
            continue
        evidence = [one.evidence for one in cited(file, record, [line])] or [file.own_lines(record, line)]
        ties.add("sibling_of", file.id_of("person", record.xref), file.id_of("person", other.xref), evidence)
