"""The status and the confidence that every view of a family shows beside a fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.codec import Record
from kiwiresearch.kin.conflict import Conflict
from kiwiresearch.kin.tree import DISCARDED, UNSETTLED, Fact, Relationship, Status

StandingStatus = Literal["accepted", "competing", "rejected", "entered"]
"""Competing: the sources disagree or dispute it, and this is not the value that has the best evidence, or it cannot
be right.
Entered: by a person, and so not for rules to judge."""
ConfidenceLevel = Literal["high", "medium", "low"]
MIN_HIGH, MIN_MEDIUM = 0.75, 0.45


@dataclass(frozen=True, slots=True)
class Standing(Record):
    """The status and confidence of a fact or relationship."""

    status: StandingStatus
    confidence: ConfidenceLevel


@dataclass(frozen=True, slots=True)
class ConflictPosition:
    """What a conflict says of one of its values."""

    is_recommended: bool
    confidence: float


def conflict_positions(conflicts: Iterable[Conflict]) -> Mapping[str, ConflictPosition]:
    """What conflicts say of each fact and relationship, by its id."""
    return {
        fact: ConflictPosition(conflict.recommended_index == at, value.confidence)
        for conflict in conflicts
        for at, value in enumerate(conflict.values)
        for fact in value.facts
    }


def standing_of(stated: Fact | Relationship, position: ConflictPosition | None = None) -> Standing:
    """The standing of a fact or a relationship, which may be one of several that cannot all be right."""
    # Before conflicts are looked at: rules do not judge what a person entered or decided.
    if stated.status not in DISCARDED and stated.is_entered:
        return Standing("entered", confidence_level(stated.confidence))
    if stated.status not in DISCARDED and position and not stated.decision:
        return Standing("accepted" if position.is_recommended else "competing", confidence_level(position.confidence))
    is_disputed = isinstance(stated, Relationship) and stated.qualifier == "disputed" and not stated.decision
    if is_disputed and stated.status not in DISCARDED:
        return Standing("competing", confidence_level(stated.confidence))
    return plain_standing(stated.status, stated.confidence)


def plain_standing(status: Status, confidence: float) -> Standing:
    """The standing of something with a status of its own, such as an event."""
    if status in DISCARDED:
        return Standing("rejected", "low")
    return Standing("competing" if status in UNSETTLED else "accepted", confidence_level(confidence))


def confidence_level(confidence: float) -> ConfidenceLevel:
    """A confidence as a word."""
    return "high" if confidence >= MIN_HIGH else "medium" if confidence >= MIN_MEDIUM else "low"
