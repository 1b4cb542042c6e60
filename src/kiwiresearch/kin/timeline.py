"""The events of a family in order of time, with people's ages as exactly as the dates allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from kiwiresearch.kin.tree import DISCARDED, Fact, FieldName, Person, PersonId, Relationship, SourceId, Status, Tree
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import ENDLESS_DAY, Calendar, DateRange, astronomical_year, date_relation, day_at

EventKind = Literal["birth", "baptism", "marriage", "partnership", "separation", "death", "burial"]
EVENT_ORDER: tuple[EventKind, ...] = get_args(EventKind)
"""The order of events on the same day."""
PERSON_EVENTS: tuple[tuple[EventKind, FieldName, FieldName], ...] = (
    ("birth", "birth_date", "birth_place"),
    ("baptism", "baptism_date", "baptism_place"),
    ("death", "death_date", "death_place"),
    ("burial", "burial_date", "burial_place"),
)
MAX_DAYS = 10**9
"""Beyond this many days an age is not counted."""


@dataclass(frozen=True, slots=True)
class Age:
    """An age in completed years, from the least to the most that the dates allow; None for an unknown bound."""

    least: int | None
    most: int | None

    @property
    def is_impossible(self) -> bool:
        """The event is entirely before the birth."""
        return self.most is not None and self.most < 0

    def words(self) -> Message:
        """'39', '38 or 39', '30 to 42', 'at least 30', 'at most 42'; empty if nothing is known."""
        least, most = None if self.least is None else max(self.least, 0), self.most
        if self.is_impossible:
            return Message("before birth", "age.before_birth")
        if most is None:
            return Message(f"at least {least}", "age.at_least", least=least) if least else Message("")
        if least is None:
            return Message(f"at most {most}", "age.at_most", most=most)
        if least == most:
            return Message(str(most), "age.exactly", most=most)
        if most - least == 1:
            return Message(f"{least} or {most}", "age.either", least=least, most=most)
        return Message(f"{least} to {most}", "age.between", least=least, most=most)


@dataclass(frozen=True, slots=True)
class PersonAge:
    """The age of a person at an event."""

    person: PersonId
    age: Age


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to one or two people, and its evidence."""

    kind: EventKind
    when: DateRange
    people: tuple[PersonId, ...]
    place: str = ""
    ages: tuple[PersonAge, ...] = ()
    """The ages of the people it happened to; for a birth, of the parents."""
    status: Status = "unverified"
    confidence: float = 0.0
    facts: tuple[str, ...] = ()
    """Ids of the facts and ties that support it."""


def age_at(birth: DateRange, when: DateRange) -> Age:
    """The age at a time of a person with this birth."""
    (first, last), (begin, end) = birth.possible_days(), when.possible_days()
    # Birthdays are counted in the calendar of both dates; in different ones, those of the Gregorian calendar.
    calendar: Calendar = "julian" if birth.calendar == when.calendar == "julian" else "gregorian"
    least = _years(last, begin, calendar) if last < ENDLESS_DAY and begin > -ENDLESS_DAY else None
    most = _years(first, end, calendar) if first > -ENDLESS_DAY and end < ENDLESS_DAY else None
    return Age(least, most)


def _years(born: int, then: int, calendar: Calendar) -> int | None:
    """Completed years between two days, counted by birthdays."""
    if max(abs(born), abs(then)) > MAX_DAYS:
        return None
    start, end = day_at(born, calendar), day_at(then, calendar)
    return (
        astronomical_year(end.year) - astronomical_year(start.year) - ((end.month, end.day) < (start.month, start.day))
    )


def timeline(tree: Tree) -> tuple[Event, ...]:
    """The events of all people, earliest first, without undated ones."""
    weddings = _weddings(tree)
    found = [
        event for person in tree.persons.values() for event in _person_events(tree, person, weddings.get(person.id, []))
    ]
    found += [event for tie in tree.relationships for event in _tie_events(tree, tie)]
    return tuple(sorted(found, key=lambda event: _place_in_time(tree, event)))


def _place_in_time(tree: Tree, event: Event) -> tuple[int, int, int, str, str]:
    when = event.when
    # 'Before 1900' is sorted by its end, the only bound it has.
    start = when.latest if when.qualifier == "before" else when.earliest
    return start, when.latest, EVENT_ORDER.index(event.kind), tree.persons[event.people[0]].name, " ".join(event.people)


def _weddings(tree: Tree) -> dict[PersonId, list[DateRange]]:
    """The marriage dates of each person, from their ties."""
    found: dict[PersonId, list[DateRange]] = defaultdict(list)
    for tie in tree.relationships:
        if tie.kind == "spouse_of" and tie.start and tie.status not in DISCARDED:
            found[tie.first].append(tie.start)
            found[tie.second].append(tie.start)
    return found


