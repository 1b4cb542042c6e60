"""The latest year each person of a tree can have been born in, from their own dates and those of their relatives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kiwiresearch.kin.fields import FieldName, Qualifier, Status
from kiwiresearch.kin.tree import Person, PersonId, Relationship, Tree
from kiwiresearch.text.dates.days import day_at
from kiwiresearch.text.when import DateRange

YOUNGEST_PARENT = 12
YOUNGEST_SPOUSE = 12
OLDEST_MOTHER = 58
OLDEST_FATHER = 90
SPOUSES_APART = 60
SIBLINGS_APART = OLDEST_FATHER - YOUNGEST_PARENT
"""They may be children of one father by two mothers."""
ROUNDS = 24
"""How many ties a date reaches over; a date further away says nothing of use, and a wrong tie nothing at all."""
BELIEVED: frozenset[Status] = frozenset({"verified", "unverified", "conflicting"})
NOT_BY_BIRTH: frozenset[Qualifier] = frozenset({"adoptive", "step", "foster"})
FARTHEST = 10**14
"""A day past this is no day: the end of an open range."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A year, and which kind of evidence it comes from: never whose."""

    year: int
    why: str


@dataclass(frozen=True, slots=True)
class Dates:
    """What a person's own dates say, each at its latest."""

    born: int | None
    died: int | None
    married: int | None
    first_born: int | None
    """The earliest year of birth that any source gives."""


@dataclass(frozen=True, slots=True)
class Step:
    """From a relative's year of birth to the person's: so many years later at most."""

    relative: PersonId
    years: int
    why: str


def last_year(when: DateRange | None) -> int | None:
    """The last year that agrees with a date; none for 'after 1950'."""
    if when is None or when.reach()[1] > FARTHEST:
        return None
    return day_at(when.reach()[1]).year


def first_year(when: DateRange | None) -> int | None:
    if when is None or when.reach()[0] < -FARTHEST:
        return None
    return day_at(when.reach()[0]).year


def own_dates(tree: Tree) -> dict[PersonId, Dates]:
    """The dates of each person; where sources compete, the one that makes the person younger."""
    married: dict[PersonId, list[DateRange]] = defaultdict(list)
    for tie in tree.relationships:
        if tie.kind == "spouse_of" and tie.start and believed(tie):
            married[tie.first].append(tie.start)
            married[tie.second].append(tie.start)
    return {person.id: _own(tree, person, married[person.id]) for person in tree.persons.values()}


def believed(tie: Relationship) -> bool:
    return tie.status in BELIEVED and tie.qualifier != "disputed"


def whens(tree: Tree, person: PersonId, *fields: FieldName) -> list[DateRange]:
    """The dates that sources give for some events of a person's life."""
    facts = (fact for field in fields for fact in tree.facts_of(person, field))
    return [fact.when for fact in facts if fact.when and fact.status in BELIEVED]


def _own(tree: Tree, person: Person, weddings: list[DateRange]) -> Dates:
    births = [*([person.birth] if person.birth else []), *whens(tree, person.id, "birth_date")]
    baptisms = whens(tree, person.id, "baptism_date")
    deaths = [*([person.death] if person.death else []), *whens(tree, person.id, "death_date", "burial_date")]
    marriages = [*weddings, *whens(tree, person.id, "marriage_date")]
    born = _greatest(map(last_year, births or baptisms))
    if births and born is None:  # 'born after 1950': nothing else may make such a person older
        return Dates(None, None, None, _least(map(first_year, births)))
    return Dates(
        born,
        _greatest(map(last_year, deaths)),
        _least(map(last_year, marriages)),
        _least(map(first_year, births)) if births else None,
    )


def _greatest(years: Iterable[int | None]) -> int | None:
    return max((year for year in years if year is not None), default=None)


def _least(years: Iterable[int | None]) -> int | None:
    return min((year for year in years if year is not None), default=None)


