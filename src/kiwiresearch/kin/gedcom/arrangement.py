"""A tree arranged for GEDCOM: in a stable order, with families built from relationships."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

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
from kiwiresearch.text.dates import ENDLESS_DAY, DateRange

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


CoupleKey = tuple[tuple[PersonId, ...], str]
"""The members of a couple, and for one parent alone the family of an imported file."""


def couple_key(members: Iterable[PersonId], family: str = "") -> CoupleKey:
    """How a couple is found. Of one parent, each family that a file had stays a family of its own."""
    found = tuple(sorted(members))
    return found, family if len(found) < 2 else ""


@dataclass(slots=True)
class Couple:
    """One or two parents, the ties between them, and their children."""

    husband: PersonId
    wife: PersonId
    unions: list[Relationship] = field(default_factory=list)
    """Two people may have been partners first and spouses later."""
    children: list[Child] = field(default_factory=list)
    family: str = ""
    """The family of an imported file, for one parent alone."""

    @property
    def members(self) -> tuple[PersonId, ...]:
        return tuple(item for item in (self.husband, self.wife) if item)


def build_couples(tree: Tree, families: Mapping[tuple[PersonId, PersonId], str] = MappingProxyType({})) -> list[Couple]:
    """All families of a tree, one for each couple, in an order that depends only on the tree.

    `families` are those of imported files in which a child has only one parent.
    """
    ties = [tie for tie in tree.relationships if is_written(tie, tree)]
    found: dict[CoupleKey, Couple] = {}
    for tie in sorted(ties, key=_start):
        if tie.kind in ("spouse_of", "partner_of"):
            members = (tie.first, tie.second)
            found.setdefault(couple_key(members), _couple(tree, members)).unions.append(tie)
    parents: dict[PersonId, list[Relationship]] = defaultdict(list)
    for tie in ties:
        if tie.kind == "parent_of":
            parents[tie.second].append(tie)
    for child in sorted(parents, key=lambda child: _by_birth(tree, child)):
        for group in _groups(tree, parents[child], found):
            known = [tie.first for tie in group]
            family = families.get((known[0], child), "") if len(known) == 1 else ""
            couple = found.setdefault(couple_key(known, family), _couple(tree, known, family))
            couple.children.append(Child(child, group))
    return sorted(found.values(), key=_in_order)


def _in_order(couple: Couple) -> tuple[tuple[PersonId, ...], tuple[PersonId, ...]]:
    return couple_key(couple.members)[0], tuple(child.person for child in couple.children)


def is_written(tie: Relationship, tree: Tree) -> bool:
    """Whether a tie is exported: it counts, and is between two different people of the tree."""
    is_known = tie.first in tree.persons and tie.second in tree.persons
    return is_known and tie.first != tie.second and tie.status not in DISCARDED


def _start(tie: Relationship | None) -> tuple[int, str]:
    return (tie.start.earliest if tie and tie.start else ENDLESS_DAY, tie.id if tie else "")


def _by_birth(tree: Tree, person: PersonId) -> tuple[int, str]:
    birth = tree.persons[person].birth
    return (birth.earliest if birth else ENDLESS_DAY, person)


def _couple(tree: Tree, members: Iterable[PersonId], family: str = "") -> Couple:
    """Husband and wife of one or two people, by sex if known."""
    order = {"male": 0, "": 1, "female": 2}
    first, *second = sorted(members, key=lambda member: (order[tree.persons[member].sex], member))
    if second:
        return Couple(first, second[0])
    is_mother = tree.persons[first].sex == "female"
    return Couple("", first, family=family) if is_mother else Couple(first, "", family=family)


def _groups(
    tree: Tree, ties: list[Relationship], couples: Mapping[CoupleKey, Couple]
) -> list[tuple[Relationship, ...]]:
    """The parents of one child in pairs: those of the same kind who were a couple, or are father and mother."""
    # The surest parent chooses first; the id decides between equals.
    left = sorted(ties, key=lambda tie: (-tie.confidence, tie.id))
    groups: list[tuple[Relationship, ...]] = []
    while left:
        parent = left.pop(0)
        others = [other for other in left if _are_partners(tree, parent, other, couples)]
        others.sort(key=lambda other: not _are_a_couple(couples, parent, other))
        if others:
            left.remove(others[0])
        groups.append((parent, *others[:1]))
    return groups


def _are_a_couple(couples: Mapping[CoupleKey, Couple], one: Relationship, other: Relationship) -> bool:
    return couple_key((one.first, other.first)) in couples


def _are_partners(tree: Tree, one: Relationship, other: Relationship, couples: Mapping[CoupleKey, Couple]) -> bool:
    if one.first == other.first:
        return False
    natural = one.qualifier in NATURAL and other.qualifier in NATURAL
    if not natural and one.qualifier != other.qualifier:
        return False
    sexes = {tree.persons[tie.first].sex for tie in (one, other)}
    return _are_a_couple(couples, one, other) or (natural and sexes == {"male", "female"})


class StableTree(NamedTuple):
    """A tree with ids that depend only on its content, and those that its people and sources had before."""

    tree: ShownTree
    persons: Mapping[PersonId, PersonId]
    sources: Mapping[SourceId, SourceId]


def with_stable_ids(tree: ShownTree) -> StableTree:
    """The same tree, sorted: people by name, facts by value, sources by title; without what GEDCOM cannot express."""
    people = sorted(tree.persons.values(), key=lambda person: (*_person_key(person), person.id))
    sources = sorted(
        tree.sources.values(),
        key=lambda source: (source.name, source.title, source.url, source.content_hash, source.id),
    )
    # With leading zeros, so that the order of the texts is that of the numbers.
    persons = {person.id: f"P{at:08}" for at, person in enumerate(people)}
    source_ids = {source.id: f"S{at:08}" for at, source in enumerate(sources)}
    facts = (_fact(fact, persons, source_ids) for fact in tree.facts if fact.person in persons)
    ties = (_tie(tie, persons, source_ids) for tie in tree.relationships)
    stable = replace(
        tree,
        persons={persons[person.id]: replace(person, id=persons[person.id]) for person in people},
        relationships=tuple(sorted(ties, key=lambda tie: tie.id)),
        facts=tuple(sorted(facts, key=lambda fact: fact.id)),
        sources={source_ids[source.id]: replace(source, id=source_ids[source.id]) for source in sources},
        withheld=tuple(persons[item] for item in tree.withheld),
    )
    return StableTree(stable, persons, source_ids)


def _person_key(person: Person) -> tuple[str, str, str, str, str]:
    known = sorted(person.external.items())
    return person.name, _day(person.birth), _day(person.death), repr(known), person.sex


def _day(when: DateRange | None) -> str:
    return when.edtf() if when else ""


def _fact(fact: Fact, persons: Mapping[PersonId, PersonId], sources: Mapping[SourceId, SourceId]) -> Fact:
    person = persons[fact.person]
    evidence = _evidence(fact.evidence, sources)
    stable_id = f"{person} {fact.field} {fact.value}"
    return replace(fact, id=stable_id, person=person, confidence=_confidence(evidence), evidence=evidence)


def _tie(tie: Relationship, persons: Mapping[PersonId, PersonId], sources: Mapping[SourceId, SourceId]) -> Relationship:
    first, second = persons.get(tie.first, tie.first), persons.get(tie.second, tie.second)
    evidence = _evidence(tie.evidence, sources)
    stable_id = f"{tie.kind} {first} {second} {tie.qualifier} {_day(tie.start)} {_day(tie.end)} {tie.status}"
    return replace(tie, id=stable_id, first=first, second=second, confidence=_confidence(evidence), evidence=evidence)


def _evidence(evidence: tuple[Evidence, ...], sources: Mapping[SourceId, SourceId]) -> tuple[Evidence, ...]:
    renamed = (replace(item, id="", source=sources.get(item.source, item.source)) for item in evidence)
    return tuple(sorted(renamed, key=lambda item: (item.source, item.locator, item.snippet, item.rationale)))


def _confidence(evidence: tuple[Evidence, ...]) -> float:
    """The confidence as the file expresses it, in steps of QUAY."""
    return max((float(quality_mark(item.reliability)) for item in evidence), default=0.0)
