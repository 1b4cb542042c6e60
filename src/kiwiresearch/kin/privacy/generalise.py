"""What the owner's own circle may see of the living: decades for dates, states and countries for places."""

from __future__ import annotations

from dataclasses import replace

from kiwiresearch.kin.fields import DATES, PLACES, RELATIONS
from kiwiresearch.kin.privacy.contacts import without_contacts
from kiwiresearch.kin.privacy.hidden import Hidden
from kiwiresearch.kin.privacy.regions import region
from kiwiresearch.kin.privacy.wording import MARRIAGE, WITHHELD
from kiwiresearch.kin.tree import Evidence, Fact, Person, PersonId, Relationship, Tree
from kiwiresearch.text.dates.units import years
from kiwiresearch.text.when import DateRange


def decade(when: DateRange | None) -> DateRange | None:
    """'3 May 1990' as the 1990s; a range as the decades it touches. Open ranges and times before Christ as nothing."""
    if when is None or when.qualifier in ("before", "after") or when.first_year < 1:
        return None
    first, last = (year // 10 * 10 for year in (when.first_year, when.last_year))
    span = years(max(first, 1), last + 9)
    return DateRange(span.earliest, span.latest, "decade", lasts=when.lasts and first != last)


def private_tree(hidden: Hidden) -> Tree:
    """The tree with names and ties of everybody, and no more than a decade and a state of the living."""
    tree = hidden.tree
    persons = {one.id: _person(one) if hidden.hides(one.id) else one for one in tree.persons.values()}
    ties = tuple(_tie(tie, hidden) for tie in tree.relationships)
    facts = tuple(less for fact in tree.facts if (less := _fact(fact, hidden)))
    return Tree(persons, ties, facts, tree.sources)


def _person(person: Person) -> Person:
    return replace(
        person,
        birth=decade(person.birth),
        birth_place=region(person.birth_place),
        death=None,
        death_place="",
        is_dead=False,
        living="living",
        external={},
    )


def _tie(tie: Relationship, hidden: Hidden) -> Relationship:
    if not any(map(hidden.hides, (tie.first, tie.second))):
        evidence = _scrubbed(tie.evidence, hidden, tie.first, tie.second)
        return tie if evidence == tie.evidence else replace(tie, evidence=evidence)
    return replace(tie, start=decade(tie.start), end=decade(tie.end), evidence=tuple(map(_wordless, tie.evidence)))


def _fact(fact: Fact, hidden: Hidden) -> Fact | None:
    """A fact made less exact where it must be; none where nothing would be left, or the birthday be told."""
    shared = fact.field in MARRIAGE and hidden.shares_marriage(fact.person)
    if not hidden.hides(fact.person) and not shared:
        evidence = _scrubbed(fact.evidence, hidden, fact.person)
        # Of a spouse, the date is that of the marriage.
        theirs = fact.when and fact.field in RELATIONS and hidden.names_hidden(fact)
        when = decade(fact.when) if theirs else fact.when
        return fact if (evidence, when) == (fact.evidence, fact.when) else replace(fact, evidence=evidence, when=when)
    if fact.field in ("baptism_date", "baptism_place"):
        return None
    less = replace(fact, when=decade(fact.when), evidence=tuple(map(_wordless, fact.evidence)))
    if fact.field in DATES:
        return replace(less, value=less.when.edtf()) if less.when else None
    if fact.field in PLACES:
        place = region(fact.value)
        return replace(less, value=place, when=None) if place else None
    return replace(less, value=WITHHELD if _tells(fact.value, hidden) else without_contacts(fact.value))


def _scrubbed(evidence: tuple[Evidence, ...], hidden: Hidden, *people: PersonId) -> tuple[Evidence, ...]:
    return tuple(
        _wordless(one) if any(_tells(text, hidden, *people) for text in (one.snippet, one.rationale)) else one
        for one in evidence
    )


def _tells(text: str, hidden: Hidden, *people: PersonId) -> bool:
    """Whether a text gives a date or a place of somebody hidden; names may be told here."""
    told = any(trace.kind != "name" for trace in hidden.traces.find(text))
    return told or hidden.told_near(text, people, names=False)


def _wordless(one: Evidence) -> Evidence:
    """Evidence without its words: a snippet repeats just what the field no longer says."""
    return replace(one, snippet=WITHHELD, start=-1, end=-1, locator="", rationale="")
