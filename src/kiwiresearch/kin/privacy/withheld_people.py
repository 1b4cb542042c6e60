"""The withheld people of a tree: those who may be living, and relatives named only in the facts of others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from kiwiresearch.kin.plausibility import YOUNGEST_PARENT
from kiwiresearch.kin.privacy.living import (
    MAX_AGE,
    MAX_SIBLING_GAP,
    MAX_SPOUSE_GAP,
    OLDEST_FATHER,
    OLDEST_MOTHER,
    LivingVerdict,
    living_verdicts,
)
from kiwiresearch.kin.privacy.text_parts import tokens, words
from kiwiresearch.kin.privacy.traces import PARTICLES, KnownTraits, TraceFinder
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    NAMED_RELATIVE_FIELDS,
    PARENT_FIELDS,
    PLACE_FIELDS,
    Fact,
    FieldName,
    LivingStatus,
    Person,
    PersonId,
    Tree,
)
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import DateRange

LIVING_NAME = Message("Living", "person.living")
"""The name of an anonymous person."""
WITHHELD = Message("[withheld: mentions people who may be living]", "person.withheld")
"""Replaces words that would reveal a withheld person."""
MARRIAGE_FIELDS: tuple[FieldName, ...] = ("marriage_date", "marriage_place")
"""Shared by both spouses: a dead person's marriage is also the living spouse's."""


@dataclass(frozen=True)
class WithheldPeople:
    """Who in a tree is withheld, the pseudonym of each, and which texts would reveal them."""

    tree: Tree
    year: int
    verdicts: Mapping[PersonId, LivingVerdict]

    def withholds(self, person: PersonId) -> bool:
        """Whether a person is withheld; anyone who is not in the tree is."""
        verdict = self.verdicts.get(person)
        return verdict is None or verdict.is_withheld

    @cached_property
    def pseudonym_numbers(self) -> Mapping[PersonId, int]:
        """Numbers that reveal nothing: of withheld people, then of unlisted relatives, who are keyed by name."""
        people = sorted(person for person, verdict in self.verdicts.items() if verdict.is_withheld)
        return {item: number for number, item in enumerate((*people, *self.unlisted_relatives), 1)}

    def pseudonym(self, person: PersonId) -> PersonId:
        """The id to publish: a pseudonym for a withheld person, the real id for anyone else."""
        return f"living-{self.pseudonym_numbers[person]}" if person in self.pseudonym_numbers else person

    @cached_property
    def unlisted_relatives(self) -> tuple[str, ...]:
        """Names of relatives who are not in the tree and may be living."""
        return tuple(sorted({fact.value for fact in self.tree.facts if self._names_unlisted_relative(fact)}))

    @cached_property
    def traces(self) -> TraceFinder:
        """Finds mentions of withheld people in a text."""
        withheld = {person: self.traits[person] for person in self.verdicts if self.withholds(person)}
        withheld |= {name: KnownTraits(names=(name,)) for name in self.unlisted_relatives}
        return TraceFinder(withheld, [self.traits[person] for person in self.verdicts if not self.withholds(person)])

    @cached_property
    def traits(self) -> Mapping[PersonId, KnownTraits]:
        """What identifies each person; details that a couple shares belong to the withheld one alone."""
        dates: dict[PersonId, list[DateRange]] = defaultdict(list)
        places: dict[PersonId, list[str]] = defaultdict(list)
        for tie in self.tree.relationships:
            ends = (tie.first, tie.second)
            # The wedding day of a living person stays theirs, even if the other spouse is dead.
            for item in [end for end in ends if self.withholds(end)] or ends:
                dates[item] += [when for when in (tie.start, tie.end) if when]
        for fact in self.tree.facts:
            if fact.field in MARRIAGE_FIELDS:
                spouses = [spouse for spouse in self.tree.spouses(fact.person) if self.withholds(spouse)]
                for spouse in spouses or [fact.person]:
                    dates[spouse] += [fact.when] if fact.when else []
                    places[spouse] += [fact.value] if fact.field == "marriage_place" else []
        return {
            person.id: self._traits(person, dates[person.id], places[person.id])
            for person in self.tree.persons.values()
        }

    def _traits(self, person: Person, dates: list[DateRange], places: list[str]) -> KnownTraits:
        facts = self.tree.facts_of(person.id)
        if not self.withholds(person.id):
            facts = tuple(fact for fact in facts if fact.field not in MARRIAGE_FIELDS)
        return KnownTraits(
            names=(person.name, *person.names, *(fact.value for fact in facts if fact.field == "name")),
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

    def names_withheld_relative(self, fact: Fact) -> bool:
        """Whether the relative that a fact names is withheld."""
        # A relative who is not in the tree has no verdict; only the time in which they can have lived decides.
        matches = self._matching_relatives(fact)
        return any(map(self.withholds, matches)) if matches else self._may_be_living(fact)

    def shares_withheld_marriage(self, person: PersonId) -> bool:
        """Whether the person was married to a withheld person."""
        spouses = (fact for fact in self.tree.facts_of(person) if fact.field in ("spouse", "partner"))
        return any(map(self.withholds, self.tree.spouses(person))) or any(map(self.names_withheld_relative, spouses))

    def _matching_relatives(self, fact: Fact) -> list[PersonId]:
        """The relatives a fact names: exact matches of the name, or failing that, a shared given name."""
        value = words(fact.value)
        relatives = [relative for relative in self._relatives(fact) if relative in self.tree.persons]
        same = [relative for relative in relatives if any(words(name) == value for name in self.traits[relative].names)]
        return same or [relative for relative in relatives if self._given_names(relative) & set(value)]

    def _relatives(self, fact: Fact) -> tuple[PersonId, ...]:
        """The person's relatives of the kind that the fact names."""
        tree, person = self.tree, fact.person
        if fact.field in PARENT_FIELDS:
            return tree.parents(person)
        if fact.field == "grandparent":
            return tuple(above for parent in tree.parents(person) for above in tree.parents(parent))
        if fact.field in ("spouse", "partner"):
            return tree.spouses(person)
        return tree.children(person) if fact.field == "child" else tree.siblings(person)

    def _names_unlisted_relative(self, fact: Fact) -> bool:
        if fact.field not in NAMED_RELATIVE_FIELDS or self.withholds(fact.person) or len(words(fact.value)) < 2:
            return False
        return not self._matching_relatives(fact) and self._may_be_living(fact)

    def _may_be_living(self, fact: Fact) -> bool:
        """Whether a relative who is only named could have been born recently enough to be alive."""
        born = self.verdicts[fact.person].born_by if fact.person in self.verdicts else None
        if born is None:
            return True
        is_woman = fact.person in self.tree.persons and self.tree.persons[fact.person].sex == "female"
        max_years_later = {
            "child": OLDEST_MOTHER if is_woman else OLDEST_FATHER,
            "spouse": MAX_SPOUSE_GAP,
            "partner": MAX_SPOUSE_GAP,
            "sibling": MAX_SIBLING_GAP,
        }.get(fact.field, -YOUNGEST_PARENT)
        return self.year - (born + max_years_later) <= MAX_AGE

    def _given_names(self, person: PersonId) -> set[str]:
        """The words of all names of a person except the last word of each, which a family shares."""
        found_person = self.tree.persons.get(person)
        found: set[str] = set()
        for name in (found_person.name, *found_person.names) if found_person else ():
            parts = [word for word in words(name) if word not in PARTICLES and len(word) > 1]
            # A single name is all that there is, and so counts as a given name.
            found.update(parts[:-1] or parts)
        return found

    def reveals_relative(self, text: str, people: tuple[PersonId, ...], *, by_name: bool) -> bool:
        """Whether a text about these people, who are shown, reveals a withheld relative by year or by given name."""
        revealing = {year for person in people for year in self._revealing_years.get(person, ())}
        revealing |= {name for person in people for name in self._revealing_names.get(person, ()) if by_name}
        return bool(revealing) and any(
            token.is_namelike and not revealing.isdisjoint(token.forms) for token in tokens(text)
        )

    @cached_property
    def _revealing_names(self) -> Mapping[PersonId, frozenset[str]]:
        """For each person who is shown, the given names that mean a withheld relative in their sources."""
        own = {person: {word for name in known.names for word in words(name)} for person, known in self.traits.items()}
        return {
            item: frozenset(set().union(*map(self._given_names, relatives)) - own[item])
            for item, relatives in self._withheld_by_person.items()
        }

    @cached_property
    def _revealing_years(self) -> Mapping[PersonId, frozenset[str]]:
        """For each person who is shown, the years that point at a withheld relative: births and marriages."""
        return {
            item: frozenset(set().union(*map(self._years, relatives)) - self._years(item))
            for item, relatives in self._withheld_by_person.items()
        }

    def _years(self, person: PersonId) -> set[str]:
        exact = (when for when in self.traits[person].dates if when.first_year == when.last_year)
        return {str(when.first_year) for when in exact}

    @cached_property
    def _withheld_by_person(self) -> Mapping[PersonId, list[PersonId]]:
        """The withheld relatives of each person who is shown, as far as a page about that person would mention them."""
        shown = [person for person in self.tree.persons if not self.withholds(person)]
        return {item: found for item in shown if (found := self._withheld_relatives(item))}

    def _withheld_relatives(self, person: PersonId) -> list[PersonId]:
        tree = self.tree
        children = tree.children(person)
        near = {*tree.parents(person), *children, *tree.spouses(person), *tree.siblings(person)}
        # An obituary or a biography names grandchildren and the spouses of children as well.
        near |= {item for child in children for item in (*tree.children(child), *tree.spouses(child))}
        return sorted(item for item in near if item in tree.persons and self.withholds(item))


def find_withheld(
    tree: Tree, year: int, *, years_after_death: int = 0, overrides: Mapping[PersonId, LivingStatus] | None = None
) -> WithheldPeople:
    """Determine who in a tree is withheld, as of a given year."""
    return WithheldPeople(
        tree, year, living_verdicts(tree, year, years_after_death=years_after_death, overrides=overrides)
    )
