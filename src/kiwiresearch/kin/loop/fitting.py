"""Whether a record that a search found is about the person who was looked for, and not about a namesake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import RELATIONS, FieldName
from kiwiresearch.kin.loop.verifying import Verified
from kiwiresearch.kin.names import PersonName, clash, parse_name
from kiwiresearch.text.fold import fold

PARENTS: tuple[FieldName, ...] = ("father", "mother", "parent")
RECIPROCAL: Mapping[str, tuple[FieldName, ...]] = {
    "father": ("child",),
    "mother": ("child",),
    "parent": ("child",),
    "child": PARENTS,
    "spouse": ("spouse", "partner"),
    "partner": ("spouse", "partner"),
    "sibling": ("sibling",),
}
"""How a record names the one who led to it: a child's page tells its parents."""


def fits(record: Verified, context: Mapping[str, Any], leads_back: Callable[[Extracted], bool]) -> bool:
    """A person of that name whose own record names the relative who led here, in the right role.

    `leads_back` tells whether a relation of the record links to that relative's own page.
    """
    read = record.read
    name = parse_name(str(context.get("name", "")))
    if not read.is_person or not any(is_named(name, parse_name(one)) for one in (read.name, read.title) if one):
        return False
    fields = RECIPROCAL.get(str(context.get("field")), tuple(sorted(RELATIONS)))
    relative = parse_name(str(context.get("of_name", "")))
    told = [one.fact for one in record.kept if one.fact.field in fields]
    return any(leads_back(fact) or is_named(relative, parse_name(fact.value)) for fact in told)


def is_named(one: PersonName, other: PersonName) -> bool:
    """Two full names of one person: all of the shorter is in the longer, and it is more than a first name."""
    if not one.given or not other.given or clash(one, other):
        return False
    mine, theirs = core(one), core(other)
    if not (mine <= theirs or theirs <= mine):
        return False
    is_same_king = one.regnal > 0 and one.regnal == other.regnal
    is_same_place = bool(one.byname) and fold(one.byname) == fold(other.byname)
    return len(mine & theirs) > 1 or is_same_king or is_same_place


def core(name: PersonName) -> frozenset[str]:
    """The words of a name that are the person's own."""
    return frozenset(fold(" ".join((*name.given, name.surname, name.maiden))).split())
