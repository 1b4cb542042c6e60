"""The couples of a tree and their children, in the order in which pictures and lists show them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.gedcom import Child, Couple, build_couples
from kiwiresearch.kin.report.labels import year_phrase
from kiwiresearch.kin.timeline import birth_of, children_by_birth
from kiwiresearch.kin.tree import BY_BLOOD, DISCARDED, UNSETTLED, PersonId, Relationship, Sex, Tree
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import ENDLESS_DAY

SEX_ORDER: Mapping[Sex, int] = {"male": 0, "female": 1, "": 2}
"""Fathers are above or left of mothers."""


@dataclass(frozen=True, slots=True)
class Union:
    """A partner, or "" if the other parent is not known, with the children of the two, the eldest first."""

    partner: PersonId
    tie: Relationship | None
    children: tuple[PersonId, ...]


class Couples:
    """What all shapes of a family tree are drawn from: who had children with whom, and how they are tied."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.ties = parent_ties(tree)
        """The tie of each parent and child."""
        self._couples: dict[PersonId, list[Couple]] = defaultdict(list)
        self._groups: dict[PersonId, list[Child]] = defaultdict(list)
        for couple in build_couples(tree):
            for member in couple.members:
                self._couples[member].append(couple)
            for child in couple.children:
                self._groups[child.person].append(child)
        self._unions: dict[PersonId, tuple[Union, ...]] = {}

    def parents(self, person: PersonId) -> tuple[PersonId, ...]:
        """All known parents: those by birth first, each father before the mother he belongs to."""
        groups = sorted(self._groups.get(person, ()), key=self._rank)
        members = (sorted(group.ties, key=lambda tie: self._sex_order(tie.first)) for group in groups)
        return tuple(dict.fromkeys(tie.first for ties in members for tie in ties))

    def _rank(self, group: Child) -> tuple[bool, float, int]:
        best = max(group.ties, key=lambda tie: tie.confidence)
        not_by_birth = any(tie.qualifier not in BY_BLOOD for tie in group.ties)
        return not_by_birth, -best.confidence, self._sex_order(best.first)

    def _sex_order(self, person: PersonId) -> int:
        return SEX_ORDER[self.tree.persons[person].sex]

    def unions(self, person: PersonId) -> tuple[Union, ...]:
        """Children whose other parent is not known first, then all partners in order of time."""
        if person not in self._unions:
            self._unions[person] = self._read_unions(person)
        return self._unions[person]

    def _read_unions(self, person: PersonId) -> tuple[Union, ...]:
        ties: dict[PersonId, Relationship | None] = {}
        children: dict[PersonId, dict[PersonId, None]] = defaultdict(dict)
        for couple in self._couples.get(person, ()):
            partner = next((member for member in couple.members if member != person), "")
            tie = ties.get(partner)
            if tie is None or not tie.start:
                # Of several ties with the same partner, the first that has a date.
                ties[partner] = next((union for union in couple.unions if union.start), next(iter(couple.unions), None))
            children[partner].update(dict.fromkeys(child.person for child in couple.children))
        # A child of two families of this person is listed with the known partner only.
        with_partner = {child for partner, some in children.items() if partner for child in some}
        found = []
        for partner, tie in ties.items():
            kept = [child for child in children[partner] if partner or child not in with_partner]
            if partner or kept:
                found.append(Union(partner, tie, tuple(children_by_birth(self.tree, person, kept))))
        return tuple(sorted(found, key=lambda union: self._order(person, union)))

    def _order(self, person: PersonId, union: Union) -> tuple[bool, int, tuple[str, int], PersonId]:
        """When a union began: the wedding, or else the birth of the first child."""
        births = (birth_of(self.tree, child) for child in union.children)
        began = min((when.earliest for when in births if when), default=ENDLESS_DAY)
        began = union.tie.start.earliest if union.tie and union.tie.start else began
        return bool(union.partner), began, self.tree.evidence_position(person, union.partner), union.partner

    def partners(self, person: PersonId) -> tuple[PersonId, ...]:
        """Spouses and other parents of a person's children, in order of time."""
        return tuple(union.partner for union in self.unions(person) if union.partner)

    def children(self, person: PersonId) -> tuple[PersonId, ...]:
        """All children, those of one union after those of another."""
        return tuple(dict.fromkeys(child for union in self.unions(person) for child in union.children))

    def children_of(self, person: PersonId, partner: PersonId) -> tuple[PersonId, ...]:
        """The children of two people, or of one whose other parent is not known."""
        return next((union.children for union in self.unions(person) if union.partner == partner), ())


def parent_ties(tree: Tree) -> dict[tuple[PersonId, PersonId], Relationship]:
    """The tie of each parent and child."""
    held = (tie for tie in tree.relationships if tie.kind == "parent_of" and tie.status not in DISCARDED)
    return {(tie.first, tie.second): tie for tie in held}


def is_doubtful_tie(tie: Relationship | None) -> bool:
    return tie is not None and (tie.qualifier not in BY_BLOOD or tie.status in UNSETTLED)


def tie_note(tie: Relationship | None) -> str:
    """The label on how the person of a box is connected."""
    if tie is None:
        return ""
    return tie.qualifier if tie.qualifier not in BY_BLOOD else "doubtful" if tie.status in UNSETTLED else ""


def union_phrase(tie: Relationship | None) -> Message:
    """When a couple came together: 'm. 1800' for a marriage, 'from 1800' for partners; empty if unknown."""
    if tie is None or not tie.start:
        return Message("")
    year = year_phrase(tie.start)
    if tie.kind == "spouse_of":
        return Message(f"m. {year}", "couple.married", year=year)
    return Message(f"from {year}", "couple.partners", year=year)


def notes_of(*notes: str) -> Sequence[str]:
    """The notes that are not empty."""
    return tuple(filter(None, notes))
