"""A tree arranged for GEDCOM: in a stable order, with families built from relationships."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.gedcom.tags import quality_mark
from kiwiresearch.kin.privacy import ShownTree
from kiwiresearch.kin.tree import (
    BY_BLOOD,
    DISCARDED,
    UNSETTLED,
    Evidence,
    Fact,
    Person,
    PersonId,
    Qualifier,
    Relationship,
    SourceId,
    Tree,
)
from kiwiresearch.text.dates import ENDLESS, DateRange

NATURAL = BY_BLOOD - {"illegitimate"}
"""GEDCOM cannot mark a child as illegitimate."""


@dataclass(frozen=True, slots=True)
class Child:
    """A child in a family, and the ties to its parents there."""

    person: PersonId
    ties: tuple[Relationship, ...]

    @property
    def qualifier(self) -> Qualifier:
        """The qualifier that all ties to the parents share; empty if they differ."""
        kinds = {tie.qualifier for tie in self.ties}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def is_challenged(self) -> bool:
        return any(tie.status in UNSETTLED for tie in self.ties)


@dataclass(slots=True)
class Couple:
    """One or two parents, the tie between them if one is known, and their children."""

    husband: PersonId
    wife: PersonId
    union: Relationship | None = None
    children: list[Child] = field(default_factory=list)

    @property
    def members(self) -> tuple[PersonId, ...]:
        return tuple(item for item in (self.husband, self.wife) if item)


def build_couples(tree: Tree) -> list[Couple]:
    """All families of a tree, in an order that depends only on the tree."""
    ties = [tie for tie in tree.relationships if is_written(tie, tree)]
    found: dict[tuple[PersonId, ...], list[Couple]] = defaultdict(list)
    for tie in sorted(ties, key=_start):
        if tie.kind in ("spouse_of", "partner_of"):
            couple = _couple(tree, (tie.first, tie.second))
            couple.union = tie
            found[_key(couple.members)].append(couple)
    parents: dict[PersonId, list[Relationship]] = defaultdict(list)
    for tie in ties:
        if tie.kind == "parent_of":
            parents[tie.second].append(tie)
    for child in sorted(parents, key=lambda parent: _by_birth(tree, parent)):
        for group in _groups(tree, parents[child], found):
            members = tuple(tie.first for tie in group)
            known = found[_key(members)]
            if not known:
                known.append(_couple(tree, members))
            known[0].children.append(Child(child, group))
    every = [couple for couples in found.values() for couple in couples]
    return sorted(every, key=lambda couple: (_key(couple.members), _start(couple.union)))


def is_written(tie: Relationship, tree: Tree) -> bool:
    """Whether a tie is exported: it counts, and is between two different people of the tree."""
    is_known = tie.first in tree.persons and tie.second in tree.persons
    return is_known and tie.first != tie.second and tie.status not in DISCARDED


def _key(members: Iterable[PersonId]) -> tuple[PersonId, ...]:
    return tuple(sorted(members))


def _start(tie: Relationship | None) -> tuple[int, str]:
    return (tie.start.earliest if tie and tie.start else ENDLESS, tie.id if tie else "")


def _by_birth(tree: Tree, person: PersonId) -> tuple[int, str]:
    birth = tree.persons[person].birth
    return (birth.earliest if birth else ENDLESS, person)


def _couple(tree: Tree, members: tuple[PersonId, ...]) -> Couple:
    """Husband and wife of one or two people, by sex if known."""
    order = {"male": 0, "": 1, "female": 2}
    first, *second = sorted(members, key=lambda member: (order[tree.persons[member].sex], member))
    if second:
        return Couple(first, second[0])
    return Couple("", first) if tree.persons[first].sex == "female" else Couple(first, "")


def _groups(
    tree: Tree, ties: list[Relationship], couples: Mapping[tuple[PersonId, ...], list[Couple]]
) -> list[tuple[Relationship, ...]]:
    """The parents of one child in pairs: those of the same kind who were a couple, or are father and mother."""
    left = sorted(ties, key=lambda tie: (-tie.confidence, tie.id))
    groups: list[tuple[Relationship, ...]] = []
    while left:
        parent = left.pop(0)
        others = [other for other in left if _are_partners(tree, parent, other, couples)]
        others.sort(key=lambda other: not couples.get(_key((parent.first, other.first))))
        if others:
            left.remove(others[0])
        groups.append((parent, *others[:1]))
    return groups


def _are_partners(
    tree: Tree, one: Relationship, other: Relationship, couples: Mapping[tuple[PersonId, ...], list[Couple]]
) -> bool:
    if one.first == other.first:
        return False
    natural = one.qualifier in NATURAL and other.qualifier in NATURAL
    if not natural and one.qualifier != other.qualifier:
        return False
    sexes = {tree.persons[tie.first].sex for tie in (one, other)}
    return bool(couples.get(_key((one.first, other.first)))) or (natural and sexes == {"male", "female"})


def with_stable_ids(tree: ShownTree) -> ShownTree:
    """The same tree, sorted: people by name, facts by value, sources by title; without what GEDCOM cannot express."""
    people = sorted(tree.persons.values(), key=lambda person: (*_person_key(person), person.id))
    sources = sorted(
        tree.sources.values(),
        key=lambda source: (source.name, source.title, source.url, source.content_hash, source.id),
    )
    persons = {person.id: f"P{at:08}" for at, person in enumerate(people)}
    named = {source.id: f"S{at:08}" for at, source in enumerate(sources)}
    facts = (_fact(fact, persons, named) for fact in tree.facts if fact.person in persons)
    ties = (_tie(tie, persons, named) for tie in tree.relationships)
    return replace(
        tree,
        persons={persons[person.id]: replace(person, id=persons[person.id]) for person in people},
        relationships=tuple(sorted(ties, key=lambda tie: tie.id)),
        facts=tuple(sorted(facts, key=lambda fact: fact.id)),
        sources={named[source.id]: replace(source, id=named[source.id]) for source in sources},
        withheld=tuple(persons[item] for item in tree.withheld),
    )


def _person_key(person: Person) -> tuple[str, str, str, str, str]:
    known = sorted(person.external.items())
    return person.name, _day(person.birth), _day(person.death), repr(known), person.sex


def _day(when: DateRange | None) -> str:
    return when.edtf() if when else ""


def _fact(fact: Fact, persons: Mapping[PersonId, PersonId], sources: Mapping[SourceId, SourceId]) -> Fact:
    person = persons[fact.person]
    evidence = _evidence(fact.evidence, sources)
    number = f"{person} {fact.field} {fact.value}"
    return replace(fact, id=number, person=person, confidence=_confidence(evidence), evidence=evidence)


def _tie(tie: Relationship, persons: Mapping[PersonId, PersonId], sources: Mapping[SourceId, SourceId]) -> Relationship:
    first, second = persons.get(tie.first, tie.first), persons.get(tie.second, tie.second)
    evidence = _evidence(tie.evidence, sources)
    number = f"{tie.kind} {first} {second} {tie.qualifier} {_day(tie.start)} {_day(tie.end)} {tie.status}"
    return replace(tie, id=number, first=first, second=second, confidence=_confidence(evidence), evidence=evidence)


def _evidence(evidence: tuple[Evidence, ...], sources: Mapping[SourceId, SourceId]) -> tuple[Evidence, ...]:
    renamed = (replace(item, id="", source=sources.get(item.source, item.source)) for item in evidence)
    return tuple(sorted(renamed, key=lambda item: (item.source, item.locator, item.snippet, item.rationale)))


def _confidence(evidence: tuple[Evidence, ...]) -> float:
    """The confidence as the file expresses it, in steps of QUAY."""
    return max((float(quality_mark(item.reliability)) for item in evidence), default=0.0)
