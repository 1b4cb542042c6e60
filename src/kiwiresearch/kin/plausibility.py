"""Dates and relationships that cannot be right, in a tree or for one competing value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.kin.tree import DISCARDED, NOT_BY_BIRTH, Fact, FieldName, Person, PersonId, Relationship, Tree
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import DateRange, DateText

OLDEST_AGE = 120
"""Above this age, dates are doubted. `privacy.living.MAX_AGE` (110): without a date of death, a person born longer ago
counts as dead. `extract.life_dates.MAX_AGE` (122): a longer span in brackets is not a lifespan."""
YOUNGEST_PARENT = 12
OLDEST_PARENT = 60
"""Mothers over 60 are so rare, and fathers rare enough, that a wrong generation is far likelier.

Here a higher age is only doubted. `privacy.living` has other limits (58 and 90): there a parent's dates bound a birth.
"""
YOUNGEST_SPOUSE = 12
DAYS_PER_YEAR = 365.2425
POSTHUMOUS_DAYS = 300
"""How long after its father's death a child can be born."""

ImplausibilityKind = Literal[
    "died before birth", "too old", "parent too young", "parent too old", "parent dead", "married too young",
    "married before birth", "married after death", "baptised before birth", "buried before death",
    "ended before it began", "own ancestor", "own relative",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Implausibility:
    """An impossibility in the tree, whom it concerns, and which facts it makes doubtful."""

    kind: ImplausibilityKind
    persons: tuple[PersonId, ...]
    sentence: str
    facts: tuple[str, ...] = ()
    """Ids of the facts, preferred or not, that give the dates in question."""
    relationships: tuple[str, ...] = ()

    code = "HF_051"
    """A firewall code, see `firewall.violations`."""


def find_implausible(tree: Tree) -> tuple[Implausibility, ...]:
    """All implausibilities, in the order of their people and ties."""
    people = [tree.persons[key] for key in sorted(tree.persons)]
    ties = [tie for tie in tree.relationships if tie.status not in DISCARDED]
    found = [problem for person in people for problem in _life_problems(tree, person)]
    found += [problem for tie in ties for problem in _tie_problems(tree, tie)]
    found += _cycles(ties)
    return tuple(found)


def _life_problems(tree: Tree, person: Person) -> Iterator[Implausibility]:
    birth, death = person.birth, person.death
    about = (person.id,)
    if birth and death and _surely_before(death, birth):
        given = _fact_ids(tree, person, "birth_date", "death_date")
        yield Implausibility("died before birth", about, f"{person.name!r} would have died before being born.", given)
    elif birth and death and _is_too_old(birth, death):
        given = _fact_ids(tree, person, "birth_date", "death_date")
        yield Implausibility("too old", about, f"{person.name!r} would have lived more than {OLDEST_AGE} years.", given)
    for fact in tree.facts_of(person.id):
        yield from _event_problems(person, fact)


def _event_problems(person: Person, fact: Fact) -> Iterator[Implausibility]:
    when, about = fact.when, (person.id,)
    if when is None or fact.status in DISCARDED:
        return
    if fact.field == "baptism_date" and person.birth and _surely_before(when, person.birth):
        yield Implausibility(
            "baptised before birth", about, f"{person.name!r} would have been baptised before being born.", (fact.id,)
        )
    if fact.field == "burial_date" and person.death and _surely_before(when, person.death):
        yield Implausibility(
            "buried before death", about, f"{person.name!r} would have been buried before dying.", (fact.id,)
        )
    if fact.field == "marriage_date":
        yield from _marriage_problems(person, when, about, (fact.id,), ())


def _tie_problems(tree: Tree, tie: Relationship) -> Iterator[Implausibility]:
    first, second = tree.persons.get(tie.first), tree.persons.get(tie.second)
    if tie.first == tie.second:
        yield Implausibility(
            "own relative", (tie.first,), f"{tie.first!r} is listed as their own relative.", (), (tie.id,)
        )
    elif first and second and tie.kind == "parent_of":
        yield from _parent_problems(first, second, tie)
    elif first and second and tie.kind == "spouse_of":
        for person in (first, second) if tie.start else ():
            yield from _marriage_problems(person, tie.start, (first.id, second.id), (), (tie.id,))
        if tie.start and tie.end and _surely_before(tie.end, tie.start):
            said = f"The marriage of {first.name!r} and {second.name!r} ended before it began."
            yield Implausibility("ended before it began", (first.id, second.id), said, (), (tie.id,))


def _parent_problems(parent: Person, child: Person, tie: Relationship) -> Iterator[Implausibility]:
    if tie.qualifier in NOT_BY_BIRTH or child.birth is None:
        return
    about, tie_words = (parent.id, child.id), f"{parent.name!r} as a parent of {child.name!r}"
    if parent.birth and _is_young_parent(parent.birth, child.birth):
        yield Implausibility(
            "parent too young", about, f"{tie_words} would be younger than {YOUNGEST_PARENT}.", (), (tie.id,)
        )
    if parent.birth and _is_old_parent(parent.birth, child.birth):
        yield Implausibility(
            "parent too old", about, f"{tie_words} would be older than {OLDEST_PARENT}.", (), (tie.id,)
        )
    grace = 0 if parent.sex == "female" else POSTHUMOUS_DAYS
    if parent.death and parent.death.possible_days()[1] + grace < child.birth.possible_days()[0]:
        yield Implausibility("parent dead", about, f"{tie_words} would have died before the birth.", (), (tie.id,))


def _marriage_problems(
    person: Person, when: DateRange | None, about: tuple[str, ...], facts: tuple[str, ...], ties: tuple[str, ...]
) -> Iterator[Implausibility]:
    if when is None:
        return
    if person.birth and _surely_before(when, person.birth):
        yield Implausibility(
            "married before birth", about, f"{person.name!r} would have married before being born.", facts, ties
        )
    elif person.birth and _years_at_most(person.birth, when) < YOUNGEST_SPOUSE:
        said = f"{person.name!r} would have married before the age of {YOUNGEST_SPOUSE}."
        yield Implausibility("married too young", about, said, facts, ties)
    if person.death and _surely_before(person.death, when):
        yield Implausibility(
            "married after death", about, f"{person.name!r} would have married after dying.", facts, ties
        )


def _cycles(ties: list[Relationship]) -> list[Implausibility]:
    """Each cycle of parents and children once, starting at its smallest id."""
    children: dict[PersonId, list[tuple[PersonId, str]]] = {}
    for tie in ties:
        if tie.kind == "parent_of" and tie.first != tie.second:
            children.setdefault(tie.first, []).append((tie.second, tie.id))
    found: dict[frozenset[str], Implausibility] = {}
    done: set[PersonId] = set()
    for start in sorted(children):
        if start not in done:
            for loop in _loops_from(start, children, done):
                found.setdefault(frozenset(loop), _cycle(loop, ties))
    return sorted(found.values(), key=lambda problem: problem.persons)


def _loops_from(
    start: PersonId, children: dict[PersonId, list[tuple[PersonId, str]]], done: set[PersonId]
) -> Iterator[tuple[PersonId, ...]]:
    """The cycles found on the way down; without recursion, since a tree may be thousands of generations deep."""
    # Depth-first: `at` has the people of the path with their next child; those in `done` lead to no further cycle.
    path, at = [start], {start: 0}
    while path:
        below = sorted(children.get(path[-1], ()))
        number = at[path[-1]]
        if number == len(below):
            done.add(path[-1])
            del at[path.pop()]
            continue
        at[path[-1]] += 1
        child = below[number][0]
        if child in at:
            yield tuple(path[path.index(child) :])
        elif child not in done:
            path.append(child)
            at[child] = 0


def _cycle(loop: tuple[PersonId, ...], ties: list[Relationship]) -> Implausibility:
    least = loop.index(min(loop))
    turned = (*loop[least:], *loop[:least])
    steps = set(zip(turned, (*turned[1:], turned[0]), strict=True))
    ids = tuple(sorted(tie.id for tie in ties if tie.kind == "parent_of" and (tie.first, tie.second) in steps))
    return Implausibility("own ancestor", turned, f"{turned[0]!r} would be their own ancestor.", (), ids)


def _fact_ids(tree: Tree, person: Person, *fields: str) -> tuple[str, ...]:
    return tuple(fact.id for fact in tree.facts_of(person.id) if fact.field in fields and fact.when)


def _surely_before(one: DateRange, other: DateRange) -> bool:
    return one.possible_days()[1] < other.possible_days()[0]


def _years_at_least(first: DateRange, last: DateRange) -> float:
    """The shortest possible time between two dates."""
    return (last.possible_days()[0] - first.possible_days()[1]) / DAYS_PER_YEAR


def _years_at_most(first: DateRange, last: DateRange) -> float:
    """The longest possible time between two dates."""
    return (last.possible_days()[1] - first.possible_days()[0]) / DAYS_PER_YEAR


def _is_too_old(birth: DateRange, death: DateRange) -> bool:
    # Ages are in completed years, so 120 years and a day are not yet too many.
    return _years_at_least(birth, death) >= OLDEST_AGE + 1


def _is_young_parent(birth: DateRange, child: DateRange) -> bool:
    return _years_at_most(birth, child) < YOUNGEST_PARENT


def _is_old_parent(birth: DateRange, child: DateRange) -> bool:
    return _years_at_least(birth, child) >= OLDEST_PARENT + 1


def date_problem(tree: Tree, person: PersonId, field: FieldName, when: DateRange | None) -> Message:
    """What is wrong with a date by itself; empty if nothing is."""
    if when is None or field not in ("birth_date", "death_date", "baptism_date", "burial_date"):
        return Message("")
    found = (
        _birth_date_problems(tree, person, when) if field == "birth_date" else _later_date_problems(tree, person, when)
    )
    return next(found, Message(""))


def _later_date_problems(tree: Tree, person: PersonId, when: DateRange) -> Iterator[Message]:
    birth = tree.persons[person].birth
    if birth:
        if _surely_before(when, birth):
            yield Message(f"it is before the birth ({birth.words()})", "conflict.before_birth", date=DateText(birth))
        if _is_too_old(birth, when):
            text = f"it is more than {OLDEST_AGE} years after the birth ({birth.words()})"
            yield Message(text, "conflict.long_after_birth", years=OLDEST_AGE, date=DateText(birth))


def _birth_date_problems(tree: Tree, person: PersonId, when: DateRange) -> Iterator[Message]:
    death = tree.persons[person].death
    if death and _surely_before(death, when):
        yield Message(f"it is after the death ({death.words()})", "conflict.after_death", date=DateText(death))
    if death and _is_too_old(when, death):
        text = f"it is more than {OLDEST_AGE} years before the death ({death.words()})"
        yield Message(text, "conflict.long_before_death", years=OLDEST_AGE, date=DateText(death))
    for child in tree.children(person):
        born = tree.persons[child].birth if child in tree.persons else None
        if born and _is_young_parent(when, born):
            name = tree.persons[child].name
            text = f"it is too late for a parent of {quoted_name(name)} (born {born.words()})"
            yield Message(text, "conflict.late_for_parent", child=name, date=DateText(born))
    for parent in tree.parents(person):
        known = tree.persons.get(parent)
        if known is None or known.birth is None:
            continue
        if _is_young_parent(known.birth, when) or _is_old_parent(known.birth, when):
            text = f"it does not fit the age of the parent {quoted_name(known.name)} (born {known.birth.words()})"
            yield Message(text, "conflict.age_of_parent", parent=known.name, date=DateText(known.birth))


def quoted_name(name: str) -> str:
    """A name in quotes, but not the words that replace the name of a person who may be living."""
    return name if isinstance(name, Message) else f"“{name}”"
