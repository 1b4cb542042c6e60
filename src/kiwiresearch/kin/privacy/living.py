"""Who may be living: the latest possible birth of each person, and one rule; without data they count as living.

All limits of ages are in one module, since each depends on the others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.language import ENGLISH
from kiwiresearch.kin.names import PersonName, parse_name
from kiwiresearch.kin.plausibility import YOUNGEST_PARENT, YOUNGEST_SPOUSE
from kiwiresearch.kin.privacy.text_parts import has_modern_clue
from kiwiresearch.kin.tree import (
    DEATH_FIELDS,
    NOT_BY_BIRTH,
    FieldName,
    LivingStatus,
    Person,
    PersonId,
    Relationship,
    Status,
    Tree,
)
from kiwiresearch.messages import Message
from kiwiresearch.text import fold
from kiwiresearch.text.dates import ENDLESS_DAY, DateRange, day_at

OLDEST_MOTHER = 58
OLDEST_FATHER = 90
"""The oldest parent assumed when a parent's dates bound a birth.

In a tree, only parents older than `plausibility.OLDEST_PARENT` are doubted.
"""
MAX_SPOUSE_GAP = 60
MAX_SIBLING_GAP = OLDEST_FATHER - YOUNGEST_PARENT
"""They may be children of the same father by two mothers."""
DOUBTFUL_GAP = 60
"""Years more for a child who is perhaps another's: nobody is taken for the child of somebody of another century."""
MAX_TIES_AWAY = 24
"""How many ties a date is passed along; further away it is of little use, and a wrong tie would mislead."""
BELIEVED_STATUSES: frozenset[Status] = frozenset({"verified", "unverified", "conflicting"})
BY_SIBLING = Message("a sibling's dates", "ground.sibling")
BY_SPOUSE = Message("a spouse's dates", "ground.spouse")
BY_PARENT = Message("a parent's dates", "ground.parent")
BY_CHILD = Message("a child's dates", "ground.child")


@dataclass(frozen=True, slots=True)
class BirthBound:
    """A year, and the kind of evidence it comes from, never the person."""

    year: int
    basis: Message


@dataclass(frozen=True, slots=True)
class OwnDates:
    """Years that a person's own dates give, each None if no date gives it; several sources may disagree."""

    latest_birth: int | None
    """The last year in which the person can have been born, by the dates of birth, or else of baptism."""
    latest_death: int | None
    first_marriage_by: int | None
    """The last year in which the first marriage can have been."""
    earliest_birth: int | None
    """The first year in which any source lets the person be born."""


@dataclass(frozen=True, slots=True)
class BirthStep:
    """From a relative's year of birth to the person's, which is at most `years` later."""

    relative: PersonId
    years: int
    basis: Message


def latest_possible_year(when: DateRange | None) -> int | None:
    """The last year that agrees with a date; None for 'after 1950'."""
    if when is None or when.possible_days()[1] >= ENDLESS_DAY:
        return None
    return day_at(when.possible_days()[1]).year


def earliest_possible_year(when: DateRange | None) -> int | None:
    if when is None or when.possible_days()[0] <= -ENDLESS_DAY:
        return None
    return day_at(when.possible_days()[0]).year


def own_dates(tree: Tree) -> dict[PersonId, OwnDates]:
    """The dates of each person; if sources disagree on a birth or death, the latest counts, of marriages the first."""
    married: dict[PersonId, list[DateRange]] = defaultdict(list)
    for tie in tree.relationships:
        if tie.kind == "spouse_of" and tie.start and is_believed(tie):
            married[tie.first].append(tie.start)
            married[tie.second].append(tie.start)
    return {person.id: _own(tree, person, married[person.id]) for person in tree.persons.values()}


def is_believed(tie: Relationship) -> bool:
    return tie.status in BELIEVED_STATUSES and tie.qualifier != "disputed"


def believed_dates(tree: Tree, person: PersonId, *fields: FieldName) -> list[DateRange]:
    """The dates that sources give for some events of a person's life."""
    facts = (fact for field in fields for fact in tree.facts_of(person, field))
    return [fact.when for fact in facts if fact.when and fact.status in BELIEVED_STATUSES]


