"""The living: without their own dates, are people of our time still withheld, and those who died long ago shown?

Dates are removed in two ways: from everybody at once, and from a tenth of the people at a time, so that most of their
relatives keep theirs. The second is the harder test of the first question, and the fairer one of the second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from evals.data import SHARED_DATA, digest_of
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.privacy.living import (
    earliest_possible_year,
    is_likely_living,
    latest_possible_year,
    living_verdicts,
)
from kiwiresearch.kin.tree import DATE_FIELDS, DEATH_FIELDS, Fact, PersonId, Tree

FOLDER = "kin/gedcom"
YEAR = 2026
RECENT_YEARS = 110
LONG_DEAD_YEARS = 150
"""Nobody who was born this many years ago is living, so those who are withheld only lack evidence."""
PARTS = 10


@dataclass(slots=True)
class Tally:
    """How many people were judged, and how many of them wrongly."""

    count: int = 0
    wrong: int = 0

    def share(self) -> float:
        return 1 - self.wrong / self.count if self.count else 1.0


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Shares of people correctly withheld and shown.

    Their numbers are not pinned, nor is the share that the simpler rule `is_likely_living` withholds.
    """
    files = sorted((SHARED_DATA / FOLDER).glob("*.ged"))
    if not files:
        return None
    tallies = {name: Tally() for name in ("kept_all_masked", "kept_tenths", "shown_all_masked", "shown_tenths", "seed")}
    for tree in (read_gedcom(file).tree for file in files):
        for year in sorted({last_year_of(tree), YEAR}):
            _count_wrong(tree, year, tallies)
    figures = {name: tally.share() for name, tally in tallies.items() if name != "seed"}
    unpinned = {f"{name}_of": float(tally.count) for name, tally in tallies.items()}
    return digest_of(*files), figures, unpinned | {"seed_rule_kept": tallies["seed"].share()}


def last_year_of(tree: Tree) -> int:
    """The last year in the dates of a tree, which is about when it was made."""
    dates = [when for person in tree.persons.values() for when in (person.birth, person.death) if when]
    return max(year for when in dates if (year := latest_possible_year(when)) is not None)


def _count_wrong(tree: Tree, year: int, tallies: Mapping[str, Tally]) -> None:
    recent = _people_born(tree, lambda first, last: year - RECENT_YEARS <= first and last <= year)
    old = _people_born(tree, lambda _, last: last < year - LONG_DEAD_YEARS)
    for people, prefix in ((recent, "kept_"), (old, "shown_")):
        for start in range(PARTS):
            _judge(tree, people[start::PARTS], year, tallies[f"{prefix}tenths"], alive=people is recent)
    _judge(tree, recent, year, tallies["kept_all_masked"], alive=True)
    masked = masked_tree(tree, recent)
    _judge(masked, old[::PARTS], year, tallies["shown_all_masked"], alive=False)
    simple_rule = tallies["seed"]
    simple_rule.count += len(recent)
    simple_rule.wrong += sum(not is_likely_living(masked.persons[person], year) for person in recent)


def _judge(tree: Tree, people: list[PersonId], year: int, tally: Tally, *, alive: bool) -> None:
    verdicts = living_verdicts(masked_tree(tree, people), year)
    tally.count += len(people)
    wrong = [person for person in people if verdicts[person].is_withheld != alive]
    tally.wrong += len(wrong)
    if "-v" in sys.argv:
        for person in wrong:
            print(year, "alive" if alive else "dead", person, tree.persons[person], verdicts[person])


def _people_born(tree: Tree, in_range: Callable[[int, int], bool]) -> list[PersonId]:
    people = []
    for person in tree.persons.values():
        first, last = earliest_possible_year(person.birth), latest_possible_year(person.birth)
        died = latest_possible_year(person.death)
        # If somebody died before their birth, one of the dates is wrong, and it is unknown which.
        is_inconsistent = died is not None and first is not None and died < first
        if first is not None and last is not None and not is_inconsistent and in_range(first, last):
            people.append(person.id)
    return people


def masked_tree(tree: Tree, people: Iterable[PersonId]) -> Tree:
    """The tree without the dates of some people, including those of their marriages, and without their deaths."""
    masked = set(people)
    persons = {
        person.id: replace(person, birth=None, death=None, is_dead=False, death_place="", living="unknown")
        if person.id in masked
        else person
        for person in tree.persons.values()
    }
    ties = tuple(
        replace(tie, start=None, end=None) if {tie.first, tie.second} & masked else tie for tie in tree.relationships
    )
    facts = tuple(fact for fact in tree.facts if not _is_masked(tree, fact, masked))
    return Tree(persons, ties, facts)


def _is_masked(tree: Tree, fact: Fact, masked: set[PersonId]) -> bool:
    if fact.person in masked:
        return fact.field in DATE_FIELDS or fact.field in DEATH_FIELDS
    return fact.field == "marriage_date" and not masked.isdisjoint(tree.spouses(fact.person))


if __name__ == "__main__":
    print(measure())
