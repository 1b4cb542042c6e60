"""What relatives say: two records whose fathers, wives or children are one person are often one person themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.kin.resolve.features import chance
from kiwiresearch.kin.resolve.profile import Profile
from kiwiresearch.kin.resolve.vetoes import Pair, ordered
from kiwiresearch.kin.tree import PersonId, Tree

Role = Literal["father", "mother", "parent", "sibling", "spouse", "child"]
Relatives = Mapping[Role, tuple[PersonId, ...]]
Belief = Callable[[Pair], float]
"""Log-odds that two relatives are one person, as far as others than those who ask can tell."""

SHARED: dict[Role, float] = {
    "father": 0.95, "mother": 0.93, "parent": 0.6, "sibling": 0.5, "spouse": 0.6, "child": 0.5,
}  # fmt: skip
"""How often two records of one person, which both have such a relative, share one: nobody has two fathers,
but several wives and children, of whom no source knows all."""
CHANCE: dict[Role, float] = {
    "father": 1 / 400, "mother": 1 / 400, "parent": 1 / 400, "sibling": 1 / 250, "spouse": 1 / 1500, "child": 1 / 800,
}  # fmt: skip
"""And how often two records of different people do."""
CHILD_OF_ONE_SEX = 1 / 8000
"""Two fathers or two mothers of one child are one person, but for step-parents and mistakes."""
CERTAIN = 20.0
ORIGIN: tuple[Role, ...] = ("father", "mother", "parent", "sibling")
OWN_FAMILY: tuple[Role, ...] = ("spouse", "child")
FURTHER = 1.5
"""For the second and third relative of one role."""
ECHO = 0.35
"""Relatives of one household say much the same: all but the strongest count for so much."""
MOST_AGAINST = -5.0
KIN_RANGE = (-7.0, 13.0)


@dataclass(frozen=True, slots=True)
class KinPoints:
    """Log-odds of the relatives, and which of them carry how much."""

    value: float
    met: tuple[tuple[Role, Pair], ...]
    missed: tuple[Role, ...]
    shares: Mapping[Pair, float]


def relatives_of(tree: Tree, profiles: Mapping[PersonId, Profile]) -> dict[PersonId, Relatives]:
    """Everybody's relatives by role."""
    return {one: _by_role(tree, one, profiles) for one in profiles}


def _by_role(tree: Tree, person: PersonId, profiles: Mapping[PersonId, Profile]) -> Relatives:
    def known(ids: Iterable[PersonId]) -> tuple[PersonId, ...]:
        return tuple(sorted(one for one in ids if one in profiles))

    parents = known(tree.parents(person))
    roles: dict[Role, tuple[PersonId, ...]] = {
        "father": tuple(one for one in parents if profiles[one].sex == "male"),
        "mother": tuple(one for one in parents if profiles[one].sex == "female"),
        "parent": tuple(one for one in parents if not profiles[one].sex),
        "sibling": known(tree.siblings(person)),
        "spouse": known({*tree.spouses(person), *_other_parents(tree, person)}),
        "child": known(tree.children(person)),
    }
    return {role: ids for role, ids in roles.items() if ids}


def _other_parents(tree: Tree, person: PersonId) -> Iterator[PersonId]:
    """Who has a child with somebody is a wife or husband, as far as telling people apart goes."""
    for child in tree.children(person):
        yield from (one for one in tree.parents(child) if one != person)


def kin_points(
    one: Relatives,
    other: Relatives,
    belief: Belief,
    prior: float,
    *,
    is_one_sex: bool = False,
    most_of_origin: float = math.inf,
) -> KinPoints:
    """All roles that both records have relatives in; `prior` is the log-odds of any two people.

    Brothers and sisters have the same parents: where something tells them apart, that may count for little.
    """
    by_role: dict[Role, float] = {}
    met: list[tuple[Role, Pair]] = []
    missed: list[Role] = []
    shares: dict[Pair, float] = {}
    for role, ids in one.items():
        others = other.get(role)
        if not others:
            continue
        best = _matched(ids, others, belief)
        by_chance = CHILD_OF_ONE_SEX if role == "child" and is_one_sex else CHANCE[role]
        ratio = math.exp(min(best[0][0] - prior, CERTAIN)) / max(len(ids), len(others))
        by_role[role] = _role_points(SHARED[role], by_chance, ratio, best, shares)
        sure = [(role, pair) for odds, pair in best if odds > 0]
        met += sure
        if not sure and by_role[role] < 0:
            missed.append(role)
    origin = _combined(by_role, ORIGIN)
    value = min(origin, most_of_origin) + _combined(by_role, OWN_FAMILY)
    low, high = KIN_RANGE
    return KinPoints(min(max(value, low), high), tuple(met), tuple(missed), shares)


def _matched(ids: tuple[PersonId, ...], others: tuple[PersonId, ...], belief: Belief) -> list[tuple[float, Pair]]:
    """Each relative with the one it fits best, nobody twice, best first."""
    options = [(CERTAIN if x == y else belief(ordered(x, y)), x, y) for x in ids for y in others]
    options.sort(key=lambda found: (-found[0], found[1], found[2]))
    used: set[tuple[int, PersonId]] = set()
    best: list[tuple[float, Pair]] = []
    for odds, x, y in options:
        if (0, x) in used or (1, y) in used:
            continue
        used.update(((0, x), (1, y)))
        best.append((odds, ordered(x, y)))
    return best


def _role_points(
    shared: float, by_chance: float, ratio: float, best: list[tuple[float, Pair]], shares: dict[Pair, float]
) -> float:
    """The best match weighs most; `ratio` is how much likelier one person is behind it than two."""
    pair = best[0][1]
    value = math.log((shared * ratio + 1 - shared) / (by_chance * ratio + 1 - by_chance))
    shares[pair] = shares.get(pair, 0.0) + value
    for odds, pair in best[1:3]:
        more = FURTHER * chance(odds)
        shares[pair] = shares.get(pair, 0.0) + more
        value += more
    return value


def _combined(by_role: Mapping[Role, float], roles: Iterable[Role]) -> float:
    values = sorted((by_role[role] for role in roles if role in by_role), reverse=True)
    good = [value for value in values if value > 0]
    bad = sum(value for value in values if value <= 0)
    return (good[0] + ECHO * sum(good[1:]) if good else 0.0) + max(bad, MOST_AGAINST)
