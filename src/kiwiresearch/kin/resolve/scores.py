"""Scores of all candidate pairs, in rounds: each uses what the previous one found out about the relatives."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import Literal

from kiwiresearch.kin.resolve.family_structure import FamilyStructure
from kiwiresearch.kin.resolve.features import (
    FeaturePoints,
    NameComparer,
    date_points,
    name_points,
    place_points,
    probability,
)
from kiwiresearch.kin.resolve.pairs import (
    SHARED_IDS,
    SLACK_YEARS,
    Pair,
    Vetoes,
    candidate_pairs,
    ordered_pair,
    source_listing_both,
)
from kiwiresearch.kin.resolve.profile import Profile, profiles_of
from kiwiresearch.kin.resolve.proposal import ResolveSettings
from kiwiresearch.kin.tree import PersonId, SourceId, Tree
from kiwiresearch.messages import Message

Role = Literal["father", "mother", "parent", "sibling", "spouse", "child"]
Relatives = Mapping[Role, tuple[PersonId, ...]]
LogOdds = Callable[[Pair], float]
"""Log-odds that two relatives are the same person, without the evidence that comes from the pair being scored."""

SHARED_FREQUENCY: dict[Role, float] = {
    "father": 0.95, "mother": 0.93, "parent": 0.6, "sibling": 0.5, "spouse": 0.6, "child": 0.5,
}  # fmt: skip
"""How often two records of the same person, which both have such a relative, share one: nobody has two fathers,
but several wives and children, and no source knows all of them."""
SHARED_FREQUENCY_BY_CHANCE: dict[Role, float] = {
    "father": 1 / 400, "mother": 1 / 400, "parent": 1 / 400, "sibling": 1 / 250, "spouse": 1 / 1500, "child": 1 / 800,
}  # fmt: skip
"""How often two records of different people share one."""
SHARED_CHILD_OF_SAME_SEX = 1 / 8000
"""How often two different people of the same sex share a child: only step-parents, and by error."""
# As log-odds: odds of nearly 500 million, and still a finite number.
CERTAIN = 20.0
ORIGIN_ROLES: tuple[Role, ...] = ("father", "mother", "parent", "sibling")
OWN_FAMILY: tuple[Role, ...] = ("spouse", "child")
MAX_FURTHER_MATCH = 1.5
"""The most that the second and third relative in one role can add."""
REPEATED_EVIDENCE_WEIGHT = 0.35
"""Relatives of the same household repeat the same evidence: all but the strongest have only this weight."""
MAX_PENALTY = -5.0
KIN_RANGE = (-7.0, 13.0)


@dataclass(frozen=True, slots=True)
class KinPoints:
    """Log-odds from the relatives, and the points that each match contributes."""

    points: float
    matched: tuple[tuple[Role, Pair], ...]
    unmatched: tuple[Role, ...]
    points_by_match: Mapping[Pair, float]


def relatives_of(tree: Tree, profiles: Mapping[PersonId, Profile]) -> dict[PersonId, Relatives]:
    """The relatives of each person by role, including those inferred from other ties."""
    structure = FamilyStructure(tree, profiles)
    return {person: _by_role(tree, person, profiles, structure) for person in profiles}


def _by_role(
    tree: Tree, person: PersonId, profiles: Mapping[PersonId, Profile], structure: FamilyStructure
) -> Relatives:
    def known(ids: Iterable[PersonId]) -> tuple[PersonId, ...]:
        return tuple(sorted(identifier for identifier in set(ids) if identifier in profiles))

    parents = known(structure.parents(person))
    roles: dict[Role, tuple[PersonId, ...]] = {
        "father": tuple(parent for parent in parents if profiles[parent].sex == "male"),
        "mother": tuple(parent for parent in parents if profiles[parent].sex == "female"),
        "parent": tuple(parent for parent in parents if not profiles[parent].sex),
        "sibling": known(structure.siblings(person)),
        "spouse": known({*tree.spouses(person), *_other_parents(tree, person)}),
        "child": known(tree.children(person)),
    }
    return {role: ids for role, ids in roles.items() if ids}


def _other_parents(tree: Tree, person: PersonId) -> Iterator[PersonId]:
    """The other parents of a person's children, who count as spouses here."""
    for child in tree.children(person):
        yield from (parent for parent in tree.parents(child) if parent != person)