def _own(tree: Tree, person: Person, weddings: list[DateRange]) -> OwnDates:
    births = [*([person.birth] if person.birth else []), *believed_dates(tree, person.id, "birth_date")]
    baptisms = believed_dates(tree, person.id, "baptism_date")
    deaths = _deaths(tree, person)
    marriages = [*weddings, *believed_dates(tree, person.id, "marriage_date")]
    born = _latest(map(latest_possible_year, births or baptisms))
    if births and born is None:  # 'born after 1950': nothing else may make such a person older
        return OwnDates(None, None, None, _earliest(map(earliest_possible_year, births)))
    return OwnDates(
        born,
        _latest(map(latest_possible_year, deaths)),
        _earliest(map(latest_possible_year, marriages)),
        _earliest(map(earliest_possible_year, births)) if births else None,
    )


def _latest(years: Iterable[int | None]) -> int | None:
    return max((year for year in years if year is not None), default=None)


def _earliest(years: Iterable[int | None]) -> int | None:
    return min((year for year in years if year is not None), default=None)


def latest_births(tree: Tree, dates: Mapping[PersonId, OwnDates]) -> dict[PersonId, BirthBound]:
    """The latest year of birth of each person for whom there is any evidence.

    A person's own date of birth takes precedence: a relative who makes it impossible is the wrong one.
    """
    fixed = {person for person, own in dates.items() if own.latest_birth is not None or own.earliest_birth is not None}
    known = {person: bound for person, own in dates.items() if (bound := _from_own(own))}
    steps = _steps(tree)
    for child, bound in _from_deaths(tree, dates):
        if child in dates and child not in fixed:
            _lower(known, child, (bound,))
    # Relaxation as in the algorithm of Bellman and Ford: each round reads only what the one before found.
    for _ in range(MAX_TIES_AWAY):
        before = dict(known)
        for person, steps_to in steps.items():
            if person not in fixed:
                reached = (
                    BirthBound(before[step.relative].year + step.years, step.basis)
                    for step in steps_to
                    if step.relative in before
                )
                _lower(known, person, reached)
        if known == before:
            break
    return known


def _lower(known: dict[PersonId, BirthBound], person: PersonId, bounds: Iterable[BirthBound]) -> None:
    for bound in bounds:
        if person not in known or bound.year < known[person].year:
            known[person] = bound


def _from_own(own: OwnDates) -> BirthBound | None:
    if own.latest_birth is not None:
        return BirthBound(own.latest_birth, Message("the date of birth", "ground.birth"))
    if own.earliest_birth is not None:
        return None
    found = []
    if own.latest_death is not None:
        found.append(BirthBound(own.latest_death, Message("the date of death", "ground.death")))
    if own.first_marriage_by is not None:
        basis = Message("the date of a marriage", "ground.marriage")
        found.append(BirthBound(own.first_marriage_by - YOUNGEST_SPOUSE, basis))
    return min(found, key=lambda bound: bound.year, default=None)


def _from_deaths(tree: Tree, dates: Mapping[PersonId, OwnDates]) -> Iterable[tuple[PersonId, BirthBound]]:
    """Nobody is born after the mother's death or over a year after the father's, or marries a dead person."""
    for tie in filter(is_believed, tree.relationships):
        if tie.kind in ("spouse_of", "partner_of"):
            for item, other in ((tie.first, tie.second), (tie.second, tie.first)):
                if (died := _died(dates.get(other))) is not None:
                    basis = Message("the death of a spouse", "ground.spouse_death")
                    yield item, BirthBound(died - YOUNGEST_SPOUSE, basis)
            continue
        died = _died(dates.get(tie.first))
        if died is not None and tie.kind == "parent_of" and tie.qualifier not in NOT_BY_BIRTH:
            late = 0 if tree.persons[tie.first].sex == "female" else 1
            yield tie.second, BirthBound(died + late, Message("the death of a parent", "ground.parent_death"))


def _died(own: OwnDates | None) -> int | None:
    """The year of a death, unless it is before the birth: then either may be wrong."""
    if (
        own is None
        or own.latest_death is None
        or (own.latest_birth is not None and own.latest_death < own.latest_birth)
    ):
        return None
    return own.latest_death


