"""Who may be alive: one rule, used wherever it matters; nothing known counts as living."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.privacy.births import BELIEVED, Bound, Dates, born_by, first_year, last_year, own_dates, whens
from kiwiresearch.kin.privacy.contacts import has_modern_clue
from kiwiresearch.kin.tree import Person, PersonId, Tree
from kiwiresearch.text.when import DateRange

OLDEST = 110
"""Whoever was born more than so many years ago is taken for dead."""
OLDEST_MARKED = 122
"""A mark that says living is believed up to this age: nobody has been older."""
SEED_YEARS = 100
DEATHS = ("death_date", "death_place", "burial_date", "burial_place")


@dataclass(frozen=True, slots=True)
class LivingVerdict:
    """Whether a person may be alive; `why` names no one, and gives no date."""

    status: Living
    why: str
    born_by: int | None = None
    """The latest year of birth that the evidence leaves open. As private as the person is."""

    @property
    def hidden(self) -> bool:
        """Whether the person must be treated as living."""
        return self.status != "deceased"


def living_status(
    tree: Tree, year: int, *, years_after_death: int = 0, overrides: Mapping[PersonId, Living] | None = None
) -> Mapping[PersonId, LivingVerdict]:
    """The verdict on everybody in the tree, as of a year.

    `overrides` is what the user says, and wins. `years_after_death` keeps the
    dead private for so long. `Person.living` is an outcome of this function, so
    only a mark that says living is looked at, and it yields to a death.
    """
    if years_after_death < 0:
        raise BadSettings(
            f"years_after_death is {years_after_death!r}, and cannot be less than nothing.",
            remedy="Give 0 or a number of years.",
        )
    told = overrides or {}
    dates = own_dates(tree)
    bounds = born_by(tree, dates)
    return {
        person.id: LivingVerdict(told[person.id], "the user says so", _year_of(bounds.get(person.id)))
        if person.id in told
        else _verdict(tree, person, dates[person.id], bounds.get(person.id), year, years_after_death)
        for person in tree.persons.values()
    }


def _year_of(bound: Bound | None) -> int | None:
    return bound.year if bound else None


def _verdict(tree: Tree, person: Person, own: Dates, bound: Bound | None, year: int, grace: int) -> LivingVerdict:
    born = _year_of(bound)
    age = None if born is None else year - born
    if _death_told(tree, person, own, year):
        passed = _years_since(tree, person, year)
        if not grace or (passed is not None and passed >= grace) or (age is not None and age > OLDEST + grace):
            return LivingVerdict("deceased", "a source tells of the death", born)
        return LivingVerdict("living", f"dead, but not known to be so for {grace} years", born)
    if age is None or bound is None:
        return LivingVerdict("unknown", "no date says how old the person would be")
    limit = (OLDEST_MARKED if person.living == "living" else OLDEST) + grace
    if age > limit:
        return LivingVerdict("deceased", f"born more than {limit} years ago, judging by {bound.why}", born)
    return LivingVerdict("living", f"born {limit} years ago or less, as far as {bound.why} tells", born)


def _deaths(tree: Tree, person: Person) -> list[DateRange]:
    return [*([person.death] if person.death else []), *whens(tree, person.id, "death_date", "burial_date")]


def _death_told(tree: Tree, person: Person, own: Dates, year: int) -> bool:
    """Whether anything says that the person died: with a date that can be true, or with none at all."""
    deaths = _deaths(tree, person)
    if deaths:
        return any(_can_be(death, own, year) for death in deaths)
    return (
        person.is_dead
        or bool(person.death_place)
        or any(fact.field in DEATHS and fact.status in BELIEVED for fact in tree.facts_of(person.id))
    )


def _can_be(death: DateRange, own: Dates, year: int) -> bool:
    """A death still to come, or one before a birth in living memory, is a slip of somebody's pen."""
    first, last = first_year(death), last_year(death)
    if first is not None and first > year:
        return False
    if own.first_born is None or last is None or last >= own.first_born:
        return True
    return year - (own.born or year) > OLDEST


def _years_since(tree: Tree, person: Person, year: int) -> int | None:
    """Years since the death, if every source gives a date for it."""
    years = [last_year(death) for death in _deaths(tree, person)]
    known = [one for one in years if one is not None]
    return year - max(known) if known and len(known) == len(years) else None


def is_likely_living(person: Person, year: int, *, texts: Iterable[str] = ()) -> bool:
    """The check as it was first drawn up: alone with one person, and not living when nothing is known.

    It takes people without dates for dead, unless `texts` (what sources say of
    them) has an e-mail address or the like. Exports use `living_status`.
    """
    if person.living == "living":
        return True
    if person.death is not None:
        return False
    born = last_year(person.birth)
    if born is not None and year - born < SEED_YEARS:
        return True
    return person.birth is None and any(has_modern_clue(text) for text in texts)