def kin_points(
    one: Relatives,
    other: Relatives,
    log_odds: LogOdds,
    prior: float,
    *,
    is_same_sex: bool = False,
    max_origin_points: float = math.inf,
) -> KinPoints:
    """Compare all roles in which both records have relatives; `prior` is the log-odds of any two people.

    Siblings have the same parents, so if something distinguishes the two, their parents may count for little.
    """
    by_role: dict[Role, float] = {}
    matched: list[tuple[Role, Pair]] = []
    unmatched: list[Role] = []
    points_by_match: dict[Pair, float] = {}
    for role, ids in one.items():
        others = other.get(role)
        if not others:
            continue
        best = _best_matches(ids, others, log_odds)
        by_chance = SHARED_CHILD_OF_SAME_SEX if role == "child" and is_same_sex else SHARED_FREQUENCY_BY_CHANCE[role]
        # With many relatives on either side, one of them is more likely to fit by chance.
        ratio = math.exp(min(best[0][0] - prior, CERTAIN)) / max(len(ids), len(others))
        by_role[role] = _role_points(SHARED_FREQUENCY[role], by_chance, ratio, best, points_by_match)
        sure = [(role, pair) for odds, pair in best if odds > 0]
        matched += sure
        if not sure and by_role[role] < 0:
            unmatched.append(role)
    origin = _combined(by_role, ORIGIN_ROLES)
    value = min(origin, max_origin_points) + _combined(by_role, OWN_FAMILY)
    low, high = KIN_RANGE
    return KinPoints(min(max(value, low), high), tuple(matched), tuple(unmatched), points_by_match)


def _best_matches(
    ids: tuple[PersonId, ...], others: tuple[PersonId, ...], log_odds: LogOdds
) -> list[tuple[float, Pair]]:
    """Match each relative with the best fit, nobody twice, best first."""
    options = [(CERTAIN if x == y else log_odds(ordered_pair(x, y)), x, y) for x in ids for y in others]
    # The ids make the order total, so that equal odds are matched the same way in every run.
    options.sort(key=lambda found: (-found[0], found[1], found[2]))
    used: set[tuple[int, PersonId]] = set()
    best: list[tuple[float, Pair]] = []
    for odds, x, y in options:
        if (0, x) in used or (1, y) in used:
            continue
        used.update(((0, x), (1, y)))
        best.append((odds, ordered_pair(x, y)))
    return best


def _role_points(
    shared: float, by_chance: float, ratio: float, best: list[tuple[float, Pair]], points_by_match: dict[Pair, float]
) -> float:
    """The points of the matches in one role; `ratio` is how much likelier one person is than two."""
    pair = best[0][1]
    # A likelihood ratio: above if the two are one person, below if they are two. In both cases they may share the
    # relative, which the evidence makes `ratio` times likelier, or not.
    value = math.log((shared * ratio + 1 - shared) / (by_chance * ratio + 1 - by_chance))
    points_by_match[pair] = points_by_match.get(pair, 0.0) + value
    for odds, pair in best[1:3]:
        more = MAX_FURTHER_MATCH * probability(odds)
        points_by_match[pair] = points_by_match.get(pair, 0.0) + more
        value += more
    return value


def _combined(by_role: Mapping[Role, float], roles: Iterable[Role]) -> float:
    values = sorted((by_role[role] for role in roles if role in by_role), reverse=True)
    good = [value for value in values if value > 0]
    bad = sum(value for value in values if value <= 0)
    return (good[0] + REPEATED_EVIDENCE_WEIGHT * sum(good[1:]) if good else 0.0) + max(bad, MAX_PENALTY)