def _steps(tree: Tree) -> dict[PersonId, list[BirthStep]]:
    steps: dict[PersonId, list[BirthStep]] = defaultdict(list)
    looped = _people_in_cycles(tree)
    for tie in tree.relationships:
        if not {tie.first, tie.second} <= tree.persons.keys():
            continue
        if tie.kind == "parent_of" and tie.qualifier == "disputed" and tie.status in BELIEVED_STATUSES:
            steps[tie.second].append(BirthStep(tie.first, OLDEST_FATHER + DOUBTFUL_GAP, BY_PARENT))
        if not is_believed(tie):
            continue
        if tie.kind != "parent_of":
            if tie.kind == "sibling_of" and (first_born := _first_born(tree, tie)):
                other = tie.second if first_born == tie.first else tie.first
                steps[first_born].append(BirthStep(other, 0, BY_SIBLING))
            apart = MAX_SIBLING_GAP if tie.kind == "sibling_of" else MAX_SPOUSE_GAP
            basis = BY_SIBLING if tie.kind == "sibling_of" else BY_SPOUSE
            steps[tie.first].append(BirthStep(tie.second, apart, basis))
            steps[tie.second].append(BirthStep(tie.first, apart, basis))
        elif not {tie.first, tie.second} <= looped:
            by_birth = tie.qualifier not in NOT_BY_BIRTH
            mother = by_birth and tree.persons[tie.first].sex == "female"
            steps[tie.second].append(BirthStep(tie.first, OLDEST_MOTHER if mother else OLDEST_FATHER, BY_PARENT))
            steps[tie.first].append(BirthStep(tie.second, -YOUNGEST_PARENT if by_birth else MAX_SPOUSE_GAP, BY_CHILD))
    return steps


def _first_born(tree: Tree, tie: Relationship) -> PersonId | None:
    """Who of two siblings was born first, if a quote says so and none the opposite: 'his elder brother, Max'."""
    quotes = [item.snippet for item in tie.evidence]
    if not any("lde" in quote or "oung" in quote for quote in quotes):
        return None
    ends = (tie.first, tie.second)
    given = [{fold(name.given[0]) for name in _names(tree.persons[end]) if name.given} for end in ends]
    found: set[PersonId] = set()
    for quote in quotes:
        for pattern, is_elder in ((ENGLISH.elder_sibling, True), (ENGLISH.younger_sibling, False)):
            for words in pattern.finditer(quote):
                after = FIRST_WORDS.match(quote, words.end())
                named = parse_name(after[0]).given[:1] if after else ()
                which = [at for at in (0, 1) if named and fold(named[0]) in given[at]]
                if len(which) == 1:
                    found.add(ends[which[0] if is_elder else 1 - which[0]])
    return found.pop() if len(found) == 1 else None


FIRST_WORDS = re.compile(r"[^\s,;.()]*(?: [^\s,;.()]+){0,3}")


def _names(person: Person) -> list[PersonName]:
    return [parse_name(name) for name in (person.name, *person.names)]


def _people_in_cycles(tree: Tree) -> set[PersonId]:
    """People who are their own ancestors, and those between two such; their ties cannot be used to estimate dates."""
    parents: dict[PersonId, set[PersonId]] = defaultdict(set)
    children: dict[PersonId, set[PersonId]] = defaultdict(set)
    for tie in filter(is_believed, tree.relationships):
        if tie.kind == "parent_of":
            parents[tie.second].add(tie.first)
            children[tie.first].add(tie.second)
    # People without parents or without children are removed until none are left; the rest are in or between cycles.
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


MAX_AGE = 110
"""Anyone born longer ago counts as dead; `plausibility.OLDEST_AGE` says how the age limits differ."""
MAX_AGE_IF_MARKED = 122
"""A 'living' mark is believed up to this age: nobody has been older."""
SPECIFICATION_AGE = 100
"""Below this age, the specification's `is_likely_living` takes a person for living; nothing else uses it."""


@dataclass(frozen=True, slots=True)
class LivingVerdict:
    """Whether a person may be alive; `why` contains neither names nor dates."""

    status: LivingStatus
    why: Message
    born_by: int | None = None
    """The latest year of birth that the evidence allows. As private as the person."""

    @property
    def is_withheld(self) -> bool:
        """Whether the person must be treated as living."""
        return self.status != "deceased"