def born_by(tree: Tree, dates: Mapping[PersonId, Dates]) -> dict[PersonId, Bound]:
    """The latest year of birth of each person of whom anything can be said.

    A person's own date of birth is not argued with: a relative who makes it
    impossible is a wrong relative.
    """
    fixed = {person for person, own in dates.items() if own.born is not None or own.first_born is not None}
    known = {person: bound for person, own in dates.items() if (bound := _from_own(own))}
    steps = _steps(tree)
    for child, bound in _from_deaths(tree, dates):
        if child in dates and child not in fixed:
            _lower(known, child, (bound,))
    for _ in range(ROUNDS):
        before = dict(known)
        for person, ways in steps.items():
            if person not in fixed:
                reached = (
                    Bound(before[way.relative].year + way.years, way.why) for way in ways if way.relative in before
                )
                _lower(known, person, reached)
        if known == before:
            break
    return known


def _lower(known: dict[PersonId, Bound], person: PersonId, bounds: Iterable[Bound]) -> None:
    for bound in bounds:
        if person not in known or bound.year < known[person].year:
            known[person] = bound


def _from_own(own: Dates) -> Bound | None:
    if own.born is not None:
        return Bound(own.born, "the date of birth")
    if own.first_born is not None:
        return None
    found = []
    if own.died is not None:
        found.append(Bound(own.died, "the date of death"))
    if own.married is not None:
        found.append(Bound(own.married - YOUNGEST_SPOUSE, "the date of a marriage"))
    return min(found, key=lambda bound: bound.year, default=None)


def _from_deaths(tree: Tree, dates: Mapping[PersonId, Dates]) -> Iterable[tuple[PersonId, Bound]]:
    """Nobody is born after the mother's death, a year after the father's, or marries the dead."""
    for tie in filter(believed, tree.relationships):
        if tie.kind in ("spouse_of", "partner_of"):
            for one, other in ((tie.first, tie.second), (tie.second, tie.first)):
                if (died := _died(dates.get(other))) is not None:
                    yield one, Bound(died - YOUNGEST_SPOUSE, "the death of a spouse")
            continue
        died = _died(dates.get(tie.first))
        if died is not None and tie.kind == "parent_of" and tie.qualifier not in NOT_BY_BIRTH:
            late = 0 if tree.persons[tie.first].sex == "female" else 1
            yield tie.second, Bound(died + late, "the death of a parent")


def _died(own: Dates | None) -> int | None:
    """The year of a death, unless it comes before the birth: then one of the two is wrong, and nobody knows which."""
    if own is None or own.died is None or (own.born is not None and own.died < own.born):
        return None
    return own.died


def _parent_ties(tree: Tree) -> Iterable[Relationship]:
    return (tie for tie in tree.relationships if tie.kind == "parent_of" and believed(tie))


def _steps(tree: Tree) -> dict[PersonId, list[Step]]:
    steps: dict[PersonId, list[Step]] = defaultdict(list)
    looped = _looped(tree)
    for tie in tree.relationships:
        if not believed(tie) or not {tie.first, tie.second} <= tree.persons.keys():
            continue
        if tie.kind != "parent_of":
            apart = SIBLINGS_APART if tie.kind == "sibling_of" else SPOUSES_APART
            kind = "a sibling" if tie.kind == "sibling_of" else "a spouse"
            steps[tie.first].append(Step(tie.second, apart, kind))
            steps[tie.second].append(Step(tie.first, apart, kind))
        elif not {tie.first, tie.second} <= looped:
            by_birth = tie.qualifier not in NOT_BY_BIRTH
            mother = by_birth and tree.persons[tie.first].sex == "female"
            steps[tie.second].append(Step(tie.first, OLDEST_MOTHER if mother else OLDEST_FATHER, "a parent"))
            steps[tie.first].append(Step(tie.second, -YOUNGEST_PARENT if by_birth else SPOUSES_APART, "a child"))
    return steps


def _looped(tree: Tree) -> set[PersonId]:
    """People who are their own ancestors, and those between two such: their ties say nothing about time."""
    parents: dict[PersonId, set[PersonId]] = defaultdict(set)
    children: dict[PersonId, set[PersonId]] = defaultdict(set)
    for tie in _parent_ties(tree):
        parents[tie.second].add(tie.first)
        children[tie.first].add(tie.second)
    left = parents.keys() | children.keys()
    ends = [person for person in left if not (parents[person] and children[person])]
    while ends:
        person = ends.pop()
        if person not in left:
            continue
        left.discard(person)
        for child in children.pop(person, ()):
            parents[child].discard(person)
            if not parents[child]:
                ends.append(child)
        for parent in parents.pop(person, ()):
            children[parent].discard(person)
            if not children[parent]:
                ends.append(parent)
    return left
