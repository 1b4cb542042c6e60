"""Scores of all candidate pairs, each round with what the last one found out about relatives."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from heapq import nlargest

from kiwiresearch.kin.resolve.blocking import SHARED_IDS, candidate_pairs
from kiwiresearch.kin.resolve.features import Points, Rarity, date_points, name_points, place_points
from kiwiresearch.kin.resolve.profile import profiles_of
from kiwiresearch.kin.resolve.relatives import KinPoints, kin_points, relatives_of
from kiwiresearch.kin.resolve.settings import ResolveSettings
from kiwiresearch.kin.resolve.vetoes import SLACK_YEARS, Pair, Vetoes, ordered
from kiwiresearch.kin.tree import PersonId, Tree

LEAST_BASE = -11.0
"""Pairs whose own data speak so much against them are not looked at again."""
NO_KIN = KinPoints(0.0, (), (), {})
LOWEST = -30.0
SAME_ID = 20.0
LEAST_PRIOR = 5.0
RIVAL = -4.0
"""Log-odds from which on another candidate counts as a rival."""
UNNAMED = 3.0
"""Of a child without a name, its parents do not tell which of their children it was."""
NAMESAKE_SIBLINGS = 2.0
"""Where births are years apart, a name given twice in one family is likelier than one person of two birthdays."""
MOST_RIVALS = 50
"""The strongest rivals say it all; more of them only take time."""


@dataclass(frozen=True, slots=True)
class Base:
    """What the two records say by themselves; the sum counts how unlikely any two people are to be one."""

    total: float
    name: Points
    dates: Points
    places: Points
    same_id: str = ""
    vetoed: bool = False


class Rounds:
    """The candidate pairs of a tree and what is believed of them."""

    def __init__(self, tree: Tree, cannot_link: Collection[Pair], settings: ResolveSettings) -> None:
        self.tree, self.settings = tree, settings
        self.profiles = profiles_of(tree)
        self.relatives = relatives_of(tree, self.profiles)
        self._vetoes = Vetoes(tree, cannot_link)
        self.rarity = Rarity(self.profiles.values())
        self.prior = -max(LEAST_PRIOR, math.log(max(len(self.profiles) / 2, 1))) - 0.5
        self._bases: dict[Pair, Base] = {}
        self.pairs: set[Pair] = set()
        self.scores: dict[Pair, float] = {}
        self.kin: dict[Pair, KinPoints] = {}
        self.beliefs: dict[Pair, float] = {}
        """Log-odds once rivals are taken into account."""

    def run(self) -> None:
        """All rounds."""
        self._take(candidate_pairs(self.tree, self.profiles))
        self._score()
        for _ in range(self.settings.rounds if self.settings.use_relatives else 0):
            self._take(self._around())
            self.kin = {pair: self._kin(pair) for pair in sorted(self.pairs)}
            self._score()

    def base(self, pair: Pair) -> Base:
        known = self._bases.get(pair)
        if known is None:
            known = self._bases[pair] = self._base(pair)
        return known

    def reasons_against(self, pair: Pair) -> tuple[str, ...]:
        """All vetoes of a pair."""
        return tuple(self._vetoes.against(*(self.profiles[one] for one in pair)))

    def striking(self, least: float) -> list[tuple[Pair, Base]]:
        """Pairs that are ruled out although name and dates agree, and that are not of one source."""
        return [
            (pair, base)
            for pair, base in sorted(self._bases.items())
            if base.vetoed
            and base.total - self.prior >= least
            and base.dates.value > 0
            and self.profiles[pair[0]].sources.isdisjoint(self.profiles[pair[1]].sources)
        ]

    def _base(self, pair: Pair) -> Base:
        a, b = (self.profiles[one] for one in pair)
        name, places = name_points(a, b, self.rarity), place_points(a, b)
        dates = date_points(a, b, is_told=False)
        shared = [kind for kind in SHARED_IDS if a.external.get(kind) and a.external[kind] == b.external.get(kind)]
        total = self.prior + name.value + dates.value + places.value + (SAME_ID if shared else 0.0)
        vetoed = any(True for _ in self._vetoes.against(a, b))
        return Base(total, name, dates, places, "".join(shared[:1]), vetoed)

    def _take(self, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            if pair not in self.pairs:
                base = self.base(pair)
                if not base.vetoed and base.total >= LEAST_BASE:
                    self.pairs.add(pair)

    def _around(self) -> list[Pair]:
        """The relatives of pairs that are probably one person, role by role."""
        found: set[Pair] = set()
        for pair, belief in self.beliefs.items():
            if belief <= 0:
                continue
            one, other = (self.relatives[person] for person in pair)
            for role in one.keys() & other.keys():
                found.update(ordered(x, y) for x in one[role] for y in other[role] if x != y)
        return sorted(found)

    def _kin(self, pair: Pair) -> KinPoints:
        one, other = (self.relatives[person] for person in pair)
        if not one or not other:
            return NO_KIN
        a, b = (self.profiles[person].sex for person in pair)
        is_one_sex = bool(a) and a == b
        return kin_points(
            one,
            other,
            lambda relatives: self._belief(relatives, pair),
            self.prior,
            is_one_sex=is_one_sex,
            most_of_origin=self._most_of_origin(pair),
        )

    def may_be_siblings(self, pair: Pair) -> bool:
        """Whether name or birth tells two apart whom their parents do not."""
        return self._most_of_origin(pair) < math.inf

    def _most_of_origin(self, pair: Pair) -> float:
        """How much parents and siblings may say of two who may be brothers or sisters themselves."""
        if self.base(pair).name.is_other:
            return 0.0
        named = [any(name.given for name in self.profiles[person].names) for person in pair]
        if named[0] != named[1]:
            return UNNAMED
        first, second = (self.profiles[person].birth_years for person in pair)
        gap = max(first[0] - second[1], second[0] - first[1]) if first and second else 0
        return NAMESAKE_SIBLINGS if gap > SLACK_YEARS else math.inf

    def _belief(self, pair: Pair, asking: Pair) -> float:
        """What is believed of a pair but for what the asking pair itself has told it."""
        known = self.beliefs.get(pair)
        if known is None:
            base = self.base(pair)
            return LOWEST if base.vetoed else base.total
        told = self.kin.get(pair, NO_KIN).shares.get(asking, 0.0)
        return known - max(told, 0.0)

    def _score(self) -> None:
        self.scores = {
            pair: max(self.base(pair).total + self.kin.get(pair, NO_KIN).value, LOWEST) for pair in sorted(self.pairs)
        }
        self.beliefs = self._against_rivals()

    def _against_rivals(self) -> dict[Pair, float]:
        """Who is in one source twice is two people, so candidates of one source weaken each other."""
        rivals: dict[PersonId, list[tuple[float, PersonId]]] = defaultdict(list)
        for (one, other), score in self.scores.items():
            if score > RIVAL:
                rivals[one].append((score, other))
                rivals[other].append((score, one))
        strongest = {
            person: [(math.exp(score), one, self.profiles[one].sources) for score, one in nlargest(MOST_RIVALS, found)]
            for person, found in rivals.items()
        }
        found: dict[Pair, float] = {}
        for pair, score in self.scores.items():
            odds = 1.0
            for person, other in (pair, pair[::-1]):
                sources = self.profiles[other].sources
                for weight, rival, of_rival in strongest.get(person, ()):
                    if rival != other and not sources.isdisjoint(of_rival):
                        odds += weight
            found[pair] = score - math.log(odds)
        return found
