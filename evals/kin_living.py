"""The living: with their own dates taken away, are people of our time still kept back, and the long dead shown?

Dates are masked in two ways: of everybody at once, and of every tenth person at
a time, so that their relatives keep theirs; the second is the harder test of the
first question, and the fairer one of the second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from evals.data import SHARED_DATA, digest_of
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.privacy.living import (
    DEATH_FIELDS,
    earliest_possible_year,
    is_likely_living,
    latest_possible_year,
    living_verdicts,
)
from kiwiresearch.kin.tree import DATE_FIELDS, Fact, PersonId, Tree

FOLDER = "kin/gedcom"
YEAR = 2026
RECENT = 110
LONG_DEAD = 150
"""Born so many years ago, nobody can be taken for living but for want of evidence."""
PARTS = 10


@dataclass(slots=True)
class Tally:
    """Of so many, so many wrong."""

    of: int = 0
    wrong: int = 0

    def share(self) -> float:
        return 1 - self.wrong / self.of if self.of else 1.0


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Shares of people rightly kept back and rightly shown; beside them how many there were, and the seed's rule."""
    files = sorted((SHARED_DATA / FOLDER).glob("*.ged"))
    if not files:
        return None
    tallies = {name: Tally() for name in ("kept_all_masked", "kept_tenths", "shown_all_masked", "shown_tenths", "seed")}
    for tree in (read_gedcom(file).tree for file in files):
        for year in sorted({last_of(tree), YEAR}):
            _count(tree, year, tallies)
    figures = {name: tally.share() for name, tally in tallies.items() if name != "seed"}
    beside = {f"{name}_of": float(tally.of) for name, tally in tallies.items()}
    return digest_of(*files), figures, beside | {"seed_rule_kept": tallies["seed"].share()}


def last_of(tree: Tree) -> int:
    """The last year of a file: when it was made, as far as its dates tell."""
    dates = [when for person in tree.persons.values() for when in (person.birth, person.death) if when]
    return max(year for when in dates if (year := latest_possible_year(when)) is not None)


def _count(tree: Tree, year: int, tallies: Mapping[str, Tally]) -> None:
    recent = _born(tree, lambda first, last: year - RECENT <= first and last <= year)
    old = _born(tree, lambda _, last: last < year - LONG_DEAD)
    for people, kept in ((recent, "kept_"), (old, "shown_")):
        for start in range(PARTS):
            _judge(tree, people[start::PARTS], year, tallies[f"{kept}tenths"], alive=people is recent)
    _judge(tree, recent, year, tallies["kept_all_masked"], alive=True)
    masked = masked_tree(tree, recent)
    _judge(masked, old[::PARTS], year, tallies["shown_all_masked"], alive=False)
    seed = tallies["seed"]
    seed.of += len(recent)
    seed.wrong += sum(not is_likely_living(masked.persons[one], year) for one in recent)


def _judge(tree: Tree, people: list[PersonId], year: int, tally: Tally, *, alive: bool) -> None:
    verdicts = living_verdicts(masked_tree(tree, people), year)
    tally.of += len(people)
    wrong = [one for one in people if verdicts[one].is_withheld != alive]
    tally.wrong += len(wrong)
    if "-v" in sys.argv:
        for one in wrong:
            print(year, "alive" if alive else "dead", one, tree.persons[one], verdicts[one])


def _born(tree: Tree, fits: Callable[[int, int], bool]) -> list[PersonId]:
    found = []
    for person in tree.persons.values():
        first, last = earliest_possible_year(person.birth), latest_possible_year(person.birth)
        died = latest_possible_year(person.death)
        slip = (
            died is not None and first is not None and died < first
        )  # one of the two is wrong, and nobody knows which
        if first is not None and last is not None and not slip and fits(first, last):
            found.append(person.id)
    return found


def masked_tree(tree: Tree, people: Iterable[PersonId]) -> Tree:
    """The tree without the dates of some people, their marriages among them, and without a word of their deaths."""
    chosen = set(people)
    persons = {
        one.id: replace(one, birth=None, death=None, is_dead=False, death_place="", living="unknown")
        if one.id in chosen
        else one
        for one in tree.persons.values()
    }
    ties = tuple(
        replace(tie, start=None, end=None) if {tie.first, tie.second} & chosen else tie for tie in tree.relationships
    )
    facts = tuple(fact for fact in tree.facts if not _is_masked(tree, fact, chosen))
    return Tree(persons, ties, facts)


def _is_masked(tree: Tree, fact: Fact, chosen: set[PersonId]) -> bool:
    if fact.person in chosen:
        return fact.field in DATE_FIELDS or fact.field in DEATH_FIELDS
    return fact.field == "marriage_date" and not chosen.isdisjoint(tree.spouses(fact.person))


if __name__ == "__main__":
    print(measure())
