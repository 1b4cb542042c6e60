"""Dates that can hardly be right, whatever their evidence."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.plausible import OLDEST_AGE, OLDEST_PARENT, YEAR, YOUNGEST_PARENT
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.text.when import DateRange


def problem_of(tree: Tree, person: PersonId, field: FieldName, when: DateRange | None) -> str:
    """What speaks against a date by itself, or nothing."""
    if when is None or field not in ("birth_date", "death_date", "baptism_date", "burial_date"):
        return ""
    found = _births(tree, person, when) if field == "birth_date" else _after_birth(tree, person, when)
    return next(found, "")


def _after_birth(tree: Tree, person: PersonId, when: DateRange) -> Iterator[str]:
    birth = tree.persons[person].birth
    if birth:
        if when.reach()[1] < birth.reach()[0]:
            yield f"it is before the birth ({birth.words()})"
        if _years(birth.reach()[1], when.reach()[0]) >= OLDEST_AGE + 1:
            yield f"nobody lived so long after a birth in {birth.words()}"


def _births(tree: Tree, person: PersonId, when: DateRange) -> Iterator[str]:
    death = tree.persons[person].death
    first, last = when.reach()
    if death and death.reach()[1] < first:
        yield f"it is after the death ({death.words()})"
    if death and _years(last, death.reach()[0]) >= OLDEST_AGE + 1:
        yield f"nobody lived so long until {death.words()}"
    for child in tree.children(person):
        born = tree.persons[child].birth if child in tree.persons else None
        if born and _years(first, born.reach()[1]) < YOUNGEST_PARENT:
            yield f"the child {tree.persons[child].name!r} was born in {born.words()}"
    for parent in tree.parents(person):
        known = tree.persons.get(parent)
        if known is None or known.birth is None:
            continue
        low, high = known.birth.reach()
        if _years(low, last) < YOUNGEST_PARENT or _years(high, first) >= OLDEST_PARENT + 1:
            yield f"the parent {known.name!r} was born in {known.birth.words()}"


def _years(start: int, end: int) -> float:
    return (end - start) / YEAR
