"""Merge proposals for a tree: scores become actions with reasons, with at most one record of a source per person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from kiwiresearch.kin.resolve import reasons
from kiwiresearch.kin.resolve.features import is_same_day, probability
from kiwiresearch.kin.resolve.pairs import Pair, ordered_pair, source_name
from kiwiresearch.kin.resolve.proposal import (
    DEFAULT_SETTINGS,
    FeatureScore,
    MergeAction,
    MergeProposal,
    ResolveSettings,
    action_for,
)
from kiwiresearch.kin.resolve.scores import NO_KIN, ORIGIN_ROLES, OWN_FAMILY, BaseScore, KinPoints, PairScores
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.messages import Message

MIN_SUPPORT = 1.0
"""Log-odds from which a kind of evidence counts as support for a merge."""
STRIKING_SCORE = 5.0
"""Name and dates that agree this well need an explanation, even if a merge is ruled out."""
MAX_SHOWN = 10
"""Nobody reviews every pair of hundreds of namesakes, so each person is shown only with the best matches."""
RULED_OUT = 0.01
"""The highest score of a pair with a veto, which must not look likely in a list."""
GENERAL_DOUBT = Message("nothing in the records contradicts it, but only a few sources were compared", "same.doubt")
NO_EVIDENCE = Message("no evidence supports it", "same.no_evidence")
ONE_EVIDENCE = Message("only one kind of evidence supports it", "same.one_evidence")
TWINS = Message("they may be twins", "same.twins")
SIBLINGS = Message("they may be brothers or sisters", "same.siblings")
LOOP = Message("a person would become their own ancestor", "same.loop")


def propose(
    tree: Tree, *, separated: Collection[Pair] = (), settings: ResolveSettings = DEFAULT_SETTINGS
) -> tuple[MergeProposal, ...]:
    """Pairs of records that may be the same person, the most certain first.

    A person has at most one record in each source: the best pair wins, and pairs it rules out say so.
    """
    scores = PairScores(tree, separated, settings)
    scores.run()
    groups = PersonGroups(scores)
    shown: Counter[PersonId] = Counter()
    proposals: list[MergeProposal] = []
    for pair in sorted(
        scores.log_odds, key=lambda each: (-scores.log_odds[each], -scores.log_odds_before_rivals[each], each)
    ):
        score = probability(scores.log_odds[pair])
        if score < settings.shown_at:
            break
        # What may be merged automatically is never left out, however many pairs a person has.
        if score < settings.merge_at and max(shown[person_id] for person_id in pair) >= MAX_SHOWN:
            continue
        shown.update(pair)
        against = groups.objections(pair) if score >= settings.review_at else ()
        proposals.append(proposal_for(scores, pair, score, against))
        # Later pairs are checked against this one too: it is better, so it may rule them out.
        if score >= settings.review_at and not against:
            groups.join(pair)
    proposals += _ruled_out(scores)
    return tuple(sorted(proposals, key=lambda proposal: (-proposal.similarity_score, proposal.candidate_pair)))


class PersonGroups:
    """Groups of records already joined; a veto between two records applies to their groups."""

    def __init__(self, scores: PairScores) -> None:
        self._scores = scores
        # Union-find: each person leads to the root of their group.
        self._root: dict[PersonId, PersonId] = {}
        self._members: dict[PersonId, tuple[PersonId, ...]] = {}

    def root(self, person: PersonId) -> PersonId:
        while person in self._root:
            person = self._root[person]
        return person

    def members(self, person: PersonId) -> tuple[PersonId, ...]:
        root = self.root(person)
        return self._members.get(root, (root,))

    def objections(self, pair: Pair) -> tuple[Message, ...]:
        """Why the groups of two records cannot be joined."""
        if self.root(pair[0]) == self.root(pair[1]):
            return ()
        first, second = (self.members(person) for person in pair)
        for item in first:
            for other in second:
                if item == other or ordered_pair(item, other) == pair:
                    continue
                vetoes = self._scores.vetoes_of(ordered_pair(item, other))
                if vetoes:
                    kept = item if item not in pair else other
                    name = self._scores.tree.persons[kept].name
                    text = f"one of them matches “{name}” better, and {vetoes[0]}"
                    return (Message(text, "same.better_match", name=name, why=vetoes[0]),)
        if self._would_loop(pair):
            return (LOOP,)
        return ()

    def join(self, pair: Pair) -> None:
        one, other = (self.root(person) for person in pair)
        if one != other:
            members = tuple(sorted((*self.members(one), *self.members(other))))
            self._root[other] = one
            self._members[one] = members

    def _would_loop(self, pair: Pair) -> bool:
        roots = {self.root(person) for person in pair}
        return len(roots) == 2 and any(roots & self._above(person) for person in pair)

    def _above(self, person: PersonId) -> set[PersonId]:
        """The representatives of the groups of a person's ancestors."""
        found: set[PersonId] = set()
        waiting = [self.root(person)]
        while waiting:
            for member in self.members(waiting.pop()):
                for parent in map(self.root, self._scores.tree.parents(member)):
                    if parent not in found:
                        found.add(parent)
                        waiting.append(parent)
        return found