def living_verdicts(
    tree: Tree, year: int, *, years_after_death: int = 0, overrides: Mapping[PersonId, LivingStatus] | None = None
) -> Mapping[PersonId, LivingVerdict]:
    """The living status of everybody in the tree, as of a year.

    `overrides` is the user's decision, and wins. `years_after_death` treats the dead as living for that long.
    `Person.living` is a result of this function, so only a 'living' mark is read, and a death overrides it.
    """
    if years_after_death < 0:
        raise BadSettings(
            f"The setting 'years_after_death' cannot be {years_after_death!r}.", remedy="Use 0 or more years."
        )
    stated = overrides or {}
    dates = own_dates(tree)
    bounds = latest_births(tree, dates)
    by_user = Message("set by hand", "living.user_says")
    return {
        person.id: LivingVerdict(stated[person.id], by_user, _year_of(bounds.get(person.id)))
        if person.id in stated
        else _verdict(tree, person, dates[person.id], bounds.get(person.id), year, years_after_death)
        for person in tree.persons.values()
    }


def _year_of(bound: BirthBound | None) -> int | None:
    return bound.year if bound else None


def _verdict(
    tree: Tree, person: Person, own: OwnDates, bound: BirthBound | None, year: int, years_after_death: int
) -> LivingVerdict:
    born = _year_of(bound)
    age = None if born is None else year - born
    if _is_death_stated(tree, person, own, year):
        passed = _years_since(tree, person, year)
        is_long_ago = passed is not None and passed >= years_after_death
        if not years_after_death or is_long_ago or (age is not None and age > MAX_AGE + years_after_death):
            return LivingVerdict("deceased", Message("a source mentions their death", "living.death_told"), born)
        english = f"died, possibly less than {years_after_death} years ago"
        why = Message(english, "living.lately_dead", n=years_after_death)
        return LivingVerdict("living", why, born)
    if age is None or bound is None:
        return LivingVerdict("unknown", Message("no date shows how old the person would be", "living.no_date"))
    limit = (MAX_AGE_IF_MARKED if person.living == "living" else MAX_AGE) + years_after_death
    if age > limit:
        english = f"born more than {limit} years ago, judging by {bound.basis}"
        return LivingVerdict("deceased", Message(english, "living.long_ago", n=limit, ground=bound.basis), born)
    english = f"probably born {limit} years ago or less, judging by {bound.basis}"
    return LivingVerdict("living", Message(english, "living.not_long_ago", n=limit, ground=bound.basis), born)


def _deaths(tree: Tree, person: Person) -> list[DateRange]:
    return [*([person.death] if person.death else []), *believed_dates(tree, person.id, "death_date", "burial_date")]


def _is_death_stated(tree: Tree, person: Person, own: OwnDates, year: int) -> bool:
    """Whether any evidence says that the person died, with a plausible date or without one."""
    deaths = _deaths(tree, person)
    if deaths:
        return any(_is_possible_death(death, own, year) for death in deaths)
    return (
        person.is_dead
        or bool(person.death_place)
        or any(fact.field in DEATH_FIELDS and fact.status in BELIEVED_STATUSES for fact in tree.facts_of(person.id))
    )


def _is_possible_death(death: DateRange, own: OwnDates, year: int) -> bool:
    """Whether a date of death can be right: not in the future, nor before a birth in living memory."""
    first, last = earliest_possible_year(death), latest_possible_year(death)
    if first is not None and first > year:
        return False
    if own.earliest_birth is None or last is None or last >= own.earliest_birth:
        return True
    return year - (own.latest_birth or year) > MAX_AGE


def _years_since(tree: Tree, person: Person, year: int) -> int | None:
    """Years since the death, if every source dates it."""
    years = [latest_possible_year(death) for death in _deaths(tree, person)]
    known = [item for item in years if item is not None]
    return year - max(known) if known and len(known) == len(years) else None


def is_likely_living(person: Person, year: int, *, texts: Iterable[str] = ()) -> bool:
    """The check of a single person that the specification requires under this name: not living if nothing is known.

    It counts people without dates as dead, unless `texts` (what sources say about them) has
    an e-mail address or the like. Evaluations compare with it; exports use `living_verdicts`.
    """
    if person.living == "living":
        return True
    if person.death is not None:
        return False
    born = latest_possible_year(person.birth)
    if born is not None and year - born < SPECIFICATION_AGE:
        return True
    return person.birth is None and any(has_modern_clue(text) for text in texts)
