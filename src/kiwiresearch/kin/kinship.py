"""How two people of a tree are related, in words: code counts generations, no model ever does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kiwiresearch.kin.fields import Sex, Status
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.kin.ways import (
    CommonAncestor,
    Step,
    ancestors,
    common_ancestors,
    descendants,
    generations,
    reached,
    way,
)

__all__ = [
    "CommonAncestor",
    "Family",
    "Kinship",
    "Step",
    "ancestors",
    "birth_words",
    "common_ancestors",
    "descendants",
    "generations",
    "kinship",
    "way",
]

NOT_BELIEVED: frozenset[Status] = frozenset({"rejected", "hypothesis", "superseded"})


@dataclass(frozen=True, slots=True)
class Kinship:
    """What the second person is to the first."""

    words: str
    """'great-aunt', 'second cousin once removed, also wife', 'not known to be related'."""
    common: tuple[CommonAncestor, ...]
    way: tuple[Step, ...]


def kinship(tree: Tree, first: PersonId, second: PersonId) -> Kinship:
    """What the second person is to the first. For many pairs of one tree, make a `Family` once."""
    return Family(tree).kinship(first, second)


class Family:
    """Lines of descent by birth; brothers and sisters without known parents share one who has no name."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._parents: dict[PersonId, set[PersonId]] = defaultdict(set)
        self._others: dict[tuple[PersonId, PersonId], str] = {}
        self._former: set[frozenset[PersonId]] = set()
        self._partners: set[frozenset[PersonId]] = set()
        self._half: set[frozenset[PersonId]] = set()
        siblings: list[tuple[PersonId, PersonId]] = []
        for tie in tree.relationships:
            pair = frozenset((tie.first, tie.second))
            if tie.status in NOT_BELIEVED or len(pair) == 1:
                continue
            if tie.kind == "parent_of" and tie.qualifier in ("adoptive", "step", "foster"):
                self._others.setdefault((tie.first, tie.second), tie.qualifier)
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
        for one, other in siblings:
            if self._parents[one].isdisjoint(self._parents[other]):
                nameless = f"\0{min(one, other)}\0{max(one, other)}"
                self._parents[one].add(nameless)
                self._parents[other].add(nameless)

    def kinship(self, first: PersonId, second: PersonId) -> Kinship:
        """What the second person is to the first, who they both descend from, and the way between them."""
        steps = way(self._tree, first, second)
        words = list(dict.fromkeys(self.relations(first, second)))
        if not words:
            words = [_tied(len(steps) - 2)] if steps else ["not known to be related"]
        return Kinship(", also ".join(words), common_ancestors(self._tree, first, second), steps)

    def relations(self, first: PersonId, second: PersonId) -> list[str]:
        """All that one person is to the other, the closest first; of ties by marriage only where there is no other."""
        if first == second:
            return ["the same person"]
        found = [self._married(first, second), self._raised(first, second), self.by_birth(first, second)]
        return [words for words in found if words] or self._by_marriage(first, second)

    def by_birth(self, first: PersonId, second: PersonId) -> str:
        lines = self._lines(first, second)
        if lines is None:
            return ""
        up, down, half = lines
        words = birth_words(up, down, self._sex(second))
        return f"half-{words}" if half else words

    def _lines(self, first: PersonId, second: PersonId) -> tuple[int, int, bool] | None:
        ups, downs = ({one: 0, **reached(one, self._above)} for one in (first, second))
        shared = sorted((ups[one] + downs[one], ups[one], one) for one in ups.keys() & downs.keys())
        if not shared:
            return None
        total, up, _ = shared[0]
        nearest = [one for steps, to_first, one in shared if (steps, to_first) == (total, up)]
        down = total - up
        half = len(nearest) == 1 and up > 0 and down > 0 and self._is_half(nearest[0], ups, downs, up, down)
        return up, down, half

    def _is_half(
        self, top: PersonId, ups: Mapping[PersonId, int], downs: Mapping[PersonId, int], up: int, down: int
    ) -> bool:
        """Whether the two children of a common ancestor have other parents who are known, and not the same."""
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

    def _above(self, person: PersonId) -> list[PersonId]:
        return sorted(self._parents.get(person, ()))

    def _sex(self, person: PersonId) -> Sex:
        known = self._tree.persons.get(person)
        return known.sex if known else ""

    def _married(self, first: PersonId, second: PersonId) -> str:
        if second not in self._tree.spouses(first):
            return ""
        pair = frozenset((first, second))
        words = "partner" if pair in self._partners else chosen(self._sex(second), "husband", "wife", "spouse")
        return f"former {words}" if pair in self._former else words

    def _raised(self, first: PersonId, second: PersonId) -> str:
        """An adoptive, foster or step parent or child, as the sources say."""
        up, down = self._others.get((second, first)), self._others.get((first, second))
        kind = up or down
        if not kind:
            return ""
        words = birth_words(1, 0, self._sex(second)) if up else birth_words(0, 1, self._sex(second))
        return f"step{words}" if kind == "step" else f"{kind} {words}"

    def _by_marriage(self, first: PersonId, second: PersonId) -> list[str]:
        found: list[tuple[int, str]] = []
        sex = self._sex(second)
        for spouse in self._tree.spouses(second):
            if lines := self._lines(first, spouse):
                up, down, _ = lines
                found.append((up + down, self._spouse_of(up, down, first, spouse, second)))
        for spouse in self._tree.spouses(first):
            if lines := self._lines(spouse, second):
                up, down, _ = lines
                words = birth_words(up, down, sex)
                near = {(1, 0): f"{words}-in-law", (1, 1): f"{words}-in-law", (0, 1): f"step{words}"}
                found.append((up + down, near.get((up, down), f"{words} of the {self._married(first, spouse)}")))
        if not found:
            found = self._step_siblings(first, second)
        return [words for _, words in sorted(found)[:1]]

    def _spouse_of(self, up: int, down: int, first: PersonId, spouse: PersonId, second: PersonId) -> str:
        sex = self._sex(second)
        near = {
            (1, 0): f"step{birth_words(1, 0, sex)}",
            (0, 1): f"{birth_words(0, 1, sex)}-in-law",
            (1, 1): f"{birth_words(1, 1, sex)}-in-law",
        }
        return near.get((up, down), f"{self._married(spouse, second)} of the {self.by_birth(first, spouse)}")

    def _step_siblings(self, first: PersonId, second: PersonId) -> list[tuple[int, str]]:
        ours, theirs = self._above(first), set(self._above(second))
        met = any(not theirs.isdisjoint(self._tree.spouses(parent)) for parent in ours)
        return [(2, f"step{birth_words(1, 1, self._sex(second))}")] if met else []


