"""The people of a tree who are withheld: those who may be living, and relatives named only in the facts of others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kiwiresearch.kin.privacy.living import (
    MAX_AGE,
    MAX_SIBLING_GAP,
    MAX_SPOUSE_GAP,
    OLDEST_FATHER,
    OLDEST_MOTHER,
    YOUNGEST_PARENT,
    LivingVerdict,
    living_status,
)
from kiwiresearch.kin.privacy.text_parts import tokens, words
from kiwiresearch.kin.privacy.traces import PARTICLES, KnownTraits, TraceFinder
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    PLACE_FIELDS,
    RELATION_FIELDS,
    Fact,
    FieldName,
    LivingStatus,
    Person,
    PersonId,
    Tree,
)
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.ranges import DateRange

LIVING_NAME = Message("Living", "person.living")
WITHHELD = Message("[withheld: it speaks of living people]", "person.withheld")
MARRIAGE_FIELDS: tuple[FieldName, ...] = ("marriage_date", "marriage_place")
"""What two people share: the marriage of a dead person is the living one's as well."""


@dataclass(frozen=True)
class HiddenPeople:
    """The people of a tree who are kept back, each with a number that says nothing about them."""

    tree: Tree
    year: int
    verdicts: Mapping[PersonId, LivingVerdict]

    @cached_property
    def numbers(self) -> Mapping[PersonId, int]:
        """Numbers of hidden people, and after them of hidden strangers."""
        people = sorted(person for person, verdict in self.verdicts.items() if verdict.hidden)
        return {one: number for number, one in enumerate((*people, *self.strangers), 1)}

    @cached_property
    def strangers(self) -> tuple[str, ...]:
        """Names of relatives who are nobody in the tree, and who may be alive as far as anybody can tell."""
        return tuple(sorted({fact.value for fact in self.tree.facts if self._names_a_stranger(fact)}))

    @cached_property
    def traces(self) -> TraceFinder:
        """What finds hidden people in a text."""
        known = {one: self.known[one] for one in self.verdicts if self.hides(one)}
        known |= {name: KnownTraits(names=(name,)) for name in self.strangers}
        return TraceFinder(known, [self.known[one] for one in self.verdicts if not self.hides(one)])

    @cached_property
    def known(self) -> Mapping[PersonId, KnownTraits]:
        """What everybody can be found by; what two share is the hidden one's alone."""
        shared: dict[PersonId, list[DateRange]] = defaultdict(list)
        places: dict[PersonId, list[str]] = defaultdict(list)
        for tie in self.tree.relationships:
            ends = (tie.first, tie.second)
            for one in [one for one in ends if self.hides(one)] or ends:
                shared[one] += [when for when in (tie.start, tie.end) if when]
        for fact in self.tree.facts:
            if fact.field in MARRIAGE_FIELDS:
                spouses = [one for one in self.tree.spouses(fact.person) if self.hides(one)]
                for one in spouses or [fact.person]:
                    shared[one] += [fact.when] if fact.when else []
                    places[one] += [fact.value] if fact.field == "marriage_place" else []
        return {one.id: self._known(one, shared[one.id], places[one.id]) for one in self.tree.persons.values()}

    def _known(self, person: Person, dates: list[DateRange], places: list[str]) -> KnownTraits:
        facts = [
            fact for fact in self.tree.facts_of(person.id) if fact.field not in MARRIAGE_FIELDS or self.hides(person.id)
        ]
        return KnownTraits(
            names=self._names(person),
            dates=(
                *(when for when in (person.birth, person.death) if when),
                *dates,
                *(fact.when for fact in facts if fact.when and fact.field in DATE_FIELDS),
            ),
            places=(
                *(place for place in (person.birth_place, person.death_place) if place),
                *places,
                *(fact.value for fact in facts if fact.field in PLACE_FIELDS),
            ),
        )

    def _names(self, person: Person) -> tuple[str, ...]:
        told = (fact.value for fact in self.tree.facts_of(person.id, "name"))
        return (person.name, *person.names, *told)

    def hides(self, person: PersonId) -> bool:
        """Whether somebody is kept back; so is everybody who is not in the tree."""
        verdict = self.verdicts.get(person)
        return verdict is None or verdict.hidden

    def pseudonym(self, person: PersonId) -> PersonId:
        """What somebody is called where the id would say too much; those who are shown keep theirs."""
        return f"living-{self.numbers[person]}" if person in self.numbers else person

    def relatives(self, fact: Fact) -> tuple[PersonId, ...]:
        """The people of the tree who are to a person what the fact says."""
        tree, person = self.tree, fact.person
        if fact.field in ("father", "mother", "parent"):
            return tree.parents(person)
        if fact.field in ("spouse", "partner"):
            return tree.spouses(person)
        return tree.children(person) if fact.field == "child" else tree.siblings(person)

    def names_hidden_relative(self, fact: Fact) -> bool:
        """Whether a relative that a fact names is kept back."""
        alike = self._named_relatives(fact)
        return any(map(self.hides, alike)) if alike else self._stranger_may_live(fact)

    def _named_relatives(self, fact: Fact) -> list[PersonId]:
        """The relatives whose name a fact gives: those of just that name, or else of a like one."""
        value = words(fact.value)
        relatives = [one for one in self.relatives(fact) if one in self.tree.persons]
        same = [one for one in relatives if any(words(name) == value for name in self.known[one].names)]
        return same or [one for one in relatives if self._given(one) & set(value)]

    def _names_a_stranger(self, fact: Fact) -> bool:
        if fact.field not in RELATION_FIELDS or self.hides(fact.person) or len(words(fact.value)) < 2:
            return False
        return not self._named_relatives(fact) and self._stranger_may_live(fact)

    def _given(self, person: PersonId) -> set[str]:
        return set().union(*self.given_names(person)) if person in self.tree.persons else set()

    def given_names(self, person: PersonId) -> Iterator[set[str]]:
        """The words of each name of a person but the last, which a family shares."""
        one = self.tree.persons[person]
        for name in (one.name, *one.names):
            run = [word for word in words(name) if word not in PARTICLES and len(word) > 1]
            yield set(run[:-1] or run)

    def _stranger_may_live(self, fact: Fact) -> bool:
        """Whether a relative of whom nothing else is known can have been born in living memory."""
        born = self.verdicts[fact.person].born_by if fact.person in self.verdicts else None
        if born is None:
            return True
        mother = fact.person in self.tree.persons and self.tree.persons[fact.person].sex == "female"
        later = {
            "child": OLDEST_MOTHER if mother else OLDEST_FATHER,
            "spouse": MAX_SPOUSE_GAP,
            "partner": MAX_SPOUSE_GAP,
            "sibling": MAX_SIBLING_GAP,
        }.get(fact.field, -YOUNGEST_PARENT)
        return self.year - (born + later) <= MAX_AGE

    def shares_hidden_marriage(self, person: PersonId) -> bool:
        """Whether a marriage of somebody is one of a hidden person as well."""
        named = (fact for fact in self.tree.facts_of(person) if fact.field in ("spouse", "partner"))
        return any(map(self.hides, self.tree.spouses(person))) or any(map(self.names_hidden_relative, named))

    @cached_property
    def revealing_names(self) -> Mapping[PersonId, frozenset[str]]:
        """For each person who is shown, the first names that mean a hidden relative when their sources use them."""
        own = {one: {word for name in known.names for word in words(name)} for one, known in self.known.items()}
        found = {one: set().union(*map(self._given, circle)) - own[one] for one, circle in self._circles.items()}
        return {one: frozenset(names) for one, names in found.items() if names}

    @cached_property
    def revealing_years(self) -> Mapping[PersonId, frozenset[str]]:
        """For each person who is shown, the years that tell of a hidden relative: births, and marriages."""
        found = {
            one: set().union(*map(self._years, circle)) - self._years(one) for one, circle in self._circles.items()
        }
        return {one: frozenset(years) for one, years in found.items() if years}

    def _years(self, person: PersonId) -> set[str]:
        exact = (when for when in self.known[person].dates if when.first_year == when.last_year)
        return {str(when.first_year) for when in exact}

    @cached_property
    def _circles(self) -> Mapping[PersonId, list[PersonId]]:
        """The hidden relatives of everybody who is shown, as far as a page about them would speak of."""
        shown = [one for one in self.tree.persons if not self.hides(one)]
        return {one: circle for one in shown if (circle := self._hidden_relatives(one))}

    def _hidden_relatives(self, person: PersonId) -> list[PersonId]:
        tree = self.tree
        children = tree.children(person)
        near = {*tree.parents(person), *children, *tree.spouses(person), *tree.siblings(person)}
        near |= {one for child in children for one in (*tree.children(child), *tree.spouses(child))}
        return sorted(one for one in near if one in tree.persons and self.hides(one))

    def reveals_relative(self, text: str, people: tuple[PersonId, ...], *, names: bool) -> bool:
        """Whether a text about some people who are shown tells of a hidden relative by first name or year."""
        telling = {year for one in people for year in self.revealing_years.get(one, ())}
        telling |= {name for one in people for name in self.revealing_names.get(one, ()) if names}
        return bool(telling) and any(token.is_namelike and token.word in telling for token in tokens(text))


def find_hidden_people(
    tree: Tree, year: int, *, years_after_death: int = 0, overrides: Mapping[PersonId, LivingStatus] | None = None
) -> HiddenPeople:
    """Who is kept back in a tree, as of a year."""
    return HiddenPeople(tree, year, living_status(tree, year, years_after_death=years_after_death, overrides=overrides))