def _person_events(tree: Tree, person: Person, weddings: list[DateRange]) -> Iterator[Event]:
    for kind, date_field, place_field in PERSON_EVENTS:
        fact = accepted_fact(tree, person.id, date_field)
        when = fact.when if fact else {"birth": person.birth, "death": person.death}.get(kind)
        if when is None:
            continue
        yield Event(
            kind,
            when,
            (person.id,),
            place_of(tree, person, place_field),
            _parents_ages(tree, person, when) if kind == "birth" else _own_age(tree, person, kind, when),
            fact.status if fact else "unverified",
            fact.confidence if fact else person.confidence,
            (fact.id,) if fact else (),
        )
    for fact in tree.facts_of(person.id, "marriage_date"):
        if fact.when is None or fact.status in DISCARDED:
            continue
        # A wedding that a tie has too would be listed twice.
        if all(date_relation(date_range, fact.when) == "apart" for date_range in weddings):
            ages = _ages(tree, (person.id,), fact.when)
            place = place_of(tree, person, "marriage_place")
            yield Event("marriage", fact.when, (person.id,), place, ages, fact.status, fact.confidence, (fact.id,))


def _tie_events(tree: Tree, tie: Relationship) -> Iterator[Event]:
    if tie.kind not in ("spouse_of", "partner_of") or tie.status in DISCARDED:
        return
    people = (tie.first, tie.second)
    if any(person not in tree.persons for person in people):
        return
    begins: EventKind = "marriage" if tie.kind == "spouse_of" else "partnership"
    if tie.start:
        ages = _ages(tree, people, tie.start)
        yield Event(begins, tie.start, people, "", ages, tie.status, tie.confidence, (tie.id,))
    if tie.end and not _ended_by_death(tree, people, tie.end):
        ages = _ages(tree, people, tie.end)
        yield Event("separation", tie.end, people, "", ages, tie.status, tie.confidence, (tie.id,))


def accepted_fact(tree: Tree, person: PersonId, field: FieldName) -> Fact | None:
    """The accepted value: the preferred one, or else the most certain one that was not rejected."""
    facts = (fact for fact in tree.facts_of(person, field) if fact.preferred or fact.status not in DISCARDED)
    return next(facts, None)


def place_of(tree: Tree, person: Person, field: FieldName) -> str:
    """The place of the event, if any source gives it."""
    fact = accepted_fact(tree, person.id, field)
    if fact:
        return fact.value
    return {"birth_place": person.birth_place, "death_place": person.death_place}.get(field, "")


def birth_of(tree: Tree, person: PersonId) -> DateRange | None:
    """The birth of the accepted fact, else of the person."""
    fact = accepted_fact(tree, person, "birth_date")
    return fact.when if fact else tree.persons[person].birth if person in tree.persons else None


def death_of(tree: Tree, person: PersonId) -> DateRange | None:
    """The death of the accepted fact, else of the person."""
    fact = accepted_fact(tree, person, "death_date")
    return fact.when if fact else tree.persons[person].death if person in tree.persons else None


def children_by_birth(tree: Tree, parent: PersonId, children: Iterable[PersonId]) -> list[PersonId]:
    """Children with a known birth first, by date; the others in the order of the source."""

    def key(child: PersonId) -> tuple[int, tuple[SourceId, int]]:
        born = birth_of(tree, child)
        return born.earliest if born else ENDLESS_DAY, tree.evidence_position(parent, child)

    return sorted(children, key=key)


def _ages(tree: Tree, people: tuple[PersonId, ...], when: DateRange) -> tuple[PersonAge, ...]:
    births = ((person, birth_of(tree, person)) for person in people)
    found = (PersonAge(item, age_at(birth, when)) for item, birth in births if birth)
    return tuple(person_age for person_age in found if person_age.age.words())


def _own_age(tree: Tree, person: Person, kind: EventKind, when: DateRange) -> tuple[PersonAge, ...]:
    """The person's age. It is left out for an infant's baptism, and for a burial unless it is impossible."""
    found = _ages(tree, (person.id,), when)
    if kind == "burial":
        return tuple(person_age for person_age in found if person_age.age.is_impossible)
    return tuple(person_age for person_age in found if kind != "baptism" or person_age.age.most != 0)


def _parents_ages(tree: Tree, person: Person, when: DateRange) -> tuple[PersonAge, ...]:
    return _ages(tree, tuple(parent for parent in tree.parents(person.id) if parent in tree.persons), when)


def _ended_by_death(tree: Tree, people: tuple[PersonId, ...], end: DateRange) -> bool:
    """Whether a marriage ended with a death, which is an event of its own."""
    deaths = (death_of(tree, person) for person in people)
    return any(death and date_relation(death, end) != "apart" for death in deaths)
