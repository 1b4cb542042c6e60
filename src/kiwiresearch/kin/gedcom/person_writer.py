"""Writes the INDI records of a GEDCOM file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.arrangement import Child
from kiwiresearch.kin.gedcom.event_writer import (
    CitedSources,
    EventVersion,
    event_versions,
    included_facts,
    write_citations,
    write_event,
)
from kiwiresearch.kin.gedcom.family_reader import QUALIFIER_NOTE, STATUS_NOTE
from kiwiresearch.kin.gedcom.nodes import GedcomWriter
from kiwiresearch.kin.gedcom.tags import (
    ATTRIBUTES,
    EVENTS,
    MARRIED,
    OTHER_QUALIFIERS,
    UID,
    UNTYPED,
    EventFields,
    is_address,
    plain_name,
)
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.privacy import ShownTree
from kiwiresearch.kin.tree import Evidence, Fact, Person, PersonId

# The name with its slashes in '1 NAME Ann /Pell/', as an imported file had it.
NAME_LINE = re.compile(r"^[0-9] (?:NAME|ALIA) (.*/.*/.*?)\r?$", re.MULTILINE)


def slashed_name(name: str, evidence: Iterable[Evidence] = ()) -> str:
    """The name with its surname in slashes: as a GEDCOM file had it, or by the form of the name."""
    for item in evidence:
        for found in NAME_LINE.finditer(item.snippet):
            if plain_name(found[1]) == name:
                return " ".join(found[1].split())
    words = plain_name(name)
    surname = parse_name(words).surname
    before, found_surname, after = words.rpartition(surname) if surname else (words, "", "")
    alone = not before[-1:].isalnum() and not after[:1].isalnum()
    return f"{before}/{found_surname}/{after}" if found_surname and alone else words


WIKIDATA = "http://www.wikidata.org/entity/"
PEDIGREE = {"biological": "birth", "adoptive": "adopted", "foster": "foster"}
SEXES = {"male": "M", "female": "F", "": "U"}


@dataclass(slots=True)
class FamilyLinks:
    """The families in which a person is a child or a partner."""

    child_in: list[tuple[str, Child]] = field(default_factory=list)
    partner_in: list[str] = field(default_factory=list)


def write_person(
    out: GedcomWriter,
    tree: ShownTree,
    number: PersonId,
    xref: str,
    place: FamilyLinks,
    marriages: Sequence[EventVersion],
    sources: CitedSources,
) -> None:
    person = tree.persons[number]
    # Facts left on an anonymous person would reveal more than the redaction intended.
    facts = () if number in tree.anonymous else tree.facts_of(number)
    out.record(xref, "INDI")
    if person.living == "living":
        out.line(1, "RESN", "confidential" if out.version == "5.5.1" else "CONFIDENTIAL")
    if number in tree.anonymous:
        out.line(1, "NAME", f"{person.name} //")
    else:
        _write_names(out, person, facts, sources)
    out.line(1, "SEX", SEXES[person.sex])
    for tag, fields in EVENTS.items():
        _write_events(out, person, tag, fields, facts, sources)
    for event_version in marriages if facts else ():
        write_event(out, 1, "EVEN", event_version, sources, kind=MARRIED)
    for tag, name in ATTRIBUTES.items():
        for fact in included_facts(facts):
            if fact.field == name:
                out.line(1, tag, fact.value)
                write_citations(out, 2, sources, [("", fact.evidence)])
    _write_links(out, place)
    _write_numbers(out, person)


def _write_names(out: GedcomWriter, person: Person, facts: Sequence[Fact], sources: CitedSources) -> None:
    evidence_of: dict[str, tuple[Evidence, ...]] = dict.fromkeys((person.name, *person.names), ())
    evidence_of |= {fact.value: fact.evidence for fact in included_facts(facts) if fact.field == "name"}
    for name, evidence in evidence_of.items():
        if name or len(evidence_of) == 1:
            out.line(1, "NAME", slashed_name(name, evidence) if name else "//")
            write_citations(out, 2, sources, [("", evidence)])


def _write_events(
    out: GedcomWriter, person: Person, tag: str, fields: EventFields, facts: Sequence[Fact], sources: CitedSources
) -> None:
    found = event_versions(facts, fields) or _projected(person, tag, fields)
    for event_version in found:
        write_event(out, 1, tag, event_version, sources)
    if tag == "DEAT" and not found and person.is_dead:
        out.line(1, tag, "Y")


def _projected(person: Person, tag: str, fields: EventFields) -> list[EventVersion]:
    """An event made from the person, used in the absence of facts."""
    values = {"BIRT": (person.birth, person.birth_place), "DEAT": (person.death, person.death_place)}
    when, place = values.get(tag, (None, ""))
    date = Fact("", person.id, fields.date, when.edtf(), when) if when else None
    where = Fact("", person.id, fields.place, place) if place else None
    return [EventVersion(date, where)] if date or where else []


def _write_links(out: GedcomWriter, place: FamilyLinks) -> None:
    is_old = out.version == "5.5.1"
    for family, child in place.child_in:
        out.pointer(1, "FAMC", family)
        pedigree = PEDIGREE.get(child.qualifier, "")
        if pedigree:
            out.line(2, "PEDI", pedigree if is_old else pedigree.upper())
        elif child.qualifier in OTHER_QUALIFIERS and not is_old:
            out.line(2, "PEDI", "OTHER")
            out.line(3, "PHRASE", child.qualifier)
        if child.is_challenged and not is_old:
            out.line(2, "STAT", "CHALLENGED")
        # Version 5.5.1 has STAT as well, but Gramps reports it as an error.
        if child.is_challenged and is_old:
            out.line(2, "NOTE", STATUS_NOTE + "challenged")
        if child.qualifier in OTHER_QUALIFIERS and is_old:
            out.line(2, "NOTE", QUALIFIER_NOTE + child.qualifier)
    for family in place.partner_in:
        out.pointer(1, "FAMS", family)


def _write_numbers(out: GedcomWriter, person: Person) -> None:
    """The external ids of the person."""
    for kind, value in sorted(person.external.items()):
        if kind == "wikidata" and out.version == "7.0":
            out.line(1, "EXID", value)
            out.line(2, "TYPE", WIKIDATA)
        elif kind == UID:
            out.line(1, "UID" if out.version == "7.0" else "_UID", value)
        elif is_address(kind) and out.version == "7.0":
            out.line(1, "EXID", value)
            out.line(2, "TYPE", kind)
        else:
            out.line(1, "REFN", value)
            if kind != UNTYPED:
                out.line(2, "TYPE", kind)