def chosen(sex: Sex, male: str, female: str, either: str) -> str:
    return {"male": male, "female": female}.get(sex, either)


def birth_words(up: int, down: int, sex: Sex) -> str:
    """What somebody is who is reached by going up to a common ancestor and down again.

    >>> birth_words(2, 3, "")
    'first cousin once removed'
    """
    if up == 0 or down == 0:
        steps = up or down
        word = chosen(sex, "father", "mother", "parent") if up else chosen(sex, "son", "daughter", "child")
        return word if steps == 1 else f"{_greats(steps - 2)}grand{word}"
    if up == down == 1:
        return chosen(sex, "brother", "sister", "sibling")
    if down == 1:
        return _greats(up - 2) + chosen(sex, "uncle", "aunt", "uncle or aunt")
    if up == 1:
        return _greats(down - 2) + chosen(sex, "nephew", "niece", "nephew or niece")
    removed = abs(up - down)
    times = {0: "", 1: " once removed", 2: " twice removed"}.get(removed, f" {removed} times removed")
    return f"{_ordinal(min(up, down) - 1)} cousin{times}"


def _greats(count: int) -> str:
    """'great-great-' for two; '5th great-' for more than a reader would count."""
    return "great-" * count if count < 3 else f"{_ordinal(count)} great-"


def _ordinal(number: int) -> str:
    words = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    if number < len(words):
        return words[number]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _tied(between: int) -> str:
    return "tied over 1 other" if between == 1 else f"tied over {between} others"