MIN_BASE = -11.0
"""Pairs with this much evidence against them in their own data are not scored again."""
NO_KIN = KinPoints(0.0, (), (), {})
LOWEST = -30.0
SAME_ID = 20.0
SAME_PAGE = -2.5
"""A page mostly names a person in one way, so two names in different places are more likely two people."""
MIN_ODDS_AGAINST = 5.0
"""The least log-odds against any two people being the same, however few people there are."""
RIVAL_FROM = -4.0
"""Log-odds from which another candidate counts as a rival."""
UNNAMED_CHILD_LIMIT = 3.0
"""The parents of an unnamed child do not show which of their children it was."""
NAMESAKE_SIBLING_LIMIT = 2.0
"""If births are years apart, a name used twice in a family is likelier than one person with two birthdays."""
MAX_RIVALS = 50
"""The strongest rivals are enough; more of them only take time."""


@dataclass(frozen=True, slots=True)
class BaseScore:
    """The evidence of the two records alone; the total includes how unlikely any two people are to be the same."""

    total: float
    name: FeaturePoints
    dates: FeaturePoints
    places: FeaturePoints
    structure: FeaturePoints
    same_id: str = ""
    vetoed: bool = False
    shared_page: SourceId = ""
    """A page that names both, but in different places."""


class PairScores:
    """The candidate pairs of a tree and their scores."""

    def __init__(self, tree: Tree, separated: Collection[Pair], settings: ResolveSettings) -> None:
        self.tree, self.settings = tree, settings
        self.profiles = profiles_of(tree)
        self.structure = FamilyStructure(tree, self.profiles)
        self.relatives = relatives_of(tree, self.profiles)
        self._vetoes = Vetoes(tree, separated)
        self.name_comparer = NameComparer(self.profiles.values())
        # The more people there are, the less likely any two of them are the same.
        self.prior = -max(MIN_ODDS_AGAINST, math.log(max(len(self.profiles) / 2, 1))) - 0.5
        self._bases: dict[Pair, BaseScore] = {}
        self.pairs: set[Pair] = set()
        self.log_odds_before_rivals: dict[Pair, float] = {}
        self.kin: dict[Pair, KinPoints] = {}
        self.log_odds: dict[Pair, float] = {}
        """Log-odds after taking rivals into account."""

    def run(self) -> None:
        """Run all rounds."""
        self._add_pairs(candidate_pairs(self.tree, self.profiles))
        self._score()
        for _ in range(self.settings.rounds if self.settings.use_relatives else 0):
            self._add_pairs(self._pairs_of_relatives())
            self.kin = {pair: self._kin(pair) for pair in sorted(self.pairs)}
            self._score()

    def base(self, pair: Pair) -> BaseScore:
        base = self._bases.get(pair)
        if base is None:
            base = self._bases[pair] = self._base(pair)
        return base

    def vetoes_of(self, pair: Pair) -> tuple[Message, ...]:
        """All vetoes of a pair."""
        return tuple(self._vetoes.reasons(*(self.profiles[person_id] for person_id in pair)))

    def vetoed_lookalikes(self, min_points: float) -> list[tuple[Pair, BaseScore]]:
        """Pairs that are ruled out although name and dates agree, and that are not from one source."""
        return [
            (pair, base)
            for pair, base in sorted(self._bases.items())
            if base.vetoed
            and base.total - self.prior >= min_points
            and base.dates.points > 0
            and self.profiles[pair[0]].sources.isdisjoint(self.profiles[pair[1]].sources)
        ]

    def _base(self, pair: Pair) -> BaseScore:
        a, b = (self.profiles[person_id] for person_id in pair)
        name, places = name_points(a, b, self.name_comparer), place_points(a, b)
        dates, structure = date_points(a, b), self.structure.points(pair)
        shared = [kind for kind in SHARED_IDS if a.external.get(kind) and a.external[kind] == b.external.get(kind)]
        page = min(a.sources & b.sources, default="")
        total = self.prior + name.points + dates.points + places.points + structure.points
        total += (SAME_ID if shared else 0.0) + (SAME_PAGE if page else 0.0)
        vetoed = any(True for _ in self._vetoes.reasons(a, b))
        return BaseScore(total, name, dates, places, structure, "".join(shared[:1]), vetoed, page)

    def _add_pairs(self, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            if pair not in self.pairs:
                base = self.base(pair)
                if not base.vetoed and base.total >= MIN_BASE:
                    self.pairs.add(pair)

    def _pairs_of_relatives(self) -> list[Pair]:
        """The relatives of pairs that are probably the same person, role by role."""
        found: set[Pair] = set()
        for pair, log_odds in self.log_odds.items():
            if log_odds <= 0:
                continue
            one, other = (self.relatives[person] for person in pair)
            for role in one.keys() & other.keys():
                found.update(ordered_pair(x, y) for x in one[role] for y in other[role] if x != y)
        return sorted(found)

    def _kin(self, pair: Pair) -> KinPoints:
        one, other = (self.relatives[person] for person in pair)
        if not one or not other:
            return NO_KIN
        a, b = (self.profiles[person].sex for person in pair)
        is_same_sex = bool(a) and a == b
        return kin_points(
            one,
            other,
            lambda relative_pair: self._log_odds_without(relative_pair, pair),
            self.prior,
            is_same_sex=is_same_sex,
            max_origin_points=self._max_origin_points(pair),
        )

    def may_be_siblings(self, pair: Pair) -> bool:
        """Whether two people with the same parents differ in name or birth."""
        return self._max_origin_points(pair) < math.inf

    def _max_origin_points(self, pair: Pair) -> float:
        """How much parents and siblings may count for two people who may themselves be siblings."""
        if self.base(pair).name.is_different_name:
            return 0.0
        named = [any(name.given for name in self.profiles[person].names) for person in pair]
        if named[0] != named[1]:
            return UNNAMED_CHILD_LIMIT
        first, second = (self.profiles[person].birth_years for person in pair)
        gap = max(first[0] - second[1], second[0] - first[1]) if first and second else 0
        return NAMESAKE_SIBLING_LIMIT if gap > SLACK_YEARS else math.inf

    def _log_odds_without(self, pair: Pair, scored_pair: Pair) -> float:
        """The log-odds of a pair, without the part that comes from the pair being scored."""
        known = self.log_odds.get(pair)
        if known is None:
            base = self.base(pair)
            return LOWEST if base.vetoed else base.total
        from_kin = self.kin.get(pair, NO_KIN).points_by_match.get(scored_pair, 0.0)
        return known - max(from_kin, 0.0)  # only support is taken out; evidence against the pair stays

    def _score(self) -> None:
        self.log_odds_before_rivals = {
            pair: max(self.base(pair).total + self.kin.get(pair, NO_KIN).points, LOWEST) for pair in sorted(self.pairs)
        }
        self.log_odds = self._against_rivals()

    def _against_rivals(self) -> dict[Pair, float]:
        """Two people named by one source cannot both be the match, so they weaken each other."""
        rivals: dict[PersonId, list[tuple[float, PersonId]]] = defaultdict(list)
        for (item, other), log_odds in self.log_odds_before_rivals.items():
            if log_odds > RIVAL_FROM:
                rivals[item].append((log_odds, other))
                rivals[other].append((log_odds, item))
        strongest = {
            person: [(math.exp(log_odds), self.profiles[item]) for log_odds, item in nlargest(MAX_RIVALS, found)]
            for person, found in rivals.items()
        }
        found: dict[Pair, float] = {}
        for pair, log_odds in self.log_odds_before_rivals.items():
            # The odds of this match against its rivals together: two equal rivals leave it a third of the probability.
            odds = 1.0
            for person, other in (pair, pair[::-1]):
                candidate = self.profiles[other]
                for weight, rival in strongest.get(person, ()):
                    if rival.id != other and source_listing_both(candidate, rival):
                        odds += weight
            found[pair] = log_odds - math.log(odds)
        return found
