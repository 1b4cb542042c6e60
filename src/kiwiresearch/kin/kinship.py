"""How two people of a tree are related. Generations are counted by code, never by a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.kin.lineage import (
    Predecessors,
    Step,
    common_ancestors,
    generations_away,
    path_to,
    predecessors_from,
    require_person,
)
from kiwiresearch.kin.tree import DISCARDED, NOT_BY_BIRTH, PersonId, Sex, Tree

NOT_RELATED = "not known to be related"
MAX_PATH = 5
"""The longest path that is described person by person; of a longer one only the length is given."""
# 'mother of the wife of the brother' has three legs; of a path with more, only the length is given.
MAX_LEGS = 3
NEARER_THAN_COUSINS = 2
"""Generations up and down: parents, children, grandparents, grandchildren and siblings are nearer than cousins."""
UNLIMITED = 10**9


@dataclass(frozen=True, slots=True)
class Kinship:
    """What the second person is to the first."""

    words: str
    """'great-aunt', 'second cousin once removed, also wife', 'not known to be related'."""
    common: tuple[PersonId, ...]
    path: tuple[Step, ...]


BOTH_SIDES = 4
"""Four common ancestors of the same generation are two couples: the families are related on both sides."""


class BloodRelation(NamedTuple):
    """The generations from two people up to their common ancestors."""

    up: int
    down: int
    half: bool
    double: bool

    @property
    def are_cousins(self) -> bool:
        """At least two generations up on both sides."""
        return min(self.up, self.down) > 1

    def words(self, sex: Sex) -> str:
        words = blood_relation_words(self.up, self.down, sex)
        return f"half-{words}" if self.half else f"double {words}" if self.double and self.are_cousins else words


class KinshipFinder:
    """Lines of descent by birth; siblings without known parents are given an unnamed common parent."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._parents: dict[PersonId, set[PersonId]] = defaultdict(set)
        self._not_by_birth: dict[tuple[PersonId, PersonId], str] = {}
        self._former: set[frozenset[PersonId]] = set()
        self._partners: set[frozenset[PersonId]] = set()
        self._half: set[frozenset[PersonId]] = set()
        self._ancestor_depths: dict[PersonId, Mapping[PersonId, int]] = {}
        self._predecessors: dict[PersonId, Predecessors] = {}
        siblings: list[tuple[PersonId, PersonId]] = []
        for tie in tree.relationships:
            pair = frozenset((tie.first, tie.second))
            if tie.status in DISCARDED or len(pair) == 1:
                continue
            if tie.kind == "parent_of" and tie.qualifier in NOT_BY_BIRTH:
                self._not_by_birth.setdefault((tie.first, tie.second), tie.qualifier)
            elif tie.kind == "parent_of":
                self._parents[tie.second].add(tie.first)
            elif tie.kind == "sibling_of":
                siblings.append((tie.first, tie.second))
                self._half |= {pair} if tie.qualifier == "half" else set()
            else:
                self._former |= {pair} if tie.qualifier == "divorced" else set()
                self._partners |= {pair} if tie.kind == "partner_of" else set()
        self._join(siblings)

    def _join(self, siblings: list[tuple[PersonId, PersonId]]) -> None:
        for sibling, other in siblings:
            if self._parents[sibling].isdisjoint(self._parents[other]):
                # An id that no person can have; `_is_half` ignores such parents.
                nameless = f"\0{min(sibling, other)}\0{max(sibling, other)}"
                self._parents[sibling].add(nameless)
                self._parents[other].add(nameless)

    def kinship(self, first: PersonId, second: PersonId) -> Kinship:
        """What the second person is to the first, their common ancestors, and the path between them."""
        steps = self._path(first, second)
        return Kinship(self.describe(first, second), common_ancestors(self._tree, first, second), steps)

    def describe(self, first: PersonId, second: PersonId) -> str:
        """What the second person is to the first; the path is searched only if nothing else describes it."""
        found = list(dict.fromkeys(self.relation_words(first, second)))
        if not found:
            steps = self._path(first, second)
            found = [self._describe_path(steps)] if steps else [NOT_RELATED]
        return ", also ".join(found)

    def _path(self, first: PersonId, second: PersonId) -> tuple[Step, ...]:
        require_person(self._tree, first, second)
        if first not in self._predecessors:
            self._predecessors[first] = predecessors_from(self._tree, first)
        return path_to(self._predecessors[first], second)

    def _describe_path(self, steps: tuple[Step, ...]) -> str:
        """Relatives of relatives: 'father of the son-in-law'; of a long path only the length is given."""
        people = [step.person for step in steps]
        legs: list[str] = []
        at = 0
        while len(people) <= MAX_PATH and at < len(people) - 1:
            # There is always a word for the next neighbour, so each iteration advances.
            ends = range(len(people) - 1, at, -1)
            end = next(item for item in ends if item == at + 1 or self.relation_words(people[at], people[item]))
            # The last leg comes first in words: 'father of the son-in-law'.
            legs.insert(0, (self.relation_words(people[at], people[end]) or [steps[end].kind])[0])
            at = end
        return " of the ".join(legs) if 0 < len(legs) <= MAX_LEGS else _distant_relation_words(len(people) - 2)

    def relation_words(self, first: PersonId, second: PersonId) -> list[str]:
        """All relations between two people, the closest first; ties by marriage only if closer than cousins."""
        if first == second:
            return ["the same person"]
        found = [words for words in (self._married(first, second), self._raised_as(first, second)) if words]
        blood = self._blood_relations(first, second)
        if not found and (not blood or blood[0].are_cousins):
            found = self._by_marriage(first, second, NEARER_THAN_COUSINS if blood else UNLIMITED)
        return [*found, *self._blood_words(blood, second)]

    def _blood_words(self, lines: list[BloodRelation], second: PersonId) -> list[str]:
        """The closest blood relation; for cousins a second one too, if they also share other ancestors."""
        return [line.words(self._sex(second)) for line in lines[: 2 if lines and lines[0].are_cousins else 1]]

    def _blood_relations(self, first: PersonId, second: PersonId) -> list[BloodRelation]:
        """How two people descend from their nearest common ancestors, and from the nearest of the others."""
        ups, downs = self._ancestors(first), self._ancestors(second)
        # The fewest generations in all come first; the stable sort below keeps that order.
        shared = sorted((ups[person] + downs[person], ups[person], person) for person in ups.keys() & downs.keys())
        # A descendant is never called a cousin, even if another line is shorter.
        shared.sort(key=lambda row: row[2] not in (first, second))
        found: list[BloodRelation] = []
        while shared and len(found) < 2:
            total, up, _ = shared[0]
            nearest = [item for steps, to_first, item in shared if (steps, to_first) == (total, up)]
            down = total - up
            half = len(nearest) == 1 and up > 0 and down > 0 and self._is_half(nearest[0], ups, downs, up, down)
            found.append(BloodRelation(up, down, half, len(nearest) >= BOTH_SIDES))
            if not found[0].are_cousins:
                break
            # The ancestors of a common ancestor are shared as well, but they are not a second relationship.
            after = {ancestor for top in nearest for ancestor in self._ancestors(top)}
            shared = [row for row in shared if row[2] not in after]
        return found

    def _is_half(
        self, top: PersonId, ups: Mapping[PersonId, int], downs: Mapping[PersonId, int], up: int, down: int
    ) -> bool:
        """Whether the two children of a common ancestor have different known other parents."""
        one, other = (
            min(child for child, at in steps.items() if at == step - 1 and top in self._parents[child])
            for steps, step in ((ups, up), (downs, down))
        )
        if frozenset((one, other)) in self._half:
            return True
        rest, other_rest = (
            {parent for parent in self._parents[child] - {top} if not parent.startswith("\0")} for child in (one, other)
        )
        return bool(rest) and bool(other_rest) and rest.isdisjoint(other_rest)

    def _ancestors(self, person: PersonId) -> Mapping[PersonId, int]:
        """A person and all ancestors, with the number of generations up."""
        if person not in self._ancestor_depths:
            self._ancestor_depths[person] = {person: 0, **generations_away(person, self._parents_of)}
        return self._ancestor_depths[person]

    def _parents_of(self, person: PersonId) -> list[PersonId]:
        return sorted(self._parents.get(person, ()))

    def _sex(self, person: PersonId) -> Sex:
        known = self._tree.persons.get(person)
        return known.sex if known else ""

    def _married(self, first: PersonId, second: PersonId) -> str:
        if second not in self._tree.spouses(first):
            return ""
        pair = frozenset((first, second))
        words = "partner" if pair in self._partners else by_sex(self._sex(second), "husband", "wife", "spouse")
        return f"former {words}" if pair in self._former else words

    def _raised_as(self, first: PersonId, second: PersonId) -> str:
        """An adoptive, foster or step parent or child, as the sources say."""
        up, down = self._not_by_birth.get((second, first)), self._not_by_birth.get((first, second))
        kind = up or down
        if not kind:
            return ""
        words = blood_relation_words(1, 0, self._sex(second)) if up else blood_relation_words(0, 1, self._sex(second))
        return f"step{words}" if kind == "step" else f"{kind} {words}"

    def _by_marriage(self, first: PersonId, second: PersonId, max_distance: int) -> list[str]:
        """The closest relationship by marriage, of at most `max_distance` generations up and down."""
        found: list[tuple[int, str]] = []
        sex = self._sex(second)
        for spouse in self._tree.spouses(second):
            near_ones = self._blood_relations(first, spouse)[:1]
            found += [
                (relation.up + relation.down, self._spouse_of(relation, spouse, second)) for relation in near_ones
            ]
        for spouse in self._tree.spouses(first):
            if lines := self._blood_relations(spouse, second):
                up, down = lines[0].up, lines[0].down
                words = blood_relation_words(up, down, sex)
                near = {(1, 0): f"{words}-in-law", (1, 1): f"{words}-in-law", (0, 1): f"step{words}"}
                found.append((up + down, near.get((up, down), f"{words} of the {self._married(first, spouse)}")))
        if not found:
            found = self._step_siblings(first, second)
        return [words for distance, words in sorted(found)[:1] if distance <= max_distance]

    def _spouse_of(self, lines: BloodRelation, spouse: PersonId, second: PersonId) -> str:
        sex = self._sex(second)
        near = {
            (1, 0): f"step{blood_relation_words(1, 0, sex)}",
            (0, 1): f"{blood_relation_words(0, 1, sex)}-in-law",
            (1, 1): f"{blood_relation_words(1, 1, sex)}-in-law",
        }
        return near.get(
            (lines.up, lines.down), f"{self._married(spouse, second)} of the {lines.words(self._sex(spouse))}"
        )

    def _step_siblings(self, first: PersonId, second: PersonId) -> list[tuple[int, str]]:
        ours, theirs = self._parents_of(first), set(self._parents_of(second))
        met = any(not theirs.isdisjoint(self._tree.spouses(parent)) for parent in ours)
        return [(2, f"step{blood_relation_words(1, 1, self._sex(second))}")] if met else []


