"""A conflict: the values that compete, how their evidence ranks, and what would settle it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.tree import PersonId

EvidenceType = Literal["primary", "secondary", "authored"]
Resolution = Literal["resolved", "tentative", "open"]


@dataclass(frozen=True, slots=True)
class Competing:
    """One value with all facts that say it."""

    value: str
    facts: tuple[str, ...]
    """The ids of the facts, or of the ties, of a parent."""
    sources: tuple[str, ...]
    source_tier: int
    evidence_type: EvidenceType
    confidence: float
    standing: tuple[int, ...]
    """The class of its evidence: smaller is better, and only equals may change places."""
    problem: str = ""
    """Why it can hardly be right, whatever its evidence."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place in the ranking: `claim_index` counts the competing values from 0, `rank` from 1."""

    claim_index: int
    rank: int
    reason: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Values of one field of one person that cannot both be right; none of them is ever dropped."""

    conflict_id: str
    person: PersonId
    field: FieldName
    competing_assertions: tuple[Competing, ...]
    evidence_ranking: tuple[Ranked, ...]
    recommended_index: int | None
    rationale: str
    confidence: float
    resolution_status: Resolution
    next_actions: tuple[str, ...]
    preserve_alternatives: Literal[True] = True
    decided_by: str = "rules"

    @property
    def recommended_value(self) -> str | None:
        """The value that the evidence speaks for, or none where it speaks for none."""
        index = self.recommended_index
        return None if index is None else self.competing_assertions[index].value

    @property
    def is_tentative(self) -> bool:
        return self.resolution_status != "resolved"

    def record(self) -> dict[str, Any]:
        """The conflict as data, with the names of both forms that the agents' contracts have."""
        ranking = [
            {"claim_index": one.claim_index, "rank": one.rank, "reason": one.reason} for one in self.evidence_ranking
        ]
        return {
            "conflict_id": self.conflict_id,
            "person": self.person,
            "field": self.field,
            "competing_assertions": [
                {"value": one.value, "source_tier": one.source_tier, "confidence": one.confidence}
                for one in self.competing_assertions
            ],
            "competing_claims": [
                {
                    "value": one.value,
                    "source": "; ".join(one.sources),
                    "tier": one.source_tier,
                    "evidence_type": one.evidence_type,
                }
                for one in self.competing_assertions
            ],
            "llm_analysis": {
                "evidence_ranking": ranking,
                "recommended_value": self.recommended_value,
                "rationale": self.rationale,
                "next_actions": list(self.next_actions),
            },
            "analysis": self.rationale,
            "evidence_ranking": ranking,
            "recommended_value": self.recommended_value,
            "confidence": self.confidence,
            "is_tentative": self.is_tentative,
            "next_actions": list(self.next_actions),
            "resolution_status": self.resolution_status,
            "preserve_alternatives": self.preserve_alternatives,
            "decided_by": self.decided_by,
        }
