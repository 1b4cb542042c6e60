"""Families put together from ties: GEDCOM knows no parent or spouse, only families they are in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kiwiresearch.kin.fields import Qualifier
from kiwiresearch.kin.tree import PersonId, Relationship, Tree

LEFT_OUT = ("rejected", "hypothesis", "superseded")
"""What is no part of a tree that is handed on."""
NATURAL = ("", "biological")


@dataclass(frozen=True, slots=True)
class Child:
    """A child in a family, and the ties to its parents there."""

    person: PersonId
    ties: tuple[Relationship, ...]

    @property
    def qualifier(self) -> Qualifier:
        """What holds for all parents of the family."""
        kinds = {tie.qualifier for tie in self.ties}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def is_challenged(self) -> bool:
        return any(tie.status in ("disputed", "conflicting") for tie in self.ties)


@dataclass(slots=True)
class Couple:
    """One or two parents, the tie between them if one is known, and their children."""

    husband: PersonId
    wife: PersonId
    union: Relationship | None = None
    children: list[Child] = field(default_factory=list)

    @property
    def members(self) -> tuple[PersonId, ...]:
        return tuple(one for one in (self.husband, self.wife) if one)


def couples_of(tree: Tree) -> list[Couple]:
    """All families of a tree, in an order that depends on nothing but the tree."""
    ties = [tie for tie in tree.relationships if _is_kept(tie, tree)]
    found: dict[tuple[PersonId, ...], list[Couple]] = defaultdict(list)
    for tie in sorted(ties, key=_by_start):
        if tie.kind in ("spouse_of", "partner_of"):
            couple = _couple(tree, (tie.first, tie.second))
            couple.union = tie
            found[_key(couple.members)].append(couple)
    parents: dict[PersonId, list[Relationship]] = defaultdict(list)
    for tie in ties:
        if tie.kind == "parent_of":
            parents[tie.second].append(tie)
    for child in sorted(parents, key=lambda one: _by_birth(tree, one)):
        for group in _groups(tree, parents[child], found):
            members = tuple(tie.first for tie in group)
            known = found[_key(members)]
            if not known:
                known.append(_couple(tree, members))
            known[0].children.append(Child(child, group))
    every = [couple for couples in found.values() for couple in couples]
    return sorted(every, key=lambda couple: (_key(couple.members), _start(couple.union)))


def _is_kept(tie: Relationship, tree: Tree) -> bool:
    known = tie.first in tree.persons and tie.second in tree.persons
    return known and tie.first != tie.second and tie.status not in LEFT_OUT


def _key(members: Iterable[PersonId]) -> tuple[PersonId, ...]:
    return tuple(sorted(members))


def _start(tie: Relationship | None) -> tuple[int, str]:
    return (tie.start.earliest if tie and tie.start else 10**9, tie.id if tie else "")


def _by_start(tie: Relationship) -> tuple[int, str]:
    return _start(tie)


def _by_birth(tree: Tree, person: PersonId) -> tuple[int, str]:
    birth = tree.persons[person].birth
    return (birth.earliest if birth else 10**9, person)


def _couple(tree: Tree, members: tuple[PersonId, ...]) -> Couple:
    """The roles of one or two people, by their sex where it tells."""
    order = {"male": 0, "": 1, "female": 2}
    first, *second = sorted(members, key=lambda one: (order[tree.persons[one].sex], one))
    if second:
        return Couple(first, second[0])
    return Couple("", first) if tree.persons[first].sex == "female" else Couple(first, "")


def _groups(
    tree: Tree, ties: list[Relationship], couples: Mapping[tuple[PersonId, ...], list[Couple]]
) -> list[tuple[Relationship, ...]]:
    """The parents of one child, two by two: those of one kind who were a couple, or are father and mother."""
    left = sorted(ties, key=lambda tie: (-tie.confidence, tie.id))
    groups: list[tuple[Relationship, ...]] = []
    while left:
        one = left.pop(0)
        others = [other for other in left if _go_together(tree, one, other, couples)]
        others.sort(key=lambda other: not couples.get(_key((one.first, other.first))))
        if others:
            left.remove(others[0])
        groups.append((one, *others[:1]))
    return groups


def _go_together(
    tree: Tree, one: Relationship, other: Relationship, couples: Mapping[tuple[PersonId, ...], list[Couple]]
) -> bool:
    if one.first == other.first:
        return False
    natural = one.qualifier in NATURAL and other.qualifier in NATURAL
    if not natural and one.qualifier != other.qualifier:
        return False
    sexes = {tree.persons[tie.first].sex for tie in (one, other)}
    return bool(couples.get(_key((one.first, other.first)))) or (natural and sexes == {"male", "female"})