def _ruled_out(scores: PairScores) -> list[MergeProposal]:
    """Similar pairs that cannot be the same person, with the reasons, since a reader will ask."""
    found = []
    shown: Counter[PersonId] = Counter()
    for pair, base in scores.vetoed_lookalikes(STRIKING_SCORE):
        vetoes = scores.vetoes_of(pair) if max(shown[person_id] for person_id in pair) < MAX_SHOWN else ()
        if vetoes:
            shown.update(pair)
            found.append(proposal_for(scores, pair, min(probability(base.total), RULED_OUT), vetoes))
    return found


def proposal_for(scores: PairScores, pair: Pair, score: float, vetoes: tuple[Message, ...]) -> MergeProposal:
    base, kin = scores.base(pair), scores.kin.get(pair, NO_KIN)
    features = _features(scores, base, kin)
    supporting = [
        feature for feature in features if feature.points >= MIN_SUPPORT and feature.feature != "family_structure"
    ]
    is_sure = _is_sure(scores, pair, base)
    action: MergeAction = "separate" if vetoes else action_for(score, len(supporting), scores.settings, is_sure=is_sure)
    against = [*vetoes, *_against(scores, pair, features, base, kin)]
    if not vetoes and len(supporting) < scores.settings.min_evidence_kinds:
        against.append(ONE_EVIDENCE if supporting else NO_EVIDENCE)
    in_favour = [feature.reason for feature in features if feature.points > 0]
    return MergeProposal(
        pair,
        round(score, 4),
        features,
        reasons.sentence(in_favour) or Message("No reasons.", "same.no_reasons"),
        reasons.sentence(against) or reasons.sentence([GENERAL_DOUBT]),
        action,
        vetoes,
    )


def _against(
    scores: PairScores, pair: Pair, features: tuple[FeatureScore, ...], base: BaseScore, kin: KinPoints
) -> Iterator[Message]:
    """What speaks against a pair that nothing rules out."""
    for feature in features:
        yield feature.words if feature.points < 0 else feature.against
    if base.shared_page and not base.vetoed:
        page = source_name(scores.tree, base.shared_page)
        text = f"“{page}” names both, in different places, and never says that they are the same person"
        yield Message(text, "same.one_page", page=page)
    if base.name.has_only_first_name:
        yield Message("nothing but the first names can be compared", "same.only_first_name")
    have_same_origin = any(role in ORIGIN_ROLES for role, _ in kin.matched)
    if have_same_origin and (scores.may_be_siblings(pair) or base.name.is_doubtful_name):
        are_twins = is_same_day(*(scores.profiles[person_id].birth for person_id in pair))
        yield TWINS if are_twins else SIBLINGS


def _features(scores: PairScores, base: BaseScore, kin: KinPoints) -> tuple[FeatureScore, ...]:
    found = [
        FeatureScore(
            "name_similarity", base.name.points, round(base.name.similarity, 3), base.name.reason, base.name.against
        ),
        FeatureScore("date_overlap", base.dates.points, round(probability(base.dates.points), 3), base.dates.reason),
        FeatureScore("place_match", base.places.points, round(probability(base.places.points), 3), base.places.reason),
        FeatureScore(
            "relationship_consistency", kin.points, round(probability(kin.points), 3), *_kin_reasons(scores, kin)
        ),
    ]
    if base.structure.points:
        structure = base.structure
        found.append(FeatureScore("family_structure", structure.points, structure.similarity, structure.reason))
    if base.same_id:
        why = Message(f"{base.same_id} has one entry for both", "same.one_entry", where=base.same_id)
        found.append(FeatureScore("external_id", 20.0, 1.0, why))
    return tuple(found)


def _is_sure(scores: PairScores, pair: Pair, base: BaseScore) -> bool:
    """Whether a pair can be merged without review: by more than its place in a family, and not within the same page."""
    if base.same_id:
        return True
    if base.shared_page or not _is_name_sure(scores, pair, base):
        return False
    without_structure = probability(scores.log_odds.get(pair, base.total) - base.structure.points)
    return without_structure >= scores.settings.merge_at


def _is_name_sure(scores: PairScores, pair: Pair, base: BaseScore) -> bool:
    """Whether more than a first name agrees; failing that, a birth or death day, or stated relatives."""
    a, b = (scores.profiles[person] for person in pair)
    if is_same_day(a.birth, b.birth) or is_same_day(a.death, b.death):
        return True
    roles = {role for role, _ in scores.kin.get(pair, NO_KIN).matched}
    if base.name.is_doubtful_name:
        return "child" in roles
    if not base.name.has_only_first_name or not roles.isdisjoint(OWN_FAMILY):
        return True
    have_parents = all(scores.tree.parents(person) for person in pair)
    return have_parents and not roles.isdisjoint(ORIGIN_ROLES)


def _kin_reasons(scores: PairScores, kin: KinPoints) -> tuple[Message, Message]:
    """What the relatives say for a pair, and against it."""
    if not kin.matched and not kin.unmatched:
        return Message("no relatives to compare", "same.no_relatives"), reasons.NO_REASON
    by_role: dict[str, list[str]] = defaultdict(list)
    for role, pair in kin.matched:
        by_role[role].append(scores.tree.persons[pair[0]].name)
    found = (reasons.shared_relatives(role, list(dict.fromkeys(names))[:3]) for role, names in sorted(by_role.items()))
    return reasons.together(found), reasons.no_match_among(kin.unmatched) if kin.unmatched else reasons.NO_REASON
