"""What the shape of a family says about two records: who fills a place that only one person can have.

Relatives that follow from others are used for scores only, and never stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from kiwiresearch.kin.resolve.features import NEUTRAL, FeaturePoints, names_fit
from kiwiresearch.kin.resolve.profile import Profile
from kiwiresearch.kin.tree import DISCARDED, PersonId, Tree
from kiwiresearch.messages import Message

ONE_PLACE = 2.0
"""The points of two records that fill the same place of a family."""


class FamilyStructure:
    """The places of people in their families, with what follows from the stated relationships."""

    def __init__(self, tree: Tree, profiles: Mapping[PersonId, Profile]) -> None:
        self._tree, self._profiles = tree, profiles

    @cached_property
    def _stated_siblings(self) -> Mapping[PersonId, tuple[PersonId, ...]]:
        found: dict[PersonId, list[PersonId]] = defaultdict(list)
        for tie in self._tree.relationships:
            if tie.kind == "sibling_of" and tie.status not in DISCARDED and tie.qualifier == "":
                found[tie.first].append(tie.second)
                found[tie.second].append(tie.first)
        return {person: tuple(siblings) for person, siblings in found.items()}

    def stated_siblings(self, person: PersonId) -> tuple[PersonId, ...]:
        """The full brothers and sisters that a source states."""
        return self._stated_siblings.get(person, ())

    def parents(self, person: PersonId) -> tuple[PersonId, ...]:
        """The parents of a person; if none is known, those of the siblings."""
        return self._tree.parents(person) or tuple(
            dict.fromkeys(
                parent
                for sibling in self.stated_siblings(person)
                for parent in self._tree.parents(sibling)
                if parent != person
            )
        )

    def siblings(self, person: PersonId) -> tuple[PersonId, ...]:
        """The siblings of a person, with the other children of the siblings' parents."""
        children = (child for parent in self.parents(person) for child in self._tree.children(parent))
        return tuple(other for other in dict.fromkeys((*self._tree.siblings(person), *children)) if other != person)

    def points(self, pair: tuple[PersonId, PersonId]) -> FeaturePoints:
        """The points of two people who may fill the same place."""
        one, other = (self._profiles[person] for person in pair)
        found = self._one_spouse(one, other) or self._one_child(one, other) or self._child_and_sibling(one, other)
        return FeaturePoints(ONE_PLACE, 0.9, found) if found else NEUTRAL

    def _one_spouse(self, one: Profile, other: Profile) -> Message | None:
        """Whether one is nothing but a name for a spouse of the same person."""
        for bare, full in ((one, other), (other, one)):
            for spouse in self._tree.spouses(bare.id):
                spouses = self._tree.spouses(spouse)
                if full.id in spouses and self._is_bare(bare) and self._fits_only(bare, full, spouses):
                    name = self._name(spouse)
                    text = f"both are married to “{name}”, and nothing but a name is known of one"
                    return Message(text, "same.one_spouse", name=name)
        return None

    def _one_child(self, one: Profile, other: Profile) -> Message | None:
        """Whether one is nothing but a name for a child of the same parent."""
        for bare, full in ((one, other), (other, one)):
            for parent in self._tree.parents(bare.id):
                children = self._tree.children(parent)
                if full.id in children and self._is_bare(bare) and self._fits_only(bare, full, children):
                    name = self._name(parent)
                    text = f"both are children of “{name}”, and nothing but a name is known of one"
                    return Message(text, "same.one_child", name=name)
        return None

    def _child_and_sibling(self, one: Profile, other: Profile) -> Message | None:
        """Whether one is a sibling of somebody whose parents have the other as a child."""
        for sibling, child in ((one, other), (other, one)):
            # With parents of their own, the ordinary comparison of parents decides.
            if self._tree.parents(sibling.id):
                continue
            for known in self.stated_siblings(sibling.id):
                children = [item for parent in self._tree.parents(known) for item in self._tree.children(parent)]
                if child.id in children and self._fits_only(sibling, child, children):
                    name = self._name(known)
                    text = f"one is a brother or sister of “{name}”, the other a child of the same parents"
                    return Message(text, "same.child_and_sibling", name=name)
        return None

    def _is_bare(self, profile: Profile) -> bool:
        """Whether only the name of a person and one relative, or both parents, are known."""
        person, tree = profile.id, self._tree
        # Two parents are one family, each spouse and each child another.
        families = bool(tree.parents(person)) + len(tree.spouses(person)) + len(tree.children(person))
        return not (profile.birth or profile.death) and families <= 1

    def _fits_only(self, bare: Profile, full: Profile, others: tuple[PersonId, ...] | list[PersonId]) -> bool:
        """Whether a name fits one of several people and nobody else."""
        fitting = {
            item
            for item in others
            if item != bare.id and item in self._profiles and self._fits(bare, self._profiles[item])
        }
        return fitting == {full.id}

    def _fits(self, one: Profile, other: Profile) -> bool:
        return not (one.sex and other.sex and one.sex != other.sex) and names_fit(one, other)

    def _name(self, person: PersonId) -> str:
        known = self._tree.persons.get(person)
        return known.name if known else person
