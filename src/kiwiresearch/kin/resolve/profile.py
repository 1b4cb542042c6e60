"""A person as the resolver sees one: names in parts, years, places, sources, and when they can have been born."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kiwiresearch.kin.fields import Sex
from kiwiresearch.kin.resolve.naming import Name, parsed
from kiwiresearch.kin.tree import Person, PersonId, Tree
from kiwiresearch.text.dates.days import day_at
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import DateRange

Years = tuple[int, int]
ALL_TIME: Years = (-20_000, 20_000)
MOST_NAMES = 5
LONGEST_LIFE = 105
PARENT_AGES = (12, 75)
SPOUSE_GAP = 45
ERA_ROUNDS = 2
FILE = "gedcom:"
"""Before the name of a file, which is a source of everybody in it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What two records are compared by."""

    id: PersonId
    names: tuple[Name, ...]
    sex: Sex
    birth: DateRange | None
    death: DateRange | None
    birth_years: Years | None
    death_years: Years | None
    era: Years
    """The years in which the person can have been born, as far as dates and relatives tell."""
    birth_place: tuple[str, ...]
    death_place: tuple[str, ...]
    sources: frozenset[str]
    external: Mapping[str, str]
    numerals: frozenset[int] = frozenset()
    """Numbers of kings and queens, of all the names."""
    generations: frozenset[str] = frozenset()
    """'junior' or 'senior', of all the names."""


def profiles_of(tree: Tree) -> dict[PersonId, Profile]:
    """Everybody of a tree, in the order of their ids."""
    sources = _sources(tree)
    eras = _eras(tree)
    return {one: _profile(tree.persons[one], sources[one], eras[one]) for one in sorted(tree.persons)}


def _profile(person: Person, sources: frozenset[str], era: Years) -> Profile:
    written = dict.fromkeys((person.name, *person.names[: MOST_NAMES - 1]))
    names = tuple(dict.fromkeys(name for name in map(parsed, written) if name.tokens or name.ordinals)) or (Name(),)
    return Profile(
        person.id,
        names,
        person.sex,
        person.birth,
        person.death,
        years_of(person.birth),
        years_of(person.death),
        era,
        place_parts(person.birth_place),
        place_parts(person.death_place),
        sources,
        person.external,
        frozenset[int]().union(*(name.numerals for name in names)),
        frozenset(name.generation for name in names if name.generation),
    )


def years_of(when: DateRange | None) -> Years | None:
    """The first and last year that agree with a date."""
    if when is None:
        return None
    first, last = when.reach()
    low = ALL_TIME[0] if when.qualifier == "before" else day_at(first).year
    high = ALL_TIME[1] if when.qualifier == "after" else day_at(last).year
    return low, high


def place_parts(place: str) -> tuple[str, ...]:
    """A place from the narrow to the wide, folded."""
    return tuple(part for part in (fold(piece) for piece in place.split(",")) if part)


def _sources(tree: Tree) -> dict[PersonId, frozenset[str]]:
    """The sources that speak of each person: nobody stands twice in one."""
    found: dict[PersonId, set[str]] = defaultdict(set)
    for fact in tree.facts:
        if fact.field not in ("father", "mother", "parent", "spouse", "partner", "child", "sibling"):
            found[fact.person].update(evidence.source for evidence in fact.evidence)
    for tie in tree.relationships:
        for evidence in tie.evidence:
            found[tie.first].add(evidence.source)
            found[tie.second].add(evidence.source)
    for person in tree.persons.values():
        file = person.external.get("gedcom", "").partition("#")[0]
        if file:
            found[person.id].add(f"{FILE}{file}")
    return {one: frozenset(found.get(one, ())) for one in tree.persons}


def _eras(tree: Tree) -> dict[PersonId, Years]:
    """When each can have been born: by own dates, narrowed by the dates of parents, children and spouses."""
    eras = {one: _own_era(person) for one, person in tree.persons.items()}
    for _ in range(ERA_ROUNDS):
        eras = {one: _narrowed(tree, one, eras) for one in eras}
    return eras


def _own_era(person: Person) -> Years:
    born, died = years_of(person.birth), years_of(person.death)
    if born:
        return born
    return (max(died[0], ALL_TIME[0]) - LONGEST_LIFE, died[1]) if died else ALL_TIME


def _narrowed(tree: Tree, person: PersonId, eras: Mapping[PersonId, Years]) -> Years:
    youngest, oldest = PARENT_AGES
    bounds = [
        *((eras[one][0] - oldest, eras[one][1] - youngest) for one in tree.children(person) if one in eras),
        *((eras[one][0] + youngest, eras[one][1] + oldest) for one in tree.parents(person) if one in eras),
        *((eras[one][0] - SPOUSE_GAP, eras[one][1] + SPOUSE_GAP) for one in tree.spouses(person) if one in eras),
    ]
    low, high = eras[person]
    for first, last in bounds:
        # A date that does not fit is somebody's mistake: the others stand.
        if max(low, first) <= min(high, last):
            low, high = max(low, first), min(high, last)
    return low, high
