"""Checks beyond a single fact: no competing value is lost, every inference says so, no living person is told of."""

from __future__ import annotations

from collections.abc import Iterable

from kiwiresearch.kin.firewall.violation import Violation, violation
from kiwiresearch.kin.tree import Fact, Person
from kiwiresearch.text.fold import fold


def lost(before: Iterable[Fact], after: Iterable[Fact]) -> tuple[Violation, ...]:
    """Check 10: every value that stood before a write stands after it, with all its evidence."""
    kept = {fact.id: fact for fact in after}
    missing = []
    for fact in sorted(before, key=lambda one: one.id):
        now = kept.get(fact.id)
        same = now and (now.person, now.field, now.value, now.when) == (fact.person, fact.field, fact.value, fact.when)
        if not now or not same or not {one.id for one in fact.evidence} <= {one.id for one in now.evidence}:
            missing.append(violation("HF_046", f"{fact.field} {fact.value}"))
    return tuple(missing)


def unlabelled(hypotheses: Iterable[object]) -> tuple[Violation, ...]:
    """Check 6: whatever a model infers says of itself that it is no fact; saying nothing is not enough."""
    found = []
    for one in hypotheses:
        label = one.get("is_fact") if isinstance(one, dict) else getattr(one, "is_fact", None)
        text = str(one.get("text", "") if isinstance(one, dict) else getattr(one, "text", ""))
        if label is not False:
            found.append(violation("HF_027" if label is None else "HF_026", text[:50]))
    return tuple(found)


def told_of_living(words: str, persons: Iterable[Person]) -> tuple[Violation, ...]:
    """Check 12: names and days of birth of people who live, or may live, in words that leave the program."""
    folded = f" {fold(words)} "
    found = []
    for person in sorted(persons, key=lambda one: one.id):
        if person.living == "deceased":
            continue
        told = [person.name, *person.names, *_days_of(person)]
        if any(said and f" {fold(said)} " in folded for said in told):
            found.append(violation("HF_052", person.id))
    return tuple(found)


def _days_of(person: Person) -> tuple[str, ...]:
    exact = person.birth if person.birth and person.birth.precision == "day" else None
    return (exact.words(), exact.edtf()) if exact else ()
