"""A tree with ids that follow from what it holds, so that a file which is read and written again stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kiwiresearch.kin.gedcom.events import quality
from kiwiresearch.kin.tree import Evidence, Fact, Person, PersonId, Relationship, SourceId, Tree
from kiwiresearch.text.when import DateRange


def ordered(tree: Tree) -> Tree:
    """The same tree, people by name, facts by value, sources by title; what GEDCOM cannot say has no part in it."""
    people = sorted(tree.persons.values(), key=lambda one: (*_person_key(one), one.id))
    sources = sorted(tree.sources.values(), key=lambda one: (one.name, one.title, one.url, one.content_hash, one.id))
    persons = {one.id: f"P{at:08}" for at, one in enumerate(people)}
    named = {one.id: f"S{at:08}" for at, one in enumerate(sources)}
    facts = (_fact(fact, persons, named) for fact in tree.facts if fact.person in persons)
    ties = (_tie(tie, persons, named) for tie in tree.relationships)
    return Tree(
        {persons[one.id]: replace(one, id=persons[one.id]) for one in people},
        tuple(sorted(ties, key=lambda tie: tie.id)),
        tuple(sorted(facts, key=lambda fact: fact.id)),
        {named[one.id]: replace(one, id=named[one.id]) for one in sources},
    )


def _person_key(one: Person) -> tuple[str, str, str, str, str]:
    known = sorted(one.external.items())
    return one.name, _day(one.birth), _day(one.death), repr(known), one.sex


def _day(when: DateRange | None) -> str:
    return when.edtf() if when else ""


def _fact(fact: Fact, persons: Mapping[PersonId, PersonId], sources: Mapping[SourceId, SourceId]) -> Fact:
    person = persons[fact.person]
    evidence = _evidence(fact.evidence, sources)
    number = f"{person} {fact.field} {fact.value}"
    return replace(fact, id=number, person=person, confidence=_sure(evidence), evidence=evidence)


def _tie(tie: Relationship, persons: Mapping[PersonId, PersonId], sources: Mapping[SourceId, SourceId]) -> Relationship:
    first, second = persons.get(tie.first, tie.first), persons.get(tie.second, tie.second)
    evidence = _evidence(tie.evidence, sources)
    number = f"{tie.kind} {first} {second} {tie.qualifier} {_day(tie.start)} {_day(tie.end)} {tie.status}"
    return replace(tie, id=number, first=first, second=second, confidence=_sure(evidence), evidence=evidence)


def _evidence(evidence: tuple[Evidence, ...], sources: Mapping[SourceId, SourceId]) -> tuple[Evidence, ...]:
    renamed = (replace(one, id="", source=sources.get(one.source, one.source)) for one in evidence)
    return tuple(sorted(renamed, key=lambda one: (one.source, one.locator, one.snippet, one.rationale)))


def _sure(evidence: tuple[Evidence, ...]) -> float:
    """As sure as the file says it: by the steps of QUAY."""
    return max((float(quality(one.reliability)) for one in evidence), default=0.0)
