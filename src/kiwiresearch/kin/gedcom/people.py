"""People as GEDCOM writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.cited import SourcesOut, write_citations
from kiwiresearch.kin.gedcom.couples import Child
from kiwiresearch.kin.gedcom.events import ATTRIBUTES, EVENTS, MARRIED, OTHER_QUALIFIERS, EventFields
from kiwiresearch.kin.gedcom.families import QUALIFIER, STATUS
from kiwiresearch.kin.gedcom.happenings import Happening, happenings, kept, write_happening
from kiwiresearch.kin.gedcom.naming import LIVING, written_name
from kiwiresearch.kin.gedcom.written import Writing
from kiwiresearch.kin.tree import Evidence, Fact, Person, PersonId, Tree

WIKIDATA = "http://www.wikidata.org/entity/"
PEDIGREE = {"biological": "birth", "adoptive": "adopted", "foster": "foster"}
SEXES = {"male": "M", "female": "F", "": "U"}


@dataclass(slots=True)
class Place:
    """Where a person stands among the families."""

    child_in: list[tuple[str, Child]] = field(default_factory=list)
    partner_in: list[str] = field(default_factory=list)


def write_person(
    out: Writing,
    tree: Tree,
    number: PersonId,
    xref: str,
    place: Place,
    marriages: Sequence[Happening],
    sources: SourcesOut,
) -> None:
    person = tree.persons[number]
    # Whoever is called just 'Living' has been redacted: what is left of the facts would tell more.
    facts = () if person.name == LIVING else tree.facts_of(number)
    out.record(xref, "INDI")
    if person.living == "living":
        out.line(1, "RESN", "confidential" if out.version == "5.5.1" else "CONFIDENTIAL")
    _write_names(out, person, facts, sources)
    out.line(1, "SEX", SEXES[person.sex])
    for tag, fields in EVENTS.items():
        _write_events(out, person, tag, fields, facts, sources)
    for one in marriages if facts else ():
        write_happening(out, 1, "EVEN", one, sources, kind=MARRIED)
    for tag, name in ATTRIBUTES.items():
        for fact in kept(facts):
            if fact.field == name:
                out.line(1, tag, fact.value)
                write_citations(out, 2, sources, [("", fact.evidence)])
    _write_links(out, place)
    _write_numbers(out, person)


def _write_names(out: Writing, person: Person, facts: Sequence[Fact], sources: SourcesOut) -> None:
    told: dict[str, tuple[Evidence, ...]] = dict.fromkeys((person.name, *person.names), ())
    told |= {fact.value: fact.evidence for fact in kept(facts) if fact.field == "name"}
    for name, evidence in told.items():
        if name or len(told) == 1:
            out.line(1, "NAME", written_name(name, evidence) if name else "//")
            write_citations(out, 2, sources, [("", evidence)])


def _write_events(
    out: Writing, person: Person, tag: str, fields: EventFields, facts: Sequence[Fact], sources: SourcesOut
) -> None:
    found = happenings(facts, fields) or _projected(person, tag, fields)
    for one in found:
        write_happening(out, 1, tag, one, sources)
    if tag == "DEAT" and not found and person.is_dead:
        out.line(1, tag, "Y")


def _projected(person: Person, tag: str, fields: EventFields) -> list[Happening]:
    """What a person without facts is known by."""
    values = {"BIRT": (person.birth, person.birth_place), "DEAT": (person.death, person.death_place)}
    when, place = values.get(tag, (None, ""))
    date = Fact("", person.id, fields.date, when.edtf(), when) if when else None
    where = Fact("", person.id, fields.place, place) if place else None
    return [Happening(date, where)] if date or where else []


def _write_links(out: Writing, place: Place) -> None:
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
        # Version 5.5.1 has STAT as well, but Gramps takes it for an error.
        if child.is_challenged and is_old:
            out.line(2, "NOTE", STATUS + "challenged")
        if child.qualifier in OTHER_QUALIFIERS and is_old:
            out.line(2, "NOTE", QUALIFIER + child.qualifier)
    for family in place.partner_in:
        out.pointer(1, "FAMS", family)


def _write_numbers(out: Writing, person: Person) -> None:
    """The names of the person elsewhere."""
    for kind, value in sorted(person.external.items()):
        if kind == "wikidata" and out.version == "7.0":
            out.line(1, "EXID", value)
            out.line(2, "TYPE", WIKIDATA)
        else:
            out.line(1, "REFN", value)
            out.line(2, "TYPE", kind)
