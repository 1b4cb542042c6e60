"""Reads the INDI records of a GEDCOM file."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.gedcom.facts_reader import GedcomFile, PersonFacts, citations_below, read_event
from kiwiresearch.kin.gedcom.lines import GedcomLine
from kiwiresearch.kin.gedcom.tags import (
    ATTRIBUTES,
    BIRTH,
    DEATH,
    DEATH_TAGS,
    MARRIAGE,
    MARRIED,
    NAME_FORMS,
    READ_EVENTS,
    UID,
    UNTYPED,
    is_address,
    is_for_owner,
    plain_name,
)
from kiwiresearch.kin.tree import Evidence, LivingStatus, Person, PersonId, Sex

SEXES: dict[str, Sex] = {"M": "male", "F": "female"}
EXTERNAL = {"http://www.wikidata.org/entity/": "wikidata", "https://www.wikidata.org/entity/": "wikidata"}
"""The owner of the identifiers in an EXID of GEDCOM 7, by its address."""
OTHER_IDS = {"FSID": "familysearch", "_FSFTID": "familysearch", "AFN": "ancestral_file"}


@dataclass(frozen=True, slots=True)
class ImportedPerson:
    """A person and the facts; `restricted` if the file marks them as confidential."""

    person: Person
    facts: PersonFacts
    restricted: bool


def read_person(file: GedcomFile, record: GedcomLine) -> ImportedPerson:
    number = file.id_of("person", record.xref)
    facts = PersonFacts(number)
    for line in record.children:
        _read_line(file, record, line, facts)
    restricted = is_for_owner(record.get("RESN"))
    return ImportedPerson(_person(file, record, number, facts, restricted=restricted), facts, restricted)


def _read_line(file: GedcomFile, record: GedcomLine, line: GedcomLine, facts: PersonFacts) -> None:
    if line.tag in ("NAME", "ALIA"):
        _read_name(file, record, line, facts)
    elif line.tag == "SEX":
        facts.add("sex", SEXES.get(line.value.strip().upper()[:1], ""), [file.quote_lines(record, line)])
    elif line.tag in READ_EVENTS:
        facts.add_event(READ_EVENTS[line.tag], read_event(file, record, line))
    elif line.tag in ATTRIBUTES:
        facts.add(ATTRIBUTES[line.tag], line.value.strip(), _evidence(file, record, line))
    elif line.tag == "EVEN" and line.get("TYPE").lower() == MARRIED.lower():
        facts.add_event(MARRIAGE, read_event(file, record, line))


def _evidence(file: GedcomFile, record: GedcomLine, line: GedcomLine) -> list[Evidence]:
    found = [evidence.evidence for evidence in citations_below(file, record, [line])]
    return found or [file.quote_lines(record, line)]


def _read_name(file: GedcomFile, record: GedcomLine, line: GedcomLine, facts: PersonFacts) -> None:
    """A name without its slashes, and the other forms below it."""
    if line.points_to:
        return
    evidence = _evidence(file, record, line)
    # Some programs leave the line itself empty, and give only its pieces.
    pieces = " ".join(part for part in (line.get("GIVN"), line.get("SURN")) if part)
    facts.add("name", plain_name(line.value) or plain_name(pieces), evidence)
    for form in line.all(*NAME_FORMS):
        facts.add("name", plain_name(form.value), evidence)


def _person(file: GedcomFile, record: GedcomLine, number: PersonId, facts: PersonFacts, *, restricted: bool) -> Person:
    names = [fact.value for fact in facts.all("name")]
    birth, death = facts.first(BIRTH.date), facts.first(DEATH.date)
    birth_place, death_place, sex = (facts.first(name) for name in (BIRTH.place, DEATH.place, "sex"))
    is_dead = any(_happened(line) for line in record.all(*DEATH_TAGS))
    # 'NO DEAT' of version 7 says that there was no death.
    alive = restricted or any(line.value.strip().upper() == "DEAT" for line in record.all("NO"))
    living: LivingStatus = "living" if alive else "deceased" if is_dead else "unknown"
    return Person(
        number,
        names[0] if names else "",
        tuple(names[1:]),
        "male" if sex and sex.value == "male" else "female" if sex else "",
        birth.when if birth else None,
        birth_place.value if birth_place else "",
        death.when if death else None,
        death_place.value if death_place else "",
        is_dead,
        living,
        max((fact.confidence for fact in facts.found.values()), default=0.0),
        _external(file, record),
    )


def _happened(line: GedcomLine) -> bool:
    """Whether an event has any content, even just that it happened."""
    return line.value.strip().upper().startswith("Y") or any(
        below.value.strip() or below.children for below in line.children
    )


def _external(file: GedcomFile, record: GedcomLine) -> dict[str, str]:
    found = {"gedcom": f"{file.name}#{record.xref}"}
    for line in record.all("REFN"):
        kind = line.get("TYPE")
        found[kind if is_address(kind) else kind.lower() or UNTYPED] = line.value.strip()
    for line in record.all("UID", "_UID"):
        found.setdefault(UID, line.value.strip())
    for line in record.all("EXID"):
        kind = line.get("TYPE")
        found[EXTERNAL.get(kind, kind or "exid")] = line.value.strip()
    for line in record.all(*OTHER_IDS):
        found.setdefault(OTHER_IDS[line.tag], line.value.strip())
    return {kind: found[kind] for kind in sorted(found) if found[kind]}
