"""A model's second opinion on a conflict: it may only reorder values of equal evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.conflict import Conflict, ValueRank
from kiwiresearch.kin.tree import Tree
from kiwiresearch.llm import Model, extraction_options, find_ungrounded_word, model_label, prompt, structured_reply
from kiwiresearch.messages import Message
from kiwiresearch.text import printable

REPLY_TOKENS = 700
EVIDENCE_TERMS = frozenset({"primary", "original", "official"})
"""Kinds of evidence that a model may not ascribe to a value unless a line of its evidence says so."""


class RankedClaim(BaseModel):
    """A place in the model's ranking."""

    model_config = ConfigDict(extra="forbid")

    claim_index: Annotated[int, Field(ge=0)]
    rank: Annotated[int, Field(ge=1)]
    reason: str = ""


class Analysis(BaseModel):
    """What a conflict analyst is asked for."""

    model_config = ConfigDict(extra="forbid")

    analysis: str
    evidence_ranking: list[RankedClaim]
    recommended_index: int | None
    confidence: Annotated[float, Field(ge=0, le=1)]
    is_tentative: bool
    next_actions: list[str]
    preserve_alternatives: Literal[True]

    def reasons(self) -> tuple[str, ...]:
        return (self.analysis, *(ranked_claim.reason for ranked_claim in self.evidence_ranking))


@dataclass(frozen=True, slots=True)
class ConflictReview:
    """The conflicts after a second opinion, and what went wrong."""

    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...] = ()


def review_conflicts(conflicts: Sequence[Conflict], tree: Tree, model: Model) -> ConflictReview:
    """Ask about every unsettled conflict of people who are dead."""
    found: list[Conflict] = []
    notes: tuple[str, ...] = ()
    for conflict in conflicts:
        if not notes and conflict.is_tentative and tree.persons[conflict.person].living == "deceased":
            try:
                analysis = request_analysis(conflict, model)
                # An opinion with a name or number that the model was not given is ignored as a whole.
                if not find_ungrounded_word(analysis.reasons(), "\n".join(_lines(conflict)), terms=EVIDENCE_TERMS):
                    conflict = reorder_values(conflict, analysis, model.name)
            except ModelError as problem:
                why = printable(problem.message).rstrip(".")
                notes = (f"{model_label(model)} could not help with conflicts: {why}.",)
        found.append(conflict)
    return ConflictReview(tuple(found), notes)


def request_analysis(conflict: Conflict, model: Model) -> Analysis:
    """The model's opinion on one conflict."""
    claims = "\n".join(_lines(conflict))
    messages = prompt("kin_conflicts").fill(field=conflict.field.replace("_", " "), competing_claims=claims)
    return structured_reply(model, messages, Analysis, extraction_options(max_tokens=REPLY_TOKENS))


def _lines(conflict: Conflict) -> list[str]:
    return [
        f"{at} | {printable(value.value)} | {printable('; '.join(value.sources))} | tier {value.source_tier}"
        f" | {value.evidence_type}"
        for at, value in enumerate(conflict.values)
    ]


def reorder_values(conflict: Conflict, analysis: Analysis, by: str) -> Conflict:
    """The conflict with equally supported values in the model's order; an incomplete ranking changes nothing."""
    count = len(conflict.values)
    ranks = {place.claim_index: place.rank for place in analysis.evidence_ranking}
    if sorted(ranks) != list(range(count)) or len(set(ranks.values())) != count or not conflict.is_tentative:
        return conflict
    standings = [competing_value.evidence_class for competing_value in conflict.values]
    # The class of evidence comes first, so the model decides only between values of the same class.
    order = sorted(range(count), key=lambda at: (standings[at], ranks[at]))
    best = order[0]
    if analysis.recommended_index != best or best == conflict.recommended_index:
        return conflict
    reasons = {value_rank.claim_index: value_rank.reason for value_rank in conflict.evidence_ranking}
    value = conflict.values[best].value
    text = f"{conflict.rationale} Between values with equally good evidence, a model prefers “{value}”."
    return replace(
        conflict,
        evidence_ranking=tuple(ValueRank.of(at, rank, reasons[at]) for rank, at in enumerate(order, 1)),
        recommended_index=best,
        rationale=Message(text, "conflict.by_model", why=conflict.rationale, value=value),
        confidence=min(analysis.confidence, conflict.values[best].confidence),
        resolution_status="tentative",
        decided_by=f"model {by}",
    )
