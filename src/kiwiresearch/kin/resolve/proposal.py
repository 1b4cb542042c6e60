"""A proposal to merge two records, with the arguments for and against, and the thresholds of the resolver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.resolve.reasons import NO_REASON, together
from kiwiresearch.kin.tree import PersonId
from kiwiresearch.messages import Message, message_fields


@dataclass(frozen=True, slots=True)
class ResolveSettings:
    """Thresholds on the similarity score, which is a probability."""

    merge_at: float = 0.95
    """From this score on a pair may be merged without review, if enough kinds of evidence support it."""
    review_merge_at: float = 0.80
    review_at: float = 0.50
    shown_at: float = 0.20
    """Pairs below it are not listed, unless their name and dates need an explanation."""
    min_evidence_kinds: int = 2
    """How many independent kinds of evidence a merge without review needs."""
    rounds: int = 4
    """How many times the results for relatives are passed on."""
    use_relatives: bool = True

    def __post_init__(self) -> None:
        thresholds = (0.0, self.shown_at, self.review_at, self.review_merge_at, self.merge_at, 1.0)
        if list(thresholds) != sorted(thresholds):
            raise BadSettings(
                f"The thresholds {thresholds[1:-1]!r} are not in order.",
                remedy="Set shown_at, review_at, review_merge_at and merge_at in ascending order, from 0 to 1.",
            )
        if self.rounds < 0 or self.min_evidence_kinds < 1:
            raise BadSettings(
                f"Cannot match people in {self.rounds!r} rounds with {self.min_evidence_kinds!r} kinds of evidence.",
                remedy="Use 0 or more rounds and 1 or more kinds of evidence.",
            )


DEFAULT_SETTINGS = ResolveSettings()


Feature = Literal[
    "name_similarity", "date_overlap", "place_match", "relationship_consistency", "family_structure", "external_id"
]
FEATURES: tuple[Feature, ...] = ("name_similarity", "date_overlap", "place_match", "relationship_consistency")
MergeAction = Literal["merge", "merge_with_review", "review", "separate"]
ACTIONS: tuple[MergeAction, ...] = ("separate", "review", "merge_with_review", "merge")
"""From the most cautious to the boldest."""
PROMPT_KEYS: dict[Feature, str] = {
    "name_similarity": "name",
    "date_overlap": "dates",
    "place_match": "places",
    "relationship_consistency": "relationships",
    "family_structure": "family_structure",
    "external_id": "external_id",
}


@dataclass(frozen=True, slots=True)
class FeatureScore:
    """The result of one kind of evidence: `points` are log-odds, `similarity` the same from 0 to 1, .5 if neutral."""

    feature: Feature
    points: float
    similarity: float
    reason: Message
    against: Message = NO_REASON
    """The part of it that speaks against a match."""

    @property
    def words(self) -> Message:
        return together((self.reason, self.against))

    def __str__(self) -> str:
        return f"{self.feature} {self.points:+.1f} ({self.words})"


@dataclass(frozen=True, slots=True)
class MergeProposal:
    """Whether two records are the same person; no merge is ever final."""

    candidate_pair: tuple[PersonId, PersonId]
    similarity_score: float
    features: tuple[FeatureScore, ...]
    merge_rationale: Message
    why_not_merge: Message
    recommended_action: MergeAction
    vetoes: tuple[Message, ...] = ()
    decided_by: str = "rules"

    def __post_init__(self) -> None:
        if not self.why_not_merge:
            raise ValueError("a proposal always needs a reason against it")

    @property
    def matching_features(self) -> dict[Feature, float]:
        scores = {feature_score.feature: feature_score.similarity for feature_score in self.features}
        return {feature: scores.get(feature, 0.5) for feature in FEATURES}

    @property
    def recommendation(self) -> Literal["merge", "review", "separate"]:
        """The action as one of the three words of the prompt."""
        action = self.recommended_action
        return "review" if action == "merge_with_review" else action

    @property
    def confidence(self) -> float:
        """How certain the recommendation is, in either direction."""
        return round(max(self.similarity_score, 1 - self.similarity_score), 4)

    def record(self) -> JsonDict:
        """The proposal as data, with both names of keys that the specification calls by two (docs/design/kin.md)."""
        return {
            "candidate_pair": list(self.candidate_pair),
            "similarity_score": self.similarity_score,
            "matching_features": dict(self.matching_features),
            "feature_scores": {
                PROMPT_KEYS[feature.feature]: {"score": feature.similarity, "reason": feature.words}
                for feature in self.features
            },
            **message_fields("merge_rationale", self.merge_rationale),
            **message_fields("why_not_merge", self.why_not_merge),
            "recommended_action": self.recommended_action,
            "recommendation": self.recommendation,
            "confidence": self.confidence,
            "vetoes": list(self.vetoes),
            "reversible": True,
            "decided_by": self.decided_by,
        }


def action_for(score: float, evidence_kinds: int, settings: ResolveSettings, *, is_sure: bool = True) -> MergeAction:
    """The action for a score; without enough kinds of sure evidence nothing is merged without review."""
    if is_sure and score >= settings.merge_at and evidence_kinds >= settings.min_evidence_kinds:
        return "merge"
    if score >= settings.review_merge_at:
        return "merge_with_review"
    return "review" if score >= settings.review_at else "separate"