def by_sex(sex: Sex, male: str, female: str, either: str) -> str:
    return {"male": male, "female": female}.get(sex, either)


def blood_relation_words(up: int, down: int, sex: Sex) -> str:
    """The relation to a person who is reached by going up to a common ancestor and down again.

    >>> blood_relation_words(2, 3, "")
    'first cousin once removed'
    """
    if up == 0 or down == 0:
        steps = up or down
        word = by_sex(sex, "father", "mother", "parent") if up else by_sex(sex, "son", "daughter", "child")
        return word if steps == 1 else f"{_greats(steps - 2)}grand{word}"
    if up == down == 1:
        return by_sex(sex, "brother", "sister", "sibling")
    if down == 1:
        great = _greats(up - 2)
        return by_sex(sex, f"{great}uncle", f"{great}aunt", f"{great}uncle or {great}aunt")
    if up == 1:
        great = _greats(down - 2)
        return by_sex(sex, f"{great}nephew", f"{great}niece", f"{great}nephew or {great}niece")
    removed = abs(up - down)
    times = {0: "", 1: " once removed", 2: " twice removed"}.get(removed, f" {removed} times removed")
    return f"{_ordinal(min(up, down) - 1)} cousin{times}"


def step_words(tree: Tree, step: Step) -> str:
    """What a person on a path is to the previous one: 'mother', 'son', 'wife', 'sister'."""
    person = tree.persons.get(step.person)
    sex: Sex = person.sex if person else ""
    return {
        "parent": blood_relation_words(1, 0, sex),
        "child": blood_relation_words(0, 1, sex),
        "spouse": by_sex(sex, "husband", "wife", "spouse"),
        "sibling": blood_relation_words(1, 1, sex),
    }.get(step.kind, "")


def _greats(count: int) -> str:
    """'great-great-' for two; 'fifth great-' where repeating it would be hard to read."""
    return "great-" * count if count < 3 else f"{_ordinal(count)} great-"


def _ordinal(number: int) -> str:
    words = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    if number < len(words):
        return words[number]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _distant_relation_words(between: int) -> str:
    return "related through 1 other person" if between == 1 else f"related through {between} other people"
