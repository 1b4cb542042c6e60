"""Whether a record tells the life that is known of somebody: the same name, born and dead at the same time."""

from __future__ import annotations

from itertools import product

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.loop.fitting import is_named
from kiwiresearch.kin.loop.looking import year_of
from kiwiresearch.kin.loop.verifying import Verified
from kiwiresearch.kin.names import PersonName, clash, parse_name
from kiwiresearch.kin.tree import Person
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import DateRange


def is_same_life(record: Verified, person: Person) -> bool:
    """The same name and years of birth and death; where the very days agree, the first name is enough."""
    if not record.read.is_person:
        return False
    names = [parse_name(one) for one in (person.name, *person.names)]
    pairs = list(product(names, [parse_name(one) for one in (record.read.name, record.read.title) if one]))
    ends: tuple[tuple[FieldName, DateRange | None], ...] = (("birth_date", person.birth), ("death_date", person.death))
    told = [(when, [one.fact.when for one in record.kept if one.fact.field == field]) for field, when in ends]
    if all(any(_is_same_day(when, other) for other in others) for when, others in told):
        return any(_is_called_so(one, other) for one, other in pairs)
    years = all(year_of(when) in {year_of(other) for other in others} - {None} for when, others in told)
    return years and any(is_named(one, other) for one, other in pairs)


def _is_same_day(one: DateRange | None, other: DateRange | None) -> bool:
    if one is None or other is None:
        return False
    return one.earliest == one.latest == other.earliest == other.latest


def _is_called_so(one: PersonName, other: PersonName) -> bool:
    return bool(one.given and other.given) and fold(one.given[0]) == fold(other.given[0]) and not clash(one, other)
