"""What no score can outweigh."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kiwiresearch.kin.resolve.profile import Profile
from kiwiresearch.kin.tree import PersonId, Tree

Pair = tuple[PersonId, PersonId]
SLACK_YEARS = 2
"""Calendars and careless hands move dates a little."""


def ordered(one: PersonId, other: PersonId) -> Pair:
    return (one, other) if one < other else (other, one)


def vetoes(a: Profile, b: Profile) -> Iterator[str]:
    """What the two records themselves rule out."""
    shared = sorted(a.sources & b.sources)
    if shared:
        yield f"the source {shared[0]!r} tells of both"
    if a.sex and b.sex and a.sex != b.sex:
        yield f"one is {a.sex}, the other {b.sex}"
    numerals = [frozenset[int]().union(*(name.numerals for name in one.names)) for one in (a, b)]
    if all(numerals) and not numerals[0] & numerals[1]:
        told = " and ".join("/".join(map(str, sorted(one))) for one in numerals)
        yield f"their numbers differ ({told})"
    generations = [{name.generation for name in one.names} - {""} for one in (a, b)]
    if all(generations) and not generations[0] & generations[1]:
        yield "their generations differ"
    for first, second in ((a, b), (b, a)):
        born, died = first.birth_years, second.death_years
        if born and died and born[0] - died[1] > SLACK_YEARS:
            yield f"one was born in {born[0]}, when the other was dead since {died[1]}"
    items = [one.external.get("wikidata", "") for one in (a, b)]
    if all(items) and items[0] != items[1]:
        yield f"Wikidata has them as {items[0]!r} and {items[1]!r}"


class Ties:
    """Who cannot be whom because of how they are tied; pairs that were taken apart before."""

    def __init__(self, tree: Tree, cannot_link: Collection[Pair]) -> None:
        self._tree = tree
        self._apart = {ordered(*pair) for pair in cannot_link}
        self._beside = {
            ordered(tie.first, tie.second)
            for tie in tree.relationships
            if tie.kind != "parent_of" and tie.status not in ("rejected", "hypothesis", "superseded")
        }
        self._ancestors: dict[PersonId, frozenset[PersonId]] = {}

    def vetoes(self, one: PersonId, other: PersonId) -> Iterator[str]:
        pair = ordered(one, other)
        if pair in self._apart:
            yield "they were told apart before"
        if pair in self._beside:
            yield "one is the other's husband, wife, partner, brother or sister"
        if one in self.ancestors(other) or other in self.ancestors(one):
            yield "one descends from the other"

    def ancestors(self, person: PersonId) -> frozenset[PersonId]:
        known = self._ancestors.get(person)
        if known is None:
            found: set[PersonId] = set()
            waiting = list(self._tree.parents(person))
            while waiting:
                parent = waiting.pop()
                if parent not in found:
                    found.add(parent)
                    waiting.extend(self._tree.parents(parent))
            known = self._ancestors[person] = frozenset(found)
        return known
