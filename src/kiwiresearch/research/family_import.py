"""A family tree of another program, taken into a case: each fact with the lines of the file that say so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.kin.extracted import Extracted, Snippet
from kiwiresearch.kin.fields import FieldName, RelationKind
from kiwiresearch.kin.gedcom.read import ReadGedcom, read_gedcom
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import Evidence, Fact, PersonId, Relationship, SourceId, Tree
from kiwiresearch.research.family_people import person_called

FIELD_OF: Mapping[RelationKind, FieldName] = {
    "parent_of": "child",
    "spouse_of": "spouse",
    "partner_of": "partner",
    "sibling_of": "sibling",
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file brought, and what of it could not be read."""

    people: int
    new_people: int
    facts: int
    ties: int
    notes: tuple[str, ...]
    persons: tuple[PersonId, ...] = ()
    home: PersonId = ""
    """The person from whom the others are looked for, the nearest first."""


def import_gedcom(store: CaseStore, file: Path, person: str = "") -> Imported:
    """Take all of a GEDCOM file into the case, in one step: all of it or nothing.

    A case that began with nobody begins with `person`, else with the file's own home person.
    """
    read = read_gedcom(file)
    tree = read.tree
    home = person_called(person, tree) if person else read.home
    with store.step("import"):
        before = store.assertion_count()
        sources = {one.id: store.add_source(one) for one in tree.sources.values()}
        new = sum(_person(store, tree, person) for person in tree.persons)
        for fact in tree.facts:
            _fact(store, fact, sources)
        for tie in tree.relationships:
            _tie(store, tree, tie, sources)
        _keep_private(store, read)
        added = store.assertion_count() - before
        if home and (new or person):
            _begin_with(store, home, is_chosen=bool(person))
    return Imported(len(tree.persons), new, added, len(tree.relationships), read.notes, tuple(tree.persons), home)


def _begin_with(store: CaseStore, home: PersonId, *, is_chosen: bool) -> None:
    """The file's people are looked for when the case goes on; what a case was begun with by name stays its seed."""
    store.set_state("imported", list(dict.fromkeys((*(store.state("imported") or ()), home))))
    if not store.state("seeds") or (is_chosen and not store.settings.get("seeds")):
        store.set_state("seeds", [home])


def _person(store: CaseStore, tree: Tree, one: PersonId) -> bool:
    person = tree.persons[one]
    is_new = store.add_person(one, person.name or "?", person.sex, person.external)
    for name in person.names:
        if name.strip():
            store.alias(one, name)
    return is_new


def _fact(store: CaseStore, fact: Fact, sources: Mapping[SourceId, SourceId]) -> None:
    for evidence in _quoted(fact.evidence):
        store.assert_fact(
            fact.person,
            Extracted(
                fact.field,
                fact.value,
                _said(evidence),
                "gedcom",
                fact.confidence,
                fact.when,
                locator=evidence.locator,
                rationale=evidence.rationale,
            ),
            sources[evidence.source],
            status=fact.status,
            reliability=evidence.reliability,
            information=evidence.information,
            directness=evidence.directness,
        )


def _tie(store: CaseStore, tree: Tree, tie: Relationship, sources: Mapping[SourceId, SourceId]) -> None:
    if store.canonical(tie.first) == store.canonical(tie.second):
        return
    field, named = FIELD_OF[tie.kind], tree.persons[tie.second].name or "?"
    for evidence in _quoted(tie.evidence):
        store.assert_tie(
            tie.kind,
            tie.first,
            tie.second,
            Extracted(
                field,
                named,
                _said(evidence),
                "gedcom",
                tie.confidence,
                tie.start,
                tie.end,
                tie.qualifier,
                locator=evidence.locator,
                rationale=evidence.rationale,
            ),
            sources[evidence.source],
            status=tie.status,
            reliability=evidence.reliability,
            information=evidence.information,
            directness=evidence.directness,
        )


def _said(evidence: Evidence) -> Snippet:
    return Snippet(evidence.start, evidence.end, evidence.snippet)


def _quoted(evidence: Iterable[Evidence]) -> Iterable[Evidence]:
    return (one for one in evidence if one.snippet.strip() and one.directness != "negative")


def _keep_private(store: CaseStore, read: ReadGedcom) -> None:
    """Whom the file asks to keep to oneself is treated as living, whatever the dates say."""
    if read.restricted:
        known = dict(store.state("living_overrides") or {})
        store.set_state("living_overrides", known | dict.fromkeys(read.restricted, "living"))
